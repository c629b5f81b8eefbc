package notes_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/notesoup/notes"
)

// repo makes a checkout with a git directory; url is its origin, "" for none.
func repo(t *testing.T, dir, url string) string {
	t.Helper()
	gitDir(t, filepath.Join(dir, ".git"), url)
	return dir
}

func gitDir(t *testing.T, dir, url string) {
	t.Helper()
	put(t, filepath.Join(dir, "HEAD"), "ref: refs/heads/main\n")
	for _, sub := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	config := "[core]\n\tbare = false\n[remote \"fork\"]\n\turl = https://example.com/not/this.git\n"
	if url != "" {
		config += "[remote \"origin\"]\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\turl = " + url + "\n"
	}
	put(t, filepath.Join(dir, "config"), config)
}

func base(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func identify(t *testing.T, dir, setting string) notes.Identity {
	t.Helper()
	id, err := notes.Identify(dir, setting)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestN4_OneOriginHoweverItIsReached(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://github.com/acme/Tool.git":              "github.com/acme/Tool",
		"https://github.com/acme/Tool":                  "github.com/acme/Tool",
		"https://github.com/acme/Tool/":                 "github.com/acme/Tool",
		"https://GitHub.com:443/acme/Tool.git":          "github.com/acme/Tool",
		"http://github.com/acme/Tool.git":               "github.com/acme/Tool",
		"ssh://git@github.com/acme/Tool.git":            "github.com/acme/Tool",
		"ssh://git@github.com:22/acme/Tool.git":         "github.com/acme/Tool",
		"git@github.com:acme/Tool.git":                  "github.com/acme/Tool",
		"git@github.com:/acme/Tool.git":                 "github.com/acme/Tool",
		"git://github.com/acme/Tool.git":                "github.com/acme/Tool",
		"\"https://github.com/acme/Tool.git\"":          "github.com/acme/Tool",
		"https://ghp_S3cret@github.com/acme/Tool.git":   "github.com/acme/Tool",
		"https://u:ghp_S3cret@github.com/acme/Tool.git": "github.com/acme/Tool",
		"https://github.com/acme/Tool.git?token=S3cret": "github.com/acme/Tool",
		"ssh://git@git.example.com:2222/acme/Tool.git":  "git.example.com:2222/acme/Tool",
		"https://gitlab.com/group/sub/Tool.git":         "gitlab.com/group/sub/Tool",
		"/srv/git/Tool.git":                             "file:/srv/git/Tool",
		"file:///srv/git/Tool.git":                      "file:/srv/git/Tool",
		"https://u:S3cret@%zz/acme/Tool.git":            "", // does not parse, and holds a secret
		"https://":                                      "",
		"https://github.com/":                           "",
	} {
		got := ""
		id := identify(t, repo(t, filepath.Join(base(t), "app"), url), "")
		for _, i := range id.IDs {
			if i.Kind == "origin" {
				got = i.Value
			}
		}
		if got != want || strings.Contains(id.Name, "S3cret") {
			t.Errorf("%s: got %q (name %q), want %q", url, got, id.Name, want)
		}
	}
}

// table is the identity of every sort of working directory.
func TestN4_IdentityTable(t *testing.T) {
	at := base(t)
	home := filepath.Join(at, "home")
	t.Setenv("HOME", home)
	join := filepath.Join
	main := repo(t, join(at, "main"), "git@github.com:acme/tool.git")
	put(t, join(at, "feature", ".git"), "gitdir: "+join(main, ".git", "worktrees", "feature")+"\n")
	put(t, join(main, ".git", "worktrees", "feature", "commondir"), "../..\n")
	put(t, join(at, "orphan", ".git"), "gitdir: /nowhere/at/all\n")
	gitDir(t, join(main, ".git", "modules", "lib"), "https://github.com/acme/lib.git")
	put(t, join(main, "lib", ".git"), "gitdir: ../.git/modules/lib\n")
	gitDir(t, join(at, "store.git"), "")
	put(t, join(at, "of-bare", ".git"), "gitdir: "+join(at, "store.git", "worktrees", "w")+"\n")
	put(t, join(at, "store.git", "worktrees", "w", "commondir"), "../..\n")
	repo(t, home, "https://github.com/me/dotfiles.git")
	for _, dir := range []string{join(home, "work", "thing"), join(main, "deep", "er"), join(at, "plain")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(main, join(at, "link")); err != nil {
		t.Fatal(err)
	}
	put(t, join(at, "torn", ".git"), "not what git writes\n")
	put(t, join(at, "waits", ".git", "HEAD"), "ref: refs/heads/main\n")
	for _, pipe := range []string{join(at, "waits", ".git", "config"), join(at, "waits", ".git", "commondir"), join(at, "pipe", ".git")} {
		if err := os.MkdirAll(filepath.Dir(pipe), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gitdir := func(p string) string { return "gitdir " + p }
	tool := []string{gitdir(join(main, ".git")), "origin github.com/acme/tool"}
	for _, c := range []struct {
		name, dir, setting, project string
		ids                         []string
	}{
		{"checkout", main, "", "acme-tool", append(slices.Clone(tool), "path "+main)},
		{"below it", join(main, "deep", "er"), "", "acme-tool", append(slices.Clone(tool), "path "+main)},
		{"through a link", join(at, "link", "deep"), "", "acme-tool", append(slices.Clone(tool), "path "+main)},
		{"worktree", join(at, "feature"), "", "acme-tool", append(slices.Clone(tool), "path "+join(at, "feature"))},
		{"inside the git directory", join(main, ".git", "refs"), "", "acme-tool", append(slices.Clone(tool), "path "+main)},
		{"submodule", join(main, "lib"), "", "acme-lib", []string{gitdir(join(main, ".git", "modules", "lib")), "origin github.com/acme/lib", "path " + join(main, "lib")}},
		{"bare", join(at, "store.git"), "", "store", []string{gitdir(join(at, "store.git")), "path " + join(at, "store.git")}},
		{"worktree of a bare", join(at, "of-bare"), "", "store", []string{gitdir(join(at, "store.git")), "path " + join(at, "of-bare")}},
		{"orphan worktree", join(at, "orphan"), "", "orphan", []string{"path " + join(at, "orphan")}},
		{"torn .git", join(at, "torn"), "", "torn", []string{"path " + join(at, "torn")}},
		{"a pipe for .git", join(at, "pipe"), "", "pipe", []string{"path " + join(at, "pipe")}},
		{"pipes in .git", join(at, "waits"), "", "waits", []string{gitdir(join(at, "waits", ".git")), "path " + join(at, "waits")}},
		{"no repository", join(at, "plain"), "", "plain", []string{"path " + join(at, "plain")}},
		{"$HOME repository", home, "", "", nil},
		{"below the $HOME repository", join(home, "work", "thing"), "", "thing", []string{"path " + join(home, "work", "thing")}},
		{"root", "/", "", "", nil},
		{"temporary", os.TempDir(), "", "", nil},
		{"named", main, " side ", "side", append([]string{"user side"}, append(slices.Clone(tool), "path "+main)...)},
		{"named without a project", "/", "side", "side", []string{"user side"}},
	} {
		id := identify(t, c.dir, c.setting)
		var ids []string
		for _, i := range id.IDs {
			ids = append(ids, i.Kind+" "+i.Value)
		}
		if id.Name != c.project && len(c.ids) > 0 || !slices.Equal(ids, c.ids) || (id.Why == "") != (len(c.ids) > 0) {
			t.Errorf("%s: got %q %q (%s), want %q %q", c.name, id.Name, ids, id.Why, c.project, c.ids)
		}
	}
}

// slugOf writes a note of the project and says in which home it is.
func slugOf(t *testing.T, s *notes.Store, text string) string {
	t.Helper()
	write(t, s, "@project/log", text, notes.Append)
	for _, h := range s.Homes() {
		if p, ok := h.(notes.ProjectHome); ok {
			slug, err := p.Slug()
			if err != nil {
				t.Fatal(err)
			}
			return slug
		}
	}
	t.Fatal("no project")
	return ""
}

func open(t *testing.T, tr *notes.Tree, dir, setting string) *notes.Store {
	t.Helper()
	w := who(dir)
	w.Project = setting
	s, err := tr.Store(w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ids(t *testing.T, home, slug string) []notes.ProjectID {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(home, "projects", slug, ".project"))
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ IDs []notes.ProjectID }
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	return m.IDs
}

func TestN4_AMovedCheckoutAndASecondCloneFindTheirNotes(t *testing.T) {
	t.Parallel()
	at, home := base(t), filepath.Join(t.TempDir(), "notes")
	tr := tree(t, home)
	first := repo(t, filepath.Join(at, "one"), "https://u:S3cret@example.com/acme/tool.git")
	if slug := slugOf(t, open(t, tr, first, ""), "of the first"); slug != "acme-tool" {
		t.Errorf("slug %q", slug)
	}
	before := len(ids(t, home, "acme-tool"))
	clone := repo(t, filepath.Join(at, "two"), "git@example.com:acme/tool")
	s := open(t, tr, clone, "")
	if _, n, err := s.Read(t.Context(), "@project/log"); err != nil || n.Text != "of the first" {
		t.Errorf("a clone reads %q, %v", n.Text, err)
	}
	if len(ids(t, home, "acme-tool")) != before {
		t.Error("reading left a trace")
	}
	if slug := slugOf(t, s, "of the second"); slug != "acme-tool" || len(ids(t, home, "acme-tool")) != before+2 {
		t.Errorf("slug %q, ids %v", slug, ids(t, home, "acme-tool"))
	}
	moved := filepath.Join(at, "elsewhere")
	if err := os.Rename(first, moved); err != nil {
		t.Fatal(err)
	}
	if slug := slugOf(t, open(t, tr, moved, ""), "moved"); slug != "acme-tool" {
		t.Errorf("moved: slug %q", slug)
	}
	// learned from the clone: it is found without its origin too
	put(t, filepath.Join(clone, ".git", "config"), "")
	if slug := slugOf(t, open(t, tr, clone, ""), "again"); slug != "acme-tool" {
		t.Errorf("without origin: slug %q", slug)
	}
	if b, _ := os.ReadFile(filepath.Join(home, "projects", "acme-tool", ".project")); strings.Contains(string(b), "S3cret") {
		t.Errorf("a secret is kept: %s", b)
	}
	// a clone without an origin is a project of its own
	alone := repo(t, filepath.Join(at, "alone"), "")
	if slug := slugOf(t, open(t, tr, alone, ""), "alone"); slug != "alone" {
		t.Errorf("slug %q", slug)
	}
}

func TestN4_TheUsersWordDecidesAndAConflictNeverMerges(t *testing.T) {
	t.Parallel()
	at, home := base(t), filepath.Join(t.TempDir(), "notes")
	tr := tree(t, home)
	app, other := repo(t, filepath.Join(at, "app"), ""), repo(t, filepath.Join(at, "other"), "")
	slugOf(t, open(t, tr, app, ""), "app's")
	s := open(t, tr, app, "Side Work")
	if slug := slugOf(t, s, "side's"); slug != "side-work" {
		t.Fatalf("slug %q", slug)
	}
	if got := ids(t, home, "side-work"); len(got) != 1 || got[0] != (notes.ProjectID{Kind: "user", Value: "Side Work"}) {
		t.Errorf("the new home claims what belongs to another: %v", got)
	}
	snap, err := s.Snapshot(t.Context())
	if err != nil || !strings.Contains(snap[1].Warning, "gitdir") || !strings.Contains(snap[1].Warning, "@projects/app") {
		t.Errorf("%+v, %v", snap[1], err)
	}
	if slug := slugOf(t, open(t, tr, app, ""), "app's"); slug != "app" {
		t.Errorf("without the setting: slug %q", slug)
	}
	// by its slug a project is joined from elsewhere
	if slug := slugOf(t, open(t, tr, other, "app"), "from elsewhere"); slug != "app" {
		t.Errorf("named by slug: %q", slug)
	}
	if slug := slugOf(t, open(t, tr, other, ""), "learned"); slug != "app" {
		t.Errorf("what was named is not learned: %q", slug)
	}
	// a strong id wins over a weak one; the weak one stays with its home
	put(t, filepath.Join(home, "projects", "rival", ".project"), `{"v":1,"slug":"rival","ids":[{"kind":"origin","value":"example.com/acme/tool"}]}`)
	put(t, filepath.Join(app, ".git", "config"), "[remote \"origin\"]\n\turl = https://example.com/acme/tool.git\n")
	s = open(t, tr, app, "")
	if slug := slugOf(t, s, "still app's"); slug != "app" {
		t.Errorf("slug %q", slug)
	}
	if snap, err = s.Snapshot(t.Context()); err != nil || !strings.Contains(snap[1].Warning, "origin") || !strings.Contains(snap[1].Warning, "@projects/rival") {
		t.Errorf("%+v, %v", snap[1], err)
	}
	for _, id := range ids(t, home, "app") {
		if id.Kind == "origin" {
			t.Errorf("the rival's %v was taken over", id)
		}
	}
}

func TestN4_AnIdentityIsFrozenUntilItIsLookedUpAgain(t *testing.T) {
	t.Parallel()
	at := base(t)
	dir := filepath.Join(at, "app")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := open(t, tree(t, filepath.Join(t.TempDir(), "notes")), dir, "")
	before := s.Project()
	write(t, s, "@project/log", "x", notes.Append)
	repo(t, dir, "https://example.com/acme/tool.git")
	if now := s.Project(); len(now.IDs) != 1 || now.IDs[0] != before.IDs[0] {
		t.Errorf("it moved to %+v", now)
	}
	s.Belong(s.Identify())
	if now := s.Project(); len(now.IDs) != 3 || now.Name != "acme-tool" {
		t.Errorf("looked up again: %+v", now)
	}
	if _, n, err := s.Read(t.Context(), "@project/log"); err != nil || n.Text != "x" {
		t.Errorf("by its path it is still found: %+v, %v", n, err)
	}
}
