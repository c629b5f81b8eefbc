package notes_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/notesoup/notes"
)

func TestN8_WriteModesAndReceipts(t *testing.T) {
	t.Parallel()
	s, _, _ := store(t)
	steps := []struct {
		write notes.Write
		want  string // the receipt, or the start of the error
	}{
		{notes.Write{Path: "progress", Text: "one\n"},
			"ok notes_write progress.md mode=create rev=2c8b08da cp=4(+4) lines=1 created=yes boot=recent#1 durable=yes"},
		{notes.Write{Path: "progress", Text: "again"}, "E_EXISTS: progress.md exists already (rev=2c8b08da, 4 code points)"},
		{notes.Write{Path: "progress.md", Text: "zwei ä", Mode: notes.Append},
			"ok notes_write progress.md mode=append rev=8c5f3a4b was=2c8b08da cp=10(+6) lines=2 boot=recent#1 durable=yes"},
		{notes.Write{Path: "progress", Text: "three", Mode: notes.Append},
			"ok notes_write progress.md mode=append rev=REV was=REV cp=16(+6) lines=3 boot=recent#1 durable=yes"},
		{notes.Write{Path: "progress", Text: "x", Mode: notes.Append, IfRev: "00000000"}, "E_REV: progress.md has rev="},
		{notes.Write{Path: "progress", Text: "x", Mode: notes.Replace}, "E_REV: replacing progress.md needs if_rev"},
		{notes.Write{Path: "absent", Text: "x", Mode: notes.Replace, IfRev: "00000000"}, "E_NOT_FOUND: there is no note absent.md"},
		{notes.Write{Path: "fresh", Text: "made by append", Mode: notes.Append},
			"ok notes_write fresh.md mode=append rev=REV cp=14(+14) lines=1 created=yes boot=recent#1 durable=yes"},
		{notes.Write{Path: "fresh", Text: "", Mode: notes.Append},
			"ok notes_write fresh.md mode=append rev=REV was=REV cp=14(+0) lines=1 changed=no durable=yes"},
		{notes.Write{Path: "MAP", Text: strings.Repeat("m", 4310)},
			"ok notes_write MAP.md mode=create rev=REV cp=4310(+4310) lines=1 created=yes warn=map_over shown=4096 of=4310 boot=map durable=yes"},
		{notes.Write{Path: "my plan", Text: "x"},
			`ok notes_write "my plan.md" mode=create rev=REV cp=1(+1) lines=1 created=yes boot=recent#1 durable=yes`},
		{notes.Write{Path: "@project/deploy", Text: "x"},
			"ok notes_write @project/deploy.md mode=create rev=REV cp=1(+1) lines=1 created=yes boot=recent#1 durable=yes"},
		{notes.Write{Path: "big", Text: strings.Repeat("ä", 16385)}, "E_TOO_LARGE: the text has 16385 code points"},
		{notes.Write{Path: "zero", Text: "a\x00b"}, "E_BINARY"},
	}
	for i, st := range steps {
		r, err := s.Write(t.Context(), st.write)
		got := r.String()
		if err != nil {
			got = err.Error()
			if !strings.HasPrefix(got, st.want) {
				t.Errorf("step %d: got  %q\nwant %q", i, got, st.want)
			}
			continue
		}
		if masked(got) != masked(st.want) {
			t.Errorf("step %d: got  %q\nwant %q", i, got, st.want)
		}
	}
	_, n, err := s.Read(t.Context(), "progress")
	if err != nil || n.Text != "one\nzwei ä\nthree" || n.Rev != notes.Rev(n.Text) || len(n.Rev) != 8 {
		t.Errorf("got %+v, %v", n, err)
	}
}

// masked hides what revisions are, not that they are there.
func masked(receipt string) string {
	words := strings.Fields(receipt)
	for i, w := range words {
		for _, key := range []string{"rev=", "was="} {
			if strings.HasPrefix(w, key) {
				words[i] = key
			}
		}
	}
	return strings.Join(words, " ")
}

