package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// walled is the plugin on a workspace that is not for temporary files. out is a
// directory beside it, with one file.
func walled(t *testing.T) (b *bench, out string) {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "walled")
	if err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	b, out = &bench{t: t, dir: filepath.Join(base, "ws")}, filepath.Join(base, "out")
	for _, dir := range []string{b.dir, out} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(out, "file"), []byte("precious\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.restart()
	return b, out
}

func (b *bench) link(to, name string) {
	b.t.Helper()
	if err := os.Symlink(to, b.path(name)); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) within(c session.Confinement, name string, a args) tool.Result {
	b.t.Helper()
	return b.send(b.t.Context(), tool.Call{Session: "s", Name: name, Room: -1, Confinement: c}, a)
}

var workspaceWrite = session.Confinement{Files: session.FilesWorkspaceWrite}

// untouched checks that nothing was changed in out.
func untouched(t *testing.T, out string) {
	t.Helper()
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 1 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
	if data, err := os.ReadFile(filepath.Join(out, "file")); err != nil || string(data) != "precious\n" {
		t.Errorf("the file outside holds %q, %v", data, err)
	}
}

func TestT17_WriteAndEditStayInTheWorkspace(t *testing.T) {
	t.Parallel()
	b, out := walled(t)
	b.link(out+"/file", "link")
	b.link(out, "dirlink")
	b.link(out+"/new", "dangling")
	b.link("../out/new", "relative")
	b.link("dirlink", "chain")
	if err := os.Link(out+"/file", b.path("hard")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{out + "/file", "../out/file", "link", "dirlink/file", "chain/file", "../ws/../out/file", "/proc/self/root" + out + "/file"} {
		b.ok("read", args{"file_path": path})
		for name, a := range map[string]args{
			"write": {"file_path": path, "content": "x"},
			"edit":  {"file_path": path, "old_string": "precious", "new_string": "x"},
		} {
			r := b.within(workspaceWrite, name, a)
			want := "Error: cannot " + name + " \"" + path + "\": the file policy allows changes only in "
			if r.Code != "FILE_POLICY" || !strings.HasPrefix(r.Text, want) || !strings.HasSuffix(r.Text, "\n[file policy: access denied under workspace-write]\nDo not try another way. Stop, and say what you would have done and why the task needs it.") {
				t.Errorf("%s %s: %+v", name, path, r)
			}
		}
	}
	for _, path := range []string{out + "/new", "../out/new", "dangling", "relative", "dirlink/new", "dirlink/new/deep/er", "chain/a/b", out + "/a/b", "~root/../../out/new"} {
		if r := b.within(workspaceWrite, "write", args{"file_path": path, "content": "x"}); !strings.HasPrefix(path, "~") && r.Code != "FILE_POLICY" {
			t.Errorf("%s: %+v", path, r)
		}
	}
	untouched(t, out)
	// A second name of a file outside becomes a file of its own.
	b.ok("read", args{"file_path": "hard"})
	if r := b.within(workspaceWrite, "edit", args{"file_path": "hard", "old_string": "precious", "new_string": "own"}); r.IsError {
		t.Error(r.Text)
	}
	b.holds("hard", "own\n")
	untouched(t, out)
}

func TestT17_WriteAndEditWorkInside(t *testing.T) {
	t.Parallel()
	b, out := walled(t)
	b.put("real/f", "one\n")
	b.link("real", "inside")
	b.link(b.path("real"), "absolute")
	for _, path := range []string{"new", "a/b/c", "real/f", "inside/g", "absolute/h", "absolute/x/y", b.path("full/path")} {
		b.call("read", args{"file_path": path})
		if r := b.within(workspaceWrite, "write", args{"file_path": path, "content": "two\n"}); r.IsError {
			t.Errorf("%s: %s", path, r.Text)
		}
		if r := b.within(workspaceWrite, "edit", args{"file_path": path, "old_string": "two", "new_string": "three"}); r.IsError {
			t.Errorf("%s: %s", path, r.Text)
		}
		if data, err := os.ReadFile(join(b, path)); err != nil || string(data) != "three\n" {
			t.Errorf("%s holds %q, %v", path, data, err)
		}
	}
	temporary := filepath.Join(t.TempDir(), "f")
	if r := b.within(workspaceWrite, "write", args{"file_path": temporary, "content": "x"}); r.IsError {
		t.Errorf("a temporary file: %s", r.Text)
	}
	writable := session.Confinement{Files: session.FilesWorkspaceWrite, Writable: []string{out}}
	if r := b.within(writable, "write", args{"file_path": out + "/more", "content": "x"}); r.IsError {
		t.Errorf("a writable directory: %s", r.Text)
	}
	noLeftovers(t, b.dir)
}

func join(b *bench, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return b.path(path)
}

func TestT17_ReadOnlyChangesNothing(t *testing.T) {
	t.Parallel()
	b, out := walled(t)
	b.put("f", "old\n")
	b.ok("read", args{"file_path": "f"})
	for _, policy := range []session.FilePolicy{session.FilesReadOnly, "odd"} {
		bound := session.Confinement{Files: policy, Writable: []string{b.dir}}
		for name, a := range map[string]args{
			"write": {"file_path": "f", "content": "x"},
			"edit":  {"file_path": "f", "old_string": "old", "new_string": "x"},
		} {
			r := b.within(bound, name, a)
			if r.Code != "FILE_POLICY" || !strings.HasPrefix(r.Text, "Error: cannot "+name+" \"f\": the file policy allows changes nowhere\n[file policy: access denied under read-only]\n") {
				t.Errorf("%s: %+v", name, r)
			}
		}
		if r := b.within(bound, "write", args{"file_path": filepath.Join(os.TempDir(), "never"), "content": "x"}); r.Code != "FILE_POLICY" {
			t.Errorf("a temporary file: %+v", r)
		}
		if r := b.within(bound, "read", args{"file_path": out + "/file"}); r.IsError {
			t.Errorf("read: %s", r.Text)
		}
	}
	b.holds("f", "old\n")
	untouched(t, out)
}

// The workspace bounds what may be changed, wherever relative paths start by now.
func TestT17_TheBoundIsTheWorkspaceNotTheDirectory(t *testing.T) {
	t.Parallel()
	b, out := walled(t)
	if err := b.services.Sessions.Open(t.Context(), compaction.Session{ID: "s", Workspace: b.dir, Directory: out}); err != nil {
		t.Fatal(err)
	}
	b.ok("read", args{"file_path": "file"})
	if r := b.within(workspaceWrite, "write", args{"file_path": "file", "content": "x"}); r.Code != "FILE_POLICY" {
		t.Errorf("%+v", r)
	}
	if r := b.within(workspaceWrite, "write", args{"file_path": "../ws/new", "content": "x"}); r.IsError {
		t.Errorf("%+v", r)
	}
	untouched(t, out)
}
