package notes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/notesoup/notes"
)

var created = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

func tree(t *testing.T, dir string) *notes.Tree {
	t.Helper()
	tr, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr
}

func who(workspace string) notes.Who {
	return notes.Who{Session: "s1", Created: created, Agent: "tureen", Provider: "openai", Model: "vendor/big:8b", Workspace: workspace}
}

// store opens the notes of a session in a fresh home; project is its checkout.
func store(t *testing.T) (s *notes.Store, home, project string) {
	t.Helper()
	home, project = filepath.Join(t.TempDir(), "notes"), filepath.Join(t.TempDir(), "Demo App")
	if err := os.MkdirAll(filepath.Join(project, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := tree(t, home).Store(who(project))
	if err != nil {
		t.Fatal(err)
	}
	return s, home, project
}

func write(t *testing.T, s *notes.Store, path, text string, mode notes.Mode) notes.Receipt {
	t.Helper()
	r, err := s.Write(t.Context(), notes.Write{Path: path, Text: text, Mode: mode})
	if err != nil {
		t.Fatalf("write %s: %v", path, err)
	}
	return r
}

func want(t *testing.T, err error, code notes.Code, parts ...string) {
	t.Helper()
	if notes.CodeOf(err) != code {
		t.Fatalf("got %v, want %s", err, code)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%q misses %q", err, p)
		}
	}
}

// put writes a file as a person would.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
