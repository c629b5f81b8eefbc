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
	if b := confine.For(session.Confinement{}, ws, private); !b.Free() || b.Denied(confine.NextStop) != "" {
		t.Errorf("no policy: %+v", b)
	}
	if b := confine.For(session.Confinement{Offline: true}, ws, private); b.Free() || !b.Offline || strings.Contains(b.Denied(confine.NextStop), "[file policy") {
		t.Errorf("offline alone: %+v", b)
	}
	for _, policy := range []session.FilePolicy{session.FilesReadOnly, "odd"} {
		b := confine.For(session.Confinement{Files: policy, Writable: []string{ws}}, ws, private)
		if b.Files != session.FilesReadOnly || !slices.Equal(b.Write, []string{private}) || !strings.HasPrefix(b.Denied(confine.NextStop), "[file policy: access denied under read-only]\n") {
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
	files := confine.Bounds{Files: session.FilesWorkspaceWrite}
	offline := confine.Bounds{Files: session.FilesFull, Offline: true}
	both := confine.Bounds{Files: session.FilesReadOnly, Offline: true}
	const nothing, file, sockets = confine.HitNothing, confine.HitFiles, confine.HitSockets
	for text, want := range map[string][3]confine.Hit{ // under files, offline, both
		"bash: line 1: /etc/x: Permission denied":                    {file, nothing, file},
		"open /x: permission denied":                                 {file, nothing, file},
		"cp: cannot create regular file '/x': Read-only file system": {file, nothing, file},
		"Error: EACCES: permission denied, open '/x'":                {file, nothing, file},
		"OSError: [Errno 18] Invalid cross-device link: 'a' -> '/x'": {file, nothing, file},
		"code: 'EROFS'": {file, nothing, file},
		"PermissionError: [Errno 13] Permission denied: '/x'":                                                                          {file, nothing, file},
		"mkdir: cannot create directory '/opt/socket': Permission denied":                                                              {file, nothing, file},
		"bash: line 1: ./connect.sh: Permission denied":                                                                                {file, nothing, file},
		"Traceback\n  socket.py\nPermissionError: [Errno 13] Permission denied":                                                        {sockets, sockets, sockets},
		"bash: socket: Permission denied\nbash: /dev/tcp/h/80: Permission denied":                                                      {sockets, sockets, sockets},
		"ping: socktype: SOCK_RAW: Permission denied\nping: socket: permission denied":                                                 {sockets, sockets, sockets},
		"dial tcp 192.0.2.1:80: socket: permission denied":                                                                             {sockets, sockets, sockets},
		"Error: connect EACCES 192.0.2.1:80":                                                                                           {sockets, sockets, sockets},
		"permission denied while trying to connect to the daemon's socket at unix:///x":                                                {sockets, sockets, sockets},
		"curl: (6) Could not resolve host: example.org":                                                                                {nothing, sockets, sockets},
		"curl: (7) Failed to connect to 192.0.2.1 port 80: Couldn't connect to server":                                                 {nothing, sockets, sockets},
		"git@example.org: Permission denied (publickey).":                                                                              {nothing, nothing, nothing},
		"find: '/root': Permission denied\nls: cannot open directory '/root': Permission denied\ngrep: /etc/shadow: Permission denied": {nothing, nothing, nothing},
		"find: cannot delete '/x': Permission denied":                                                                                  {file, nothing, file},
		"curl: (6) Could not resolve host: h\ncp: '/x': Permission denied":                                                             {file, sockets, file}, // the last counts
		"": {}, "no such file or directory": {}, "EACCESS": {},
	} {
		for i, b := range []confine.Bounds{files, offline, both} {
			if got := b.Hit(text); got != want[i] {
				t.Errorf("%+v, %q: %v, want %v", b, text, got, want[i])
			}
		}
	}
	if got := (confine.Bounds{Files: session.FilesFull}).Hit("socket: Permission denied"); got != nothing {
		t.Errorf("nothing is bound: %v", got)
	}
}

// A note names the bound that was hit alone, and the narrowest policy that allows more.
func TestT17_ADenialFitsTheRefusal(t *testing.T) {
	t.Parallel()
	for policy, want := range map[session.FilePolicy]session.FilePolicy{
		session.FilesFull: "", session.FilesWorkspaceWrite: session.FilesFull, session.FilesReadOnly: session.FilesWorkspaceWrite,
	} {
		b := confine.Bounds{Files: policy, Offline: true}
		if got := b.Wider(); got != want {
			t.Errorf("wider than %s: %s", policy, got)
		}
		if text := b.Denied(confine.NextRepeat(b.Wider())); policy != session.FilesFull && (strings.Contains(text, "network") || !strings.Contains(text, `with file_policy "`+string(want)+`"`)) {
			t.Errorf("%s: %s", policy, text)
		}
		for _, offline := range []bool{true, false} {
			b.Offline = offline
			if text := b.DeniedSocket(); strings.Contains(text, "file_policy") || offline && strings.Contains(text, "[file policy") {
				t.Errorf("%+v: %s", b, text)
			}
		}
	}
}

// refused tells whether what a command printed speaks of any bound.
func refused(printed string) bool {
	return confine.Bounds{Files: session.FilesReadOnly, Offline: true}.Hit(printed) != confine.HitNothing
}
