package confine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/internal/confine"
)

// outside makes a directory that is neither in a workspace nor for temporary files.
func outside(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "confine")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, parts ...string) string {
	t.Helper()
	dir := filepath.Join(parts...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestT17_BoundsOfAPolicy(t *testing.T) {
	t.Parallel()
	base := outside(t)
	ws, private := mkdir(t, base, "ws"), mkdir(t, base, "private")
	if b := confine.For(session.Confinement{}, ws, private); !b.Free() || b.Denied(confine.NextRepeat) != "" {
		t.Errorf("no policy: %+v", b)
	}
	if b := confine.For(session.Confinement{Offline: true}, ws, private); b.Free() || !b.Offline || strings.Contains(b.Denied(confine.NextRepeat), "[file policy") {
		t.Errorf("offline alone: %+v", b)
	}
	for _, policy := range []session.FilePolicy{session.FilesReadOnly, "odd"} {
		b := confine.For(session.Confinement{Files: policy, Writable: []string{ws}}, ws, private)
		if b.Files != session.FilesReadOnly || !slices.Equal(b.Write, []string{private}) || !strings.HasPrefix(b.Denied(confine.NextRepeat), "[file policy: access denied under read-only]\n") {
			t.Errorf("%s: %+v", policy, b)
		}
	}
	b := confine.For(session.Confinement{Files: session.FilesWorkspaceWrite, Writable: []string{"relative", base + "/none", ws + "/inside", private}}, ws, "")
	if !slices.Contains(b.Write, ws) || !slices.Contains(b.Write, private) || !slices.Contains(b.Write, "/tmp") || len(b.Write) != 3 {
		t.Errorf("workspace-write: %q", b.Write)
	}
	for path, want := range map[string]string{ws + "/a/b": ws, ws: ws, ws + "x": "", base: "", "/tmp/x": "/tmp", "/tmpx": ""} {
		if root, ok := b.Root(path); root != want || ok != (want != "") {
			t.Errorf("root of %s: %q", path, root)
		}
	}
}

// Whoever may write a directory can put a symlink in place of one inside it: the
// inner one is never followed.
func TestT17_ARootInsideAnotherIsNotFollowed(t *testing.T) {
	t.Parallel()
	base := outside(t)
	target, project := mkdir(t, base, "target"), mkdir(t, base, "project")
	link(t, target, project+"/ws")
	link(t, project, base+"/alias")
	for _, writable := range [][]string{{project}, {base + "/alias"}} {
		b := confine.For(session.Confinement{Files: session.FilesWorkspaceWrite, Writable: writable}, project+"/ws", "")
		if !slices.Contains(b.Write, project) || slices.Contains(b.Write, target) {
			t.Errorf("%q: %q", writable, b.Write)
		}
	}
}

func TestT17_ARefusalIsRecognised(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"bash: line 1: /etc/x: Permission denied":                    true,
		"open /x: permission denied":                                 true,
		"cp: cannot create regular file '/x': Read-only file system": true,
		"Error: EACCES: permission denied, open '/x'":                true,
		"OSError: [Errno 18] Invalid cross-device link: 'a' -> '/x'": true,
		"code: 'EROFS'": true,
		"":              false, "no such file or directory": false, "EACCESS": false,
	} {
		if confine.Refused(text) != want {
			t.Errorf("Refused(%q) is not %v", text, want)
		}
	}
}
