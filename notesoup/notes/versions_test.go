package notes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/notesoup/notes"
)

// past lists the versions of a note as "rev by".
func past(t *testing.T, s *notes.Store, address string) (rows []string) {
	t.Helper()
	for v, err := range s.Versions(t.Context(), address) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, strings.TrimSpace(fmt.Sprintf("%s %s %s", v.Text, v.Unreadable, v.By)))
	}
	return rows
}

func TestN8_EveryTextThatWasReplacedIsKept(t *testing.T) {
	t.Parallel()
	s, _, _ := store(t)
	write(t, s, "plans/a", "one\n", notes.Create)
	write(t, s, "plans/a", "two\n", notes.Append)
	_, err := s.Edit(t.Context(), "plans/a", []notes.Edit{{Old: "two", New: "three"}}, "")
	if err != nil {
		t.Fatal(err)
	}
	put, err := s.Put(t.Context(), "plans/a", "one\nthree\nby hand\n", notes.Rev("one\nthree\n"))
	if err != nil || !put.Changed {
		t.Fatalf("%+v, %v", put, err)
	}
	if _, err := s.Move(t.Context(), "plans/a", "plans__a", ""); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		address string
		rows    []string
	}{
		{"plans/a", []string{"one\nthree\nby hand\n  move", "one\nthree\n  edit", "one\ntwo\n  edit"}},
		{"plans__a", []string{"one\nthree\nby hand\n"}},
		{"", []string{"one\nthree\nby hand\n  move", "one\nthree\nby hand\n", "one\nthree\n  edit", "one\ntwo\n  edit"}},
	} {
		if got := past(t, s, want.address); len(got) != len(want.rows) {
			t.Errorf("%d: got %q", i, got)
		} else if want.address != "" && !slices.Equal(got, trimmed(want.rows)) {
			t.Errorf("%d: got %q, want %q", i, got, want.rows)
		}
	}
	v, err := s.Version(t.Context(), "plans/a", notes.Rev("one\n"), 99, 4)
	if err != nil || v.Text != "one\n" || v.Bytes != 4 {
		t.Fatalf("the text before the append: %+v, %v", v, err)
	}
	if _, err := s.Version(t.Context(), "plans/a", notes.Rev("one\n"), 3, 5); notes.CodeOf(err) != notes.CodeNotFound {
		t.Errorf("a wrong length: %v", err)
	}
	r, err := s.Restore(t.Context(), "plans/a", v)
	if err != nil || r.Before != nil || r.After.Text != "one\n" {
		t.Fatalf("%+v, %v", r, err)
	}
	v, err = s.Version(t.Context(), "plans/a", notes.Rev("one\nthree\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Restore(t.Context(), "plans/a", v); err != nil {
		t.Fatal(err)
	}
	if got := past(t, s, "plans/a"); len(got) != 5 || got[0] != "one\nthree" || got[1] != "one\n  restore" {
		t.Errorf("after the restores: %q", got)
	}
	again, err := s.Restore(t.Context(), "plans/a", v)
	if err != nil || again.Changed || len(past(t, s, "plans/a")) != 5 {
		t.Errorf("a restore of what stands there: %+v, %v", again, err)
	}
}

func trimmed(rows []string) (all []string) {
	for _, r := range rows {
		all = append(all, strings.TrimSpace(r))
	}
	return all
}

