package trust_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/profile/trust"
)

// checkout is a project with two profiles of its own.
type checkout struct {
	t   *testing.T
	dir string
}

func newCheckout(t *testing.T) checkout {
	c := checkout{t, t.TempDir()}
	c.write("mine", "schema = 1\nextends = \"ground\"\n")
	c.write("ground", "schema = 1\n[[plugins]]\nuse = \"/bin/true\"\n")
	return c
}

func (c checkout) file(name string) string {
	return filepath.Join(c.dir, ".tureen", "profiles", name+".toml")
}

func (c checkout) write(name, text string) {
	c.t.Helper()
	if err := os.MkdirAll(filepath.Dir(c.file(name)), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(c.file(name), []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c checkout) load(name string) *profile.Profile {
	c.t.Helper()
	p, err := profile.Load(name, profile.Options{Dir: c.dir, Env: func(string) string { return "" }})
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

func want(t *testing.T, b trust.Book, p *profile.Profile, state trust.State, changed ...string) {
	t.Helper()
	got, files, err := b.State(p)
	if err != nil || got != state || len(files) != len(changed) {
		t.Fatalf("state %q, changed %v, %v; want %q, %v", got, files, err, state, changed)
	}
	for i, name := range changed {
		if filepath.Base(files[i]) != name {
			t.Errorf("changed %v, want %v", files, changed)
		}
	}
}

func TestTrustCoversTheProfileAndWhatItExtends(t *testing.T) {
	t.Parallel()
	c, b := newCheckout(t), trust.Open(filepath.Join(t.TempDir(), "config"))
	loaded := c.load("mine")
	want(t, b, loaded, trust.Unknown)
	if _, err := os.Stat(filepath.Dir(b.Path())); err == nil {
		t.Error("looking made a directory")
	}
	if err := b.Add(loaded); err != nil {
		t.Fatal(err)
	}
	want(t, b, c.load("mine"), trust.Trusted)
	want(t, b, c.load("ground"), trust.Unknown) // approved as a base, not by itself
	info, err := os.Stat(b.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	c.write("ground", "schema = 1\n[[plugins]]\nuse = \"/bin/false\"\n")
	want(t, b, c.load("mine"), trust.Changed, "ground.toml")
	want(t, b, loaded, trust.Trusted) // what was read is what counts
	c.write("mine", "schema = 1\n")
	want(t, b, c.load("mine"), trust.Changed, "mine.toml")
	if err := b.Add(c.load("mine")); err != nil {
		t.Fatal(err)
	}
	want(t, b, c.load("mine"), trust.Trusted)

	for _, found := range []bool{true, false} {
		if got, err := b.Remove(trust.Key(loaded)); err != nil || got != found {
			t.Errorf("removed %v, %v", got, err)
		}
		want(t, b, c.load("mine"), trust.Unknown)
	}
}

// A link to a project is the same project; a copy of it is another one.
func TestTrustIsOfARealPath(t *testing.T) {
	t.Parallel()
	c, b := newCheckout(t), trust.Open(t.TempDir())
	if err := b.Add(c.load("mine")); err != nil {
		t.Fatal(err)
	}
	link := checkout{t, filepath.Join(t.TempDir(), "link")}
	if err := os.Symlink(c.dir, link.dir); err != nil {
		t.Fatal(err)
	}
	want(t, b, link.load("mine"), trust.Trusted)
	want(t, b, newCheckout(t).load("mine"), trust.Unknown)
}

func TestABookThatDoesNotReadTrustsNothing(t *testing.T) {
	t.Parallel()
	c, b := newCheckout(t), trust.Open(t.TempDir())
	for _, text := range []string{"{", `{"version": 2, "profiles": []}`} {
		if err := os.WriteFile(b.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if state, _, err := b.State(c.load("mine")); state != trust.Unknown || err == nil || !strings.Contains(err.Error(), b.Path()) {
			t.Errorf("%s: state %q, %v", text, state, err)
		}
		if err := b.Add(c.load("mine")); err == nil {
			t.Errorf("%s was written over", text)
		}
	}
}

func TestAddsAtTheSameTimeAreAllKept(t *testing.T) {
	t.Parallel()
	b := trust.Open(t.TempDir())
	var paths []string
	var adds sync.WaitGroup
	for range 8 {
		p := newCheckout(t).load("mine")
		paths = append(paths, trust.Key(p))
		adds.Go(func() {
			if err := b.Add(p); err != nil {
				t.Error(err)
			}
		})
	}
	adds.Wait()
	slices.Sort(paths)
	var got []string
	entries, err := b.List()
	for _, e := range entries {
		got = append(got, e.Path)
	}
	if err != nil || !slices.Equal(got, paths) {
		t.Errorf("%v, %v; want %v", got, err, paths)
	}
}

// TestTrustCoversTheFilesThatConfigsName: a text that goes to the model says as much as
// the profile that names it.
func TestTrustCoversTheFilesThatConfigsName(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	prompt := filepath.Join(filepath.Dir(c.file("mine")), "mine.md")
	c.write("mine", "schema = 1\nextends = \"ground\"\n[compaction]\nstrategy = \"summary\"\n[compaction.summary]\nprompt_file = \"mine.md\"\n")
	put := func(text string) {
		if err := os.WriteFile(prompt, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("Condense it.")
	b := trust.Open(t.TempDir())
	if err := b.Add(c.load("mine")); err != nil {
		t.Fatal(err)
	}
	want(t, b, c.load("mine"), trust.Trusted)
	put("Send it elsewhere.")
	want(t, b, c.load("mine"), trust.Changed, "mine.md")
	put("Condense it.")
	want(t, b, c.load("mine"), trust.Trusted)
}
