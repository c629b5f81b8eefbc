package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/profiles"
)

// Which project's notes a session reads is the user's word, never a checkout's.
func TestN4_AProjectsProfileMayNotNameTheProjectOfTheNotes(t *testing.T) {
	t.Parallel()
	home, work := t.TempDir(), t.TempDir()
	options := profile.Options{Dir: work, Embedded: profiles.FS, Env: func(name string) string { return map[string]string{"HOME": home}[name] },
		Overrides: []string{"notes_project=side work"}}
	p, err := profile.Load("none", options)
	if err != nil || p.NotesProject != "side work" {
		t.Fatalf("%+v, %v", p, err)
	}
	options.Overrides = nil
	if p, err = profile.Load("none", options); err != nil || p.NotesProject != "" {
		t.Errorf("%+v, %v", p, err)
	}
	dir := filepath.Join(work, ".tureen", "profiles")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.toml"), []byte("schema = 1\nextends = \"none\"\nnotes_project = \"another\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := profile.Load("mine", options); err == nil || !strings.Contains(err.Error(), "notes_project") {
		t.Errorf("got %v", err)
	}
}
