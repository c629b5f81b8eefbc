package notes_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/notesoup/notes"
)

// TestN8_LinksAndSpecialFilesAreRefused puts things into a home that lead out of
// it or would block, and finds that no call follows them.
func TestN8_LinksAndSpecialFilesAreRefused(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	write(t, s, "real", "inside", notes.Create)
	dir := filepath.Join(home, "sessions/2026/s1")
	outside := filepath.Join(t.TempDir(), "secret.md")
	put(t, outside, "secret")
	for name, target := range map[string]string{
		"out.md": outside, "rel.md": "../../../../secret.md", "in.md": "real.md", "MAP.md": outside, "folder": filepath.Dir(outside), "self": ".",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(outside, filepath.Join(dir, "hard.md")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"out", "rel", "in", "MAP", "folder/secret", "self/real", "hard", "pipe"} {
		_, _, err := s.Read(t.Context(), path)
		want(t, err, notes.CodeLink)
		_, err = s.Write(t.Context(), notes.Write{Path: path, Text: "pwned", Mode: notes.Append})
		want(t, err, notes.CodeLink)
		_, err = s.Edit(t.Context(), path, []notes.Edit{{Old: "secret", New: "pwned"}}, "")
		want(t, err, notes.CodeLink)
		_, err = s.Move(t.Context(), path, "elsewhere", "")
		want(t, err, notes.CodeLink)
	}
	_, err := s.Write(t.Context(), notes.Write{Path: "folder/new", Text: "pwned"})
	want(t, err, notes.CodeLink)
	if _, err := os.Stat(filepath.Join(filepath.Dir(outside), "new.md")); err == nil {
		t.Error("a note was written outside")
	}
	if b, _ := os.ReadFile(outside); string(b) != "secret" {
		t.Errorf("the file outside holds %q", b)
	}
	list, err := s.List(t.Context(), notes.ListAsk{})
	if err != nil || !strings.HasPrefix(list, "ok notes_list notes=1 sort=recent skipped=8\n") || strings.Contains(list, "secret") {
		t.Errorf("%v\n%s", err, list)
	}
	snap, err := s.Snapshot(t.Context())
	if err != nil || snap[0].Map != nil || len(snap[0].Recent) != 1 || len(snap[0].Skipped) != 8 {
		t.Errorf("%v\n%+v", err, snap)
	}
}

func TestN3_AHomeBehindALinkIsRefused(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	out := t.TempDir()
	put(t, filepath.Join(out, "x.md"), "secret")
	if err := os.Symlink(out, filepath.Join(home, "human")); err != nil {
		t.Fatal(err)
	}
	_, _, err := s.Read(t.Context(), "@human/x")
	want(t, err, notes.CodeLink)
	_, err = s.Write(t.Context(), notes.Write{Path: "@human/y", Text: "x"})
	want(t, err, notes.CodeLink)
	if _, err := s.Snapshot(t.Context()); notes.CodeOf(err) != notes.CodeLink {
		t.Errorf("a boot is made of it: %v", err)
	}
}

func TestN3_ForeignContentIsNotAdopted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "human", "diary.md"), "mine")
	if _, err := notes.Open(dir); err == nil || !strings.Contains(err.Error(), ".notes.json") {
		t.Fatalf("got %v", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("something was written: %v", entries)
	}

	loose := t.TempDir()
	put(t, filepath.Join(loose, "todo.txt"), "mine")
	tree(t, loose)
	tree(t, loose) // the second time it is ours

	newer := t.TempDir()
	put(t, filepath.Join(newer, ".notes.json"), `{"version":2}`)
	if _, err := notes.Open(newer); err == nil || !strings.Contains(err.Error(), "update Tureen") {
		t.Fatalf("got %v", err)
	}
	torn := t.TempDir()
	put(t, filepath.Join(torn, ".notes.json"), ``)
	if _, err := notes.Open(torn); err == nil || !strings.Contains(err.Error(), "does not read") {
		t.Fatalf("got %v", err)
	}
	if _, err := notes.Open("relative"); err == nil {
		t.Fatal("a relative path is taken")
	}
}

func TestOpenSweepsWhatDeadWritersLeft(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tree(t, dir)
	old, young := filepath.Join(dir, ".meta/tmp/old"), filepath.Join(dir, ".meta/tmp/young")
	put(t, old, "x")
	put(t, young, "x")
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	tree(t, dir)
	if _, err := os.Stat(old); err == nil {
		t.Error("the old one is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("another writer's file is gone")
	}
}
