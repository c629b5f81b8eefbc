package notes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/notesoup/notes"
)

func TestN4_IdentityIsTheCheckoutAndWorktreesShareIt(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main, tree := filepath.Join(base, "main"), filepath.Join(base, "feature")
	for _, dir := range []string{filepath.Join(main, ".git", "worktrees", "feature"), filepath.Join(main, "sub", "deep"), tree} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(tree, ".git"), "gitdir: "+filepath.Join(main, ".git", "worktrees", "feature")+"\n")
	put(t, filepath.Join(main, ".git", "worktrees", "feature", "commondir"), "../..\n")
	orphan := filepath.Join(base, "orphan")
	put(t, filepath.Join(orphan, ".git"), "gitdir: /nowhere/at/all\n")
	if err := os.Symlink(main, filepath.Join(base, "link")); err != nil {
		t.Fatal(err)
	}
	git := notes.ProjectID{Kind: "gitdir", Value: filepath.Join(main, ".git")}
	for _, c := range []struct {
		dir, name string
		first     notes.ProjectID
	}{
		{main, "main", git},
		{filepath.Join(main, "sub", "deep"), "main", git},
		{filepath.Join(base, "link", "sub"), "main", git},
		{tree, "main", git},
		{orphan, "orphan", notes.ProjectID{Kind: "path", Value: orphan}},
		{base, filepath.Base(base), notes.ProjectID{Kind: "path", Value: base}},
	} {
		id, err := notes.Identify(c.dir, "")
		if err != nil || id.Name != c.name || len(id.IDs) == 0 || id.IDs[0] != c.first {
			t.Errorf("%s: got %+v, %v; want %s, %v", c.dir, id, err, c.name, c.first)
		}
	}
}

func TestN4_SomePlacesAreNoProject(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	for _, dir := range []string{"/", os.Getenv("HOME"), os.TempDir()} {
		if id, err := notes.Identify(dir, ""); err != nil || len(id.IDs) > 0 || id.Why == "" {
			t.Errorf("%s: got %+v, %v", dir, id, err)
		}
	}
	s, err := tree(t, filepath.Join(t.TempDir(), "notes")).Store(who("/"))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Read(t.Context(), "@project/x")
	want(t, err, notes.CodeHome, "no project here", "root of the file system")
	snap, err := s.Snapshot(t.Context())
	if err != nil || snap[1].Kind != notes.Project || snap[1].Absent == "" {
		t.Errorf("%+v, %v", snap, err)
	}
}

func TestN4_OneHomePerProjectAndNoneBeforeAWrite(t *testing.T) {
	t.Parallel()
	base, home := t.TempDir(), filepath.Join(t.TempDir(), "notes")
	open := func(dir string) *notes.Store {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(base, dir, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
		s, err := tree(t, home).Store(who(filepath.Join(base, dir)))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	first, again, namesake := open("a/App"), open("a/App"), open("b/App")
	if _, err := first.Snapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, _, err := first.Read(t.Context(), "@project/x")
	want(t, err, notes.CodeNotFound)
	if _, err := os.Stat(filepath.Join(home, "projects")); err == nil {
		t.Fatal("looking left a trace")
	}
	write(t, first, "@project/x", "of the first", notes.Create)
	if _, n, err := again.Read(t.Context(), "@project/x"); err != nil || n.Text != "of the first" {
		t.Errorf("the same project opened before: %+v, %v", n, err)
	}
	_, _, err = namesake.Read(t.Context(), "@project/x")
	want(t, err, notes.CodeNotFound)
	write(t, namesake, "@project/x", "of the second", notes.Create)
	slugs, err := first.Projects()
	if err != nil || len(slugs) != 2 || slugs[0] != "app" || !strings.HasPrefix(slugs[1], "app-") || len(slugs[1]) != len("app-")+6 {
		t.Errorf("%v, %v", slugs, err)
	}
}

func TestN4_AMarkerInACheckoutIsNotBelieved(t *testing.T) {
	t.Parallel()
	home, base := filepath.Join(t.TempDir(), "notes"), t.TempDir()
	victim, hostile := filepath.Join(base, "victim"), filepath.Join(base, "hostile")
	for _, dir := range []string{victim, hostile} {
		if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tr := tree(t, home)
	v, err := tr.Store(who(victim))
	if err != nil {
		t.Fatal(err)
	}
	write(t, v, "@project/secret", "token", notes.Create)
	marker, err := os.ReadFile(filepath.Join(home, "projects", "victim", ".project"))
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(hostile, ".project"), string(marker))
	h, err := tr.Store(who(hostile))
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = h.Read(t.Context(), "@project/secret")
	want(t, err, notes.CodeNotFound)
	write(t, h, "@project/mine", "x", notes.Create)
	if _, err := os.Stat(filepath.Join(home, "projects", "hostile", "mine.md")); err != nil {
		t.Error(err)
	}
}

func TestN5_OtherProjectsAreReadOnlyAndUntouched(t *testing.T) {
	t.Parallel()
	s, home, _ := store(t)
	write(t, s, "@project/own", "x", notes.Create)
	other := filepath.Join(home, "projects", "acme")
	put(t, filepath.Join(other, ".project"), `{"v":1,"slug":"acme","ids":[]}`)
	put(t, filepath.Join(other, "MAP.md"), "their map")
	put(t, filepath.Join(home, "projects", "unmarked", "x.md"), "x")
	before := touched(t, home)

	if a, n, err := s.Read(t.Context(), "@projects/acme/map"); err != nil || n.Text != "their map" || a.String() != "@projects/acme/MAP.md" {
		t.Errorf("%v, %+v, %v", a, n, err)
	}
	if _, err := s.List(t.Context(), notes.ListAsk{Path: "@projects/acme"}); err != nil {
		t.Error(err)
	}
	for _, w := range []notes.Write{{Path: "@projects/acme/new", Text: "x"}, {Path: "@projects/acme/MAP", Text: "x", Mode: notes.Append}} {
		_, err := s.Write(t.Context(), w)
		want(t, err, notes.CodeReadOnly)
	}
	_, err := s.Move(t.Context(), "@projects/acme/MAP", ".trash", "")
	want(t, err, notes.CodeReadOnly)
	_, _, err = s.Read(t.Context(), "@projects/unmarked/x")
	want(t, err, notes.CodeHome)
	_, _, err = s.Read(t.Context(), "@projects/acm/x")
	want(t, err, notes.CodeHome, "@projects/acme")
	if after := touched(t, home); before != after {
		t.Errorf("a trace was left:\n%s\n%s", before, after)
	}
	if found, err := s.Search(t.Context(), notes.SearchAsk{Query: "their"}); err != nil || !strings.Contains(found, "matches=0") {
		t.Errorf("an unscoped search shows another project: %v\n%s", err, found)
	}
	if a, _, err := s.Read(t.Context(), "@projects/demo-app/own"); err != nil || a.String() != "@project/own.md" {
		t.Errorf("the own slug is not @project: %v, %v", a, err)
	}
}

// touched lists all files with their times.
func touched(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			b.WriteString(path + " " + info.ModTime().Format(time.RFC3339Nano) + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
