package policy_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
)

// write and edit may change what lies inside, and ask about the rest, whichever
// way a path leads out.
func TestT17_FilesOutsideAreAskedAbout(t *testing.T) {
	t.Parallel()
	d := open(t, `{"writable":["BESIDE/cache"],"deny":["write: docs/**"],"ask":["edit: go.mod"]}`)
	for link, to := range map[string]string{"out": d.beside, "file": d.beside + "/f", "new": d.beside + "/not/yet", "hop": "out/deep", "in": "sub", "loop": "loop", "g": ".git", "up": "../beside"} {
		if err := os.Symlink(to, filepath.Join(d.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(d.beside+"/cache", 0o700); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"a.go": "allow", "new/dir/a.go": "ask", "sub/../a.go": "allow", d.dir + "/a.go": "allow", "in/a": "allow", "/tmp/x": "allow", d.beside + "/cache/x": "allow", "deep/er/a": "allow", "loop": "allow",
		"../x": "ask", "sub/../../x": "ask", d.beside + "/x": "ask", "/etc/passwd": "ask", "out/x": "ask", "file": "ask", "new": "ask", "hop/x": "ask", "up/x": "ask", "out/../ws/a": "allow", "in/../../x": "ask", d.beside + "/cache/../x": "ask", d.dir + "x/a": "ask",
		".git/hooks/pre-commit": "ask", ".GIT/hooks/x": "ask", ".Git": "ask", "g/hooks/x": "ask", "sub/../.git/config": "ask", "sub/.git/config": "ask", ".gitignore": "allow", ".github/x": "allow",
		"docs/a": "deny", "./docs/b/c": "deny", "sub/../docs/a": "deny",
	} {
		if out := d.decide("write", args{"file_path": path, "content": "x"}); verdict(out) != want {
			t.Errorf("%s: %s %+v", path, verdict(out), out)
		}
	}
	if out := d.decide("edit", args{"file_path": "docs/a"}); verdict(out) != "allow" {
		t.Errorf("a rule about write is applied to edit: %+v", out)
	}
	if out := d.decide("edit", args{"file_path": "go.mod"}); verdict(out) != "ask" || out.Ask.Detail != d.dir+"/go.mod" {
		t.Errorf("%+v", out)
	}
}

// A yes lets that one call write that one place, and no more.
func TestT17_AllowedFileWidensOneCall(t *testing.T) {
	t.Parallel()
	d := open(t, `{}`)
	call := args{"file_path": "../beside/x", "content": "x"}
	out := d.decide("write", call)
	holds(t, "the detail", out.Ask.Detail, d.beside+"/x")
	out = d.answer("write", call, "Allow once")
	if out.Confinement.Files != session.FilesWorkspaceWrite || !slices.Equal(out.Confinement.Writable, []string{d.beside}) {
		t.Errorf("%+v", out.Confinement)
	}
	out = d.answer("write", args{"file_path": d.beside + "/new/dir/x"}, "Allow for this session")
	if !slices.Equal(out.Confinement.Writable, []string{d.beside}) {
		t.Errorf("a directory that does not exist: %+v", out.Confinement)
	}
	if out := d.decide("edit", args{"file_path": d.beside + "/new/dir/x"}); verdict(out) != "allow" || len(out.Confinement.Writable) != 1 {
		t.Errorf("the same file later: %+v", out)
	}
	if out := d.decide("write", args{"file_path": d.beside + "/new/dir/y"}); verdict(out) != "ask" {
		t.Errorf("another file: %+v", out)
	}
}

func TestT17_ReadOnlyAsksForEveryChange(t *testing.T) {
	t.Parallel()
	d := open(t, `{"files":"read-only","allow":["write","shell"]}`)
	out := d.decide("write", args{"file_path": "a", "content": ""})
	if verdict(out) != "ask" {
		t.Fatalf("a rule widens the file policy: %+v", out)
	}
	if out = d.answer("write", args{"file_path": "a"}, "Allow once"); out.Confinement.Files != session.FilesWorkspaceWrite || len(out.Confinement.Writable) != 0 {
		t.Errorf("%+v", out.Confinement)
	}
	if out := d.run("ls"); verdict(out) != "allow" || out.Confinement.Files != session.FilesReadOnly {
		t.Errorf("%+v", out)
	}
	d = open(t, `{"files":"full"}`)
	if out := d.decide("write", args{"file_path": "/etc/x"}); verdict(out) != "allow" || !out.Confinement.Free() {
		t.Errorf("full: %+v", out)
	}
}

// Paths start where the session stands; the workspace stays what may be written.
func TestT17_DirectoryMovesAndTheWorkspaceStays(t *testing.T) {
	t.Parallel()
	d := open(t, `{}`)
	if err := d.plugin.OpenSession(t.Context(), compaction.Session{ID: "s", Workspace: d.dir, Directory: d.beside}); err != nil {
		t.Fatal(err)
	}
	if out := d.decide("write", args{"file_path": "x"}); verdict(out) != "ask" {
		t.Errorf("%+v", out)
	}
	if out := d.decide("write", args{"file_path": "../ws/x"}); verdict(out) != "allow" {
		t.Errorf("%+v", out)
	}
	d.want("rm x", "ask")
	d.want("rm ../ws/x", "allow")
}

// A wider policy is asked for once, with the reason, and holds for that call.
func TestT17_EscalationIsAskedFor(t *testing.T) {
	t.Parallel()
	d := open(t, `{"allow":["shell"]}`)
	call := args{"description": "x", "command": "make install", "file_policy": "full", "justification": "it installs into /usr/local"}
	out := d.decide("shell", call)
	if verdict(out) != "ask" {
		t.Fatalf("%+v", out)
	}
	holds(t, "the question", out.Ask.Text, "file policy full instead of workspace-write")
	holds(t, "the detail", out.Ask.Detail, "make install", "it installs into /usr/local")
	if out := d.answer("shell", call, "Allow once"); verdict(out) != "allow" || !out.Confinement.Free() {
		t.Errorf("%+v", out)
	}
	out = d.answer("shell", call, "Deny")
	holds(t, "the refusal", out.Deny, "the person refused", "do not work around it")
	if out := d.run("make install"); verdict(out) != "allow" || out.Confinement.Files != session.FilesWorkspaceWrite {
		t.Errorf("the next call: %+v", out)
	}
	if out := d.answer("shell", call, "Allow for this session"); !out.Confinement.Free() {
		t.Errorf("%+v", out)
	}
	if out := d.decide("shell", call); verdict(out) != "allow" || !out.Confinement.Free() {
		t.Errorf("the same call again: %+v", out)
	}
	call["command"] = "make uninstall"
	if out := d.decide("shell", call); verdict(out) != "ask" {
		t.Errorf("another command: %+v", out)
	}
}

func TestT17_EscalationNeedsAWiderPolicy(t *testing.T) {
	t.Parallel()
	for config, wants := range map[string]map[string]string{
		`{}`:                         {"workspace-write": "allow", "full": "ask", "read-only": "allow", "root": "allow"},
		`{"files":"read-only"}`:      {"workspace-write": "ask", "full": "ask"},
		`{"files":"full"}`:           {"workspace-write": "allow", "full": "allow"},
		`{"deny":["shell: make *"]}`: {"full": "deny"},
	} {
		d := open(t, config)
		standing := d.run("ls").Confinement.Files
		for wanted, want := range wants {
			out := d.decide("shell", args{"command": "make", "file_policy": wanted, "justification": "x"})
			if verdict(out) != want {
				t.Errorf("%s, %s: %+v", config, wanted, out)
			}
			if want == "allow" && out.Confinement.Files != standing {
				t.Errorf("%s, %s: bound by %+v", config, wanted, out.Confinement)
			}
		}
	}
	d := open(t, `{"files":"read-only"}`)
	call := args{"command": "make", "file_policy": "workspace-write", "justification": "x"}
	if out := d.answer("shell", call, "Allow once"); out.Confinement.Files != session.FilesWorkspaceWrite {
		t.Errorf("%+v", out)
	}
	if out := d.answer("shell", args{"command": "curl x", "file_policy": "full", "justification": "x"}, "Allow once"); verdict(out) != "allow" || !out.Confinement.Free() {
		t.Errorf("one answer for both reasons: %+v", out)
	}
}

// Offline stays whatever else is allowed.
func TestT17_EscalationDoesNotConnect(t *testing.T) {
	t.Parallel()
	d := open(t, `{"network":"deny"}`)
	if out := d.answer("shell", args{"command": "make", "file_policy": "full", "justification": "x"}, "Allow once"); !out.Confinement.Offline || out.Confinement.Files == session.FilesWorkspaceWrite {
		t.Errorf("%+v", out)
	}
	if out := d.answer("write", args{"file_path": "/x"}, "Allow once"); !out.Confinement.Offline {
		t.Errorf("%+v", out)
	}
}