func TestN8_ReplaceNeedsTheRevision(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	r := write(t, s, "plan", "old text\n", notes.Create)
	got, err := s.Write(t.Context(), notes.Write{Path: "plan", Text: "new", Mode: notes.Replace, IfRev: r.After.Rev})
	if err != nil || got.Before.Text != "old text\n" || got.After.Text != "new" {
		t.Fatalf("%+v, %v", got, err)
	}
	kept, err := filepath.Glob(filepath.Join(home, ".trash", "sessions", "2026", "s1", "*-plan.md"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("the old text is not in the trash: %v, %v", kept, err)
	}
	if b, _ := os.ReadFile(kept[0]); string(b) != "old text\n" {
		t.Errorf("the trash holds %q", b)
	}
}

func TestN8_LimitsOfANote(t *testing.T) {
	t.Parallel()
	s, _, _ := store(t)
	block := strings.Repeat("x", 16383) + "\n"
	for range 16 {
		write(t, s, "long", block, notes.Append)
	}
	_, err := s.Write(t.Context(), notes.Write{Path: "long", Text: "x", Mode: notes.Append})
	want(t, err, notes.CodeTooLarge, "262145", "262144")
	for range 4 {
		write(t, s, "MAP", block, notes.Append)
	}
	_, err = s.Write(t.Context(), notes.Write{Path: "MAP", Text: "x", Mode: notes.Append})
	want(t, err, notes.CodeTooLarge, "65536")
}

func TestN3_FilesArePrivateAndInTheirPlaces(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	for _, path := range []string{"a/b", "@project/b", "@human/b", "@self/b", "@model/b"} {
		write(t, s, path, "x", notes.Create)
	}
	for _, file := range []string{"sessions/2026/s1/a/b.md", "projects/demo-app/b.md", "human/b.md", "self/tureen/b.md", "model/openai__vendor-big-8b/b.md"} {
		if _, err := os.Stat(filepath.Join(home, file)); err != nil {
			t.Error(err)
		}
	}
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if mode := info.Mode().Perm(); e.IsDir() && mode != 0o700 || !e.IsDir() && mode != 0o600 {
			t.Errorf("%s has mode %o", path, mode)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Join(home, ".meta", "tmp")); len(left) != 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

func TestN8_CaseFoldTwinsAreRefused(t *testing.T) {
	t.Parallel()
	s, _, _ := store(t)
	write(t, s, "Plans/Alpha", "x", notes.Create)
	_, err := s.Write(t.Context(), notes.Write{Path: "Plans/alpha", Text: "x"})
	want(t, err, notes.CodeAddress, "Plans/Alpha.md")
	_, err = s.Write(t.Context(), notes.Write{Path: "plans/beta", Text: "x", Mode: notes.Append})
	want(t, err, notes.CodeAddress, "Plans")
	_, _, err = s.Read(t.Context(), "Plans/alpha")
	want(t, err, notes.CodeNotFound, "did you mean Plans/Alpha.md")
}

func TestN8_NoteAndFolderExcludeEachOther(t *testing.T) {
	t.Parallel()
	s, _, _ := store(t)
	write(t, s, "a", "x", notes.Create)
	_, err := s.Write(t.Context(), notes.Write{Path: "a.md/b", Text: "x"})
	want(t, err, notes.CodeAddress)
	write(t, s, "c.md/d", "x", notes.Create)
	_, err = s.Write(t.Context(), notes.Write{Path: "c", Text: "x"})
	want(t, err, notes.CodeAddress)
}

func TestN8_EditsAreAllOrNothing(t *testing.T) {
	t.Parallel()
	s, _, _ := store(t)
	r := write(t, s, "plan", "alpha\nbeta\ngamma beta\n", notes.Create)
	edit := func(edits ...notes.Edit) (notes.Receipt, error) { return s.Edit(t.Context(), "plan", edits, "") }
	_, err := edit(notes.Edit{Old: "alpha", New: "ALPHA"}, notes.Edit{Old: "delta", New: ""})
	want(t, err, notes.CodeNoMatch, "edit 2")
	_, err = edit(notes.Edit{Old: "alpha", New: "ALPHA"}, notes.Edit{Old: "beta", New: ""})
	want(t, err, notes.CodeAmbiguous, "lines 2 and 3")
	_, err = edit(notes.Edit{Old: "gamma beta", New: "x"}, notes.Edit{Old: "gamma", New: "y"})
	want(t, err, notes.CodeAmbiguous, "overlap")
	_, err = s.Edit(t.Context(), "plan", []notes.Edit{{Old: "alpha", New: "x"}}, "00000000")
	want(t, err, notes.CodeRev, r.After.Rev)
	if _, n, _ := s.Read(t.Context(), "plan"); n.Rev != r.After.Rev {
		t.Fatal("a refused edit changed the note")
	}
	got, err := edit(notes.Edit{Old: "gamma", New: "beta too,"}, notes.Edit{Old: "alpha", New: "gamma"})
	if err != nil || got.After.Text != "gamma\nbeta\nbeta too, beta\n" {
		t.Fatalf("%+v, %v", got.After, err)
	}
	_, err = s.Edit(t.Context(), "plam", []notes.Edit{{Old: "a", New: "b"}}, "")
	want(t, err, notes.CodeNotFound)
}

func TestN8_MoveWithinAHomeAndToTheTrash(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	write(t, s, "a", "text", notes.Create)
	write(t, s, "b", "other", notes.Create)
	_, err := s.Move(t.Context(), "a", "b", "")
	want(t, err, notes.CodeExists)
	_, err = s.Move(t.Context(), "a", "@human/a", "")
	want(t, err, notes.CodeAddress, "not in one home")
	r, err := s.Move(t.Context(), "a", "old/a", "")
	if err != nil || !strings.Contains(r.String(), "ok notes_edit a.md moved_to=old/a.md") {
		t.Fatalf("%s, %v", r, err)
	}
	if _, n, err := s.Read(t.Context(), "old/a"); err != nil || n.Text != "text" {
		t.Fatalf("%+v, %v", n, err)
	}
	if _, err = s.Move(t.Context(), "old/a", ".trash", ""); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Read(t.Context(), "old/a")
	want(t, err, notes.CodeNotFound)
	if kept, _ := filepath.Glob(filepath.Join(home, ".trash", "sessions", "2026", "s1", "*-delete-old+a.md")); len(kept) != 1 {
		t.Errorf("the trash holds %v", kept)
	}
	_, err = s.Move(t.Context(), "old/a", ".trash", "")
	want(t, err, notes.CodeNotFound)
}

func TestN8_UnreadableIsNeverEmpty(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	dir := filepath.Join(home, "sessions/2026/s1")
	put(t, filepath.Join(dir, "a.md"), "not \xff text")
	put(t, filepath.Join(dir, "huge.md"), strings.Repeat("x", 1<<20+1))
	for path, code := range map[string]notes.Code{"a": notes.CodeBinary, "huge": notes.CodeTooLarge} {
		_, _, err := s.Read(t.Context(), path)
		want(t, err, code)
		_, err = s.Write(t.Context(), notes.Write{Path: path, Text: "new", Mode: notes.Append})
		want(t, err, code)
		_, err = s.Write(t.Context(), notes.Write{Path: path, Text: "new"})
		want(t, err, code)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "a.md")); string(b) != "not \xff text" {
		t.Errorf("it now holds %q", b)
	}
}