func TestN8_AKeptVersionKnowsWhenItWasWritten(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	write(t, s, "@human/a", "one\n", notes.Create)
	file := filepath.Join(home, "human/a.md")
	if err := os.Chtimes(file, created, created); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Move(t.Context(), "@human/a", notes.Trash, ""); err != nil {
		t.Fatal(err)
	}
	for v, err := range s.Versions(t.Context(), "@human/a") {
		if err != nil || !v.Written.Equal(created) || v.Ended.Before(created) || v.By != notes.Deleted || v.String() != "@human/a.md" {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

func TestN8_PutKeepsToTheRevisionThatWasEdited(t *testing.T) {
	t.Parallel()
	s, _, _ := store(t)
	if _, err := s.Put(t.Context(), "a", "new", "00000000"); notes.CodeOf(err) != notes.CodeRev {
		t.Errorf("a note that is gone: %v", err)
	}
	r, err := s.Put(t.Context(), "a", "new", "")
	if err != nil || r.Before != nil || r.After.Text != "new" {
		t.Fatalf("%+v, %v", r, err)
	}
	_, err = s.Put(t.Context(), "a", "newer", "")
	want(t, err, notes.CodeExists, r.After.Rev)
	_, err = s.Put(t.Context(), "a", "newer", "00000000")
	want(t, err, notes.CodeRev, r.After.Rev)
	long := strings.Repeat("x", 100<<10) // more than a call of a tool may bring
	if _, err = s.Put(t.Context(), "a", long, r.After.Rev); err != nil {
		t.Error(err)
	}
	_, err = s.Put(t.Context(), "b", strings.Repeat("x", notes.MaxNoteBytes+1), "")
	want(t, err, notes.CodeTooLarge)
	_, err = s.Put(t.Context(), "b", "\xff", "")
	want(t, err, notes.CodeBinary)
	_, err = s.Put(t.Context(), "A", "twin", "")
	want(t, err, notes.CodeAddress)
}

// TestSEC_WhatLiesInTheTrashIsHostile: only plain files with a name of ours are
// versions, none of the others is followed, read for ever, counted or removed.
func TestSEC_WhatLiesInTheTrashIsHostile(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	for i := range 3 {
		write(t, s, "a", fmt.Sprint(i), notes.Create)
		if _, err := s.Move(t.Context(), "a", notes.Trash, ""); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(home, ".trash/sessions/2026/s1")
	secret := filepath.Join(t.TempDir(), "secret")
	put(t, secret, "secret")
	const stamp = "20250101T000000.000000000Z-"
	for _, name := range []string{"zzz", stamp + "write", stamp + "write-", stamp + "burn-a.md", stamp + "write-..+..+x.md", stamp + "write-+etc+passwd.md",
		stamp + "write-.hidden.md", stamp + "write-a", stamp + "write-a.exe", stamp + "write-a\x1b[31m.md", stamp + "write-a\n.md", "2025-write-a.md", "-", stamp} {
		put(t, filepath.Join(dir, name), "foreign")
	}
	for i := range 300 {
		put(t, filepath.Join(dir, fmt.Sprint("zz", i)), "foreign")
	}
	put(t, filepath.Join(dir, stamp+"write-a.md"), "not \xff text")
	put(t, filepath.Join(dir, stamp+"edit-a.md"), strings.Repeat("x", notes.MaxNoteBytes+1))
	if err := os.Symlink(secret, filepath.Join(dir, stamp+"delete-a.md")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, stamp+"move-a.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, stamp+"restore-a.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	wanted := []string{"2  delete", "1  delete", "0  delete", "E_BINARY write", "E_ADDRESS restore", "E_LINK move", "E_TOO_LARGE edit", "E_LINK delete"}
	if got := past(t, s, "a"); !slices.Equal(got, wanted) {
		t.Errorf("got  %q\nwant %q", got, wanted)
	}
	if got := past(t, s, ""); !slices.Equal(got, wanted) {
		t.Errorf("all notes: %q", got)
	}
	if _, err := s.Version(t.Context(), "a", notes.Rev("secret")); notes.CodeOf(err) != notes.CodeNotFound {
		t.Errorf("a link was followed: %v", err)
	}
	write(t, s, "a", "x", notes.Create)
	if _, err := s.Move(t.Context(), "a", notes.Trash, ""); err != nil {
		t.Fatal(err)
	}
	if got := past(t, s, "a"); len(got) != len(wanted)+1 || got[0] != "x  delete" {
		t.Errorf("versions went with what is not ours: %q", got)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 3+14+300+5+1 {
		t.Errorf("%d entries: something of another's was removed", len(entries))
	}
}

func TestN8_ATrashBehindALinkIsRefused(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	write(t, s, "@human/a", "one", notes.Create)
	out := t.TempDir()
	put(t, filepath.Join(out, "20250101T000000.000000000Z-write-a.md"), "secret")
	if err := os.MkdirAll(filepath.Join(home, ".trash"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(out, filepath.Join(home, ".trash/human")); err != nil {
		t.Fatal(err)
	}
	for _, err := range s.Versions(t.Context(), "@human/a") {
		want(t, err, notes.CodeLink)
	}
	_, err := s.Move(t.Context(), "@human/a", notes.Trash, "")
	want(t, err, notes.CodeLink)
	if _, n, err := s.Read(t.Context(), "@human/a"); err != nil || n.Text != "one" {
		t.Errorf("what could not be kept is gone: %v", err)
	}
}

func TestN8_TheTrashForgetsTheOldest(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	write(t, s, "a", "0", notes.Create)
	for i := range 260 {
		put(t, filepath.Join(home, ".trash/sessions/2026/s1", fmt.Sprintf("20250101T000000.%09dZ-write-a.md", i)), fmt.Sprint("old ", i))
	}
	if _, err := s.Put(t.Context(), "a", "1", notes.Rev("0")); err != nil {
		t.Fatal(err)
	}
	got := past(t, s, "a")
	if len(got) != 257 || got[1] != "0  edit" || got[256] != "old 5  write" {
		t.Errorf("%d versions, %q … %q", len(got), got[1], got[len(got)-1])
	}
}

func TestN8_VersionsAreBounded(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	write(t, s, "@human/a", "one", notes.Create)
	for i := range notes.MaxKept + 50 {
		put(t, filepath.Join(home, ".trash/human", fmt.Sprintf("20250101T000000.%09dZ-write-n%d.md", i, i%100)), "old")
	}
	for i := range notes.MaxNotes + 5 {
		put(t, filepath.Join(home, "human", fmt.Sprintf("many%d.md", i)), "x")
	}
	n := 0
	for v, err := range s.Versions(t.Context(), "@human") {
		if err != nil || v.Unreadable != "" {
			t.Fatal(v, err)
		}
		n++
	}
	if n != notes.MaxKept+notes.MaxNotes {
		t.Errorf("%d versions", n)
	}
	if got := past(t, s, "@human/a"); !slices.Equal(got, []string{"one"}) {
		t.Errorf("%q", got)
	}
}
