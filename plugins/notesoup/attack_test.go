package notesoup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/host/session"
)

// secret stands in every file that no tool may show.
const secret = "S3CRET-OF-ANOTHER"

// reach tries an address with every tool that takes one, and fails the test where
// something of what it must not touch comes out or a call does not answer with a code.
func (d *desk) reach(path string, codes string) {
	d.t.Helper()
	for _, c := range []struct {
		tool string
		args object
	}{
		{"notes_read", object{"path": path}},
		{"notes_write", object{"path": path, "text": "pwned", "mode": "append"}},
		{"notes_write", object{"path": path, "text": "pwned"}},
		{"notes_edit", object{"path": path, "edits": []object{{"old": secret, "new": "pwned"}}}},
		{"notes_edit", object{"path": path, "move_to": "taken"}},
		{"notes_edit", object{"path": path, "move_to": ".trash"}},
		{"notes_edit", object{"path": "real", "move_to": path}},
	} {
		r := d.call(c.tool, c.args)
		if !r.IsError || r.Code == "" || !strings.Contains(codes, r.Code) || strings.Contains(r.Text, secret) {
			d.t.Errorf("%s %v: %q (code %s), want one of %s", c.tool, c.args, r.Text, r.Code, codes)
		}
	}
	for _, c := range []struct {
		tool string
		args object
	}{{"notes_list", object{"path": path}}, {"notes_search", object{"query": "S3CRET", "in": path}}} {
		if r := d.call(c.tool, c.args); strings.Contains(r.Text, secret) {
			d.t.Errorf("%s %v: %q", c.tool, c.args, r.Text)
		}
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestN3_N8_AttackTableOverTheWire: nothing gets through.
func TestN3_N8_AttackTableOverTheWire(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	d.call("notes_write", object{"path": "real", "text": "mine"})
	d.call("notes_write", object{"path": "Straße", "text": "mine"})
	own := filepath.Join(d.home, "sessions/2026/s1")
	outside := filepath.Join(t.TempDir(), "outside")
	put(t, filepath.Join(outside, "secret.md"), secret)
	put(t, filepath.Join(d.home, "secret.md"), secret)
	put(t, filepath.Join(d.home, "sessions/2026/s2/secret.md"), secret)
	put(t, filepath.Join(d.home, "projects/unmarked/secret.md"), secret)
	up := strings.Repeat("../", 8)
	for _, path := range []string{
		"..", ".", "../secret", "../s2/secret", "a/../../s2/secret", "@human/../sessions/2026/s2/secret", up + "etc/passwd", "/etc/passwd", filepath.Join(outside, "secret.md"),
		"~/secret", "~root/x", `..\secret`, `a\b`, "C:secret", "c:/secret", "file:secret", "real.md:stream",
		"%2e%2e/secret", "..%2fsecret", "%252e%252e/secret", "real%00", "..%c0%afsecret", "．．/secret", "a／b", "‥/secret",
		".notes.json", ".meta/x", ".trash/x", ".project", "@project/.project", "a/.hidden",
		"CON", "nul", "aux.md", "com1", "LPT9.txt", "a/prn", "a\x00b", "a\nb", "a\tb", "a\u202eb", "\u200breal", "a//b", "a/", " real", "real ", "real.",
		"1/2/3/4/5/6/7", strings.Repeat("a", 201), strings.Repeat("a/", 6) + "b", "", "@", "@self", "@human/", "@other/x", "@HUMAN/x", "@projects", "@projects/../human/x",
		"@projects/unmarked/secret", "@projects/Unmarked/secret", "@projects/.meta/x", "@projects//x", "@session/x", "\xff\xfe",
	} {
		d.reach(path, "E_ADDRESS E_HOME INVALID_ARGUMENTS")
	}
	links := map[string]string{"out": filepath.Join(outside, "secret.md"), "rel": "../s2/secret.md", "dir": outside, "loop": "loop.md"}
	for name, target := range links {
		if name != "dir" {
			name += ".md"
		}
		if err := os.Symlink(target, filepath.Join(own, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(outside, "secret.md"), filepath.Join(own, "hard.md")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(own, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"out", "rel", "dir/secret", "loop", "hard", "pipe"} {
		d.reach(path, "E_LINK E_NOT_FOUND") // the last where it is asked to be replaced
	}
	// twins: what some file systems hold for one name
	for _, path := range []string{"REAL", "Real", "strasse", "STRASSE", "Stra\u00dfe.MD"} {
		if r := d.call("notes_write", object{"path": path, "text": "pwned"}); r.Code != "E_ADDRESS" && r.Code != "E_EXISTS" {
			t.Errorf("%q: %+v", path, r)
		}
	}
	for path, text := range map[string]string{filepath.Join(outside, "secret.md"): secret, filepath.Join(d.home, "sessions/2026/s2/secret.md"): secret,
		filepath.Join(d.home, "secret.md"): secret, filepath.Join(own, "real.md"): "mine", filepath.Join(own, "Straße.md"): "mine"} {
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%s holds %q, %v", path, b, err)
		}
	}
	boot := d.Open(d.plugin.Strategy()).Sections[0].Text
	if strings.Contains(boot, secret) || !strings.Contains(boot, "real.md") {
		t.Errorf("the boot:\n%s", boot)
	}
}

func TestN3_N8_UnreadableAndBigThingsOverTheWire(t *testing.T) {
	t.Parallel()
	d := sit(t, `{}`)
	d.call("notes_write", object{"path": "real", "text": "mine"})
	own := filepath.Join(d.home, "sessions/2026/s1")
	put(t, filepath.Join(own, "binary.md"), "a\x00b")
	put(t, filepath.Join(own, "latin.md"), "caf\xe9")
	put(t, filepath.Join(own, "huge.md"), strings.Repeat("x", 2<<20))
	if err := os.Mkdir(filepath.Join(own, "folder.md"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, code := range map[string]string{"binary": "E_BINARY", "latin": "E_BINARY", "huge": "E_TOO_LARGE", "folder": "E_ADDRESS"} {
		if r := d.call("notes_read", object{"path": path}); r.Code != code {
			t.Errorf("%s: %+v", path, r)
		}
		if r := d.call("notes_write", object{"path": path, "text": "x", "mode": "append"}); r.Code != code {
			t.Errorf("write %s: %+v", path, r)
		}
	}
	// 256 KiB are a note, one byte more is none
	block := strings.Repeat(strings.Repeat("x", 127)+"\n", 128) // 16 KiB
	for range 16 {
		if r := d.call("notes_write", object{"path": "big", "text": block, "mode": "append"}); r.IsError {
			t.Fatalf("%+v", r)
		}
	}
	if r := d.call("notes_write", object{"path": "big", "text": "x", "mode": "append"}); r.Code != "E_TOO_LARGE" {
		t.Errorf("%+v", r)
	}
	size := 0
	for cursor := ""; ; {
		r := d.call("notes_read", object{"path": "big", "cursor": cursor})
		head, body, _ := strings.Cut(r.Text, "\n")
		if size += len(body); r.IsError || len(r.Text) > 32<<10 {
			t.Fatalf("a page of %d bytes: %s", len(r.Text), head)
		}
		next := nextPage.FindStringSubmatch(r.Text)
		if next == nil {
			break
		}
		cursor = next[1]
	}
	if size != 256<<10 {
		t.Errorf("the pages hold %d bytes", size)
	}
	// 2,000 notes are listed, page by page, and a boot is made of them
	for i := range 2000 {
		put(t, filepath.Join(d.home, "human", fmt.Sprintf("n%04d.md", i)), "one of many")
	}
	seen := 0
	for cursor := ""; ; {
		r := d.call("notes_list", object{"path": "@human", "limit": 100, "cursor": cursor})
		if seen += strings.Count(r.Text, "\n@human/n"); r.IsError || len(r.Text) > 32<<10 {
			t.Fatalf("%+v", r)
		}
		next := nextPage.FindStringSubmatch(r.Text)
		if next == nil {
			break
		}
		cursor = next[1]
	}
	if seen != 2000 {
		t.Errorf("%d notes are listed", seen)
	}
	if boot := d.Open(d.plugin.Strategy()).Sections[0].Text; !strings.Contains(boot, "2000 notes") {
		t.Errorf("the boot:\n%.2000s", boot)
	}
	// what cannot be read is never taken for empty
	if err := os.RemoveAll(filepath.Join(d.home, "self")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(d.home, "self"), "a file where a folder should be")
	if r := d.call("notes_list", object{"path": "@self"}); !r.IsError {
		t.Errorf("an unreadable home is empty: %+v", r)
	}
	d.Turn()
	d.User(session.SourceOwner, "go")
	d.did("get_context_remaining", object{})
	if _, err := d.plugin.Strategy().Propose(t.Context(), d.Input(session.TriggerPressure)); err == nil {
		t.Error("a boot is made of a home that does not read")
	}
}
