package files_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/files"
	"github.com/tureen-host/tureen/plugins/sdk"
)

func sessionAt(id, dir string) compaction.Session { return compaction.Session{ID: id, Workspace: dir} }

func benchRead(b *testing.B, text []byte) {
	path := filepath.Join(b.TempDir(), "f")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	p := files.New()
	if err := p.Open(b.Context(), sessionAt("s", filepath.Dir(path))); err != nil {
		b.Fatal(err)
	}
	call := tool.Call{Session: "s", Name: "read", Arguments: json.RawMessage(`{"file_path":"f"}`), Room: -1}
	for b.Loop() {
		if r, err := p.Call(b.Context(), call, nil); err != nil || r.IsError {
			b.Fatal(r.Text, err)
		}
	}
}

func TestT11_WriteCreatesAndReplaces(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if got, want := b.ok("write", args{"file_path": "a/b/c.txt", "content": "one\ntwo"}), "Created file "+b.path("a/b/c.txt")+" (2 lines, 7 bytes)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.holds("a/b/c.txt", "one\ntwo")
	// What it wrote itself needs no read.
	if got, want := b.ok("write", args{"file_path": b.path("a/b/c.txt"), "content": "x\r\n"}), "Updated file "+b.path("a/b/c.txt")+" (1 lines, 3 bytes)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	b.holds("a/b/c.txt", "x\r\n")
	b.ok("edit", args{"file_path": "a/b/c.txt", "old_string": "x", "new_string": "y"})
	b.holds("a/b/c.txt", "y\r\n")
	b.ok("write", args{"file_path": "empty", "content": ""})
	b.holds("empty", "")
	b.fails("write", args{"file_path": "a/b", "content": "x"}, "IS_DIRECTORY", `cannot write "a/b": it is a directory`)
	b.fails("write", args{"file_path": "new/", "content": "x"}, "IS_DIRECTORY", `cannot write "new/": the path ends in /`)
	b.fails("write", args{"file_path": "a/b/c.txt/d", "content": "x"}, "IO_ERROR", `cannot write "a/b/c.txt/d": not a directory`)
	b.fails("write", args{"file_path": "~/f", "content": "x"}, "BAD_PATH", `cannot write "~/f": "~" is not expanded`)
	noLeftovers(t, b.dir)
}

func noLeftovers(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), ".tureen-") {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestT11_C18_ChangingAFileNeedsAReadBefore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("f.txt", "old\n")
	write := args{"file_path": "f.txt", "content": "new\n"}
	edit := args{"file_path": "f.txt", "old_string": "old", "new_string": "new"}
	b.fails("write", write, "FILE_NOT_READ", `cannot modify "f.txt": file has not been read`)
	b.fails("edit", edit, "FILE_NOT_READ", `cannot modify "f.txt": file has not been read`)
	b.holds("f.txt", "old\n")

	b.fails("read", args{"file_path": "f.txt", "offset": 9}, "OUT_OF_RANGE", "offset 9") // shows nothing, so it counts for nothing
	b.fails("edit", edit, "FILE_NOT_READ", `cannot modify "f.txt": file has not been read`)
	b.ok("read", args{"file_path": "f.txt"})
	b.ok("edit", edit)
	b.holds("f.txt", "new\n")

	// Another session has its own observations.
	if err := b.services.Sessions.Open(t.Context(), sessionAt("other", b.dir)); err != nil {
		t.Fatal(err)
	}
	if r := b.callIn(t.Context(), "other", -1, "write", write); r.Code != "FILE_NOT_READ" {
		t.Errorf("another session: %+v", r)
	}
	// To hear of the session again changes nothing; to close it forgets everything.
	if err := b.services.Sessions.Open(t.Context(), sessionAt("s", b.dir)); err != nil {
		t.Fatal(err)
	}
	b.ok("write", write)
	b.services.Sessions.Close(t.Context(), "s")
	if err := b.services.Sessions.Open(t.Context(), sessionAt("s", b.dir)); err != nil {
		t.Fatal(err)
	}
	b.fails("write", write, "FILE_NOT_READ", `cannot modify "f.txt": file has not been read`)
}

func TestT11_C18_StaleFilesAreNoticed(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(b *bench, path string) error{
		"other size":              func(_ *bench, path string) error { return os.WriteFile(path, []byte("longer now\n"), 0o644) },
		"same size":               func(_ *bench, path string) error { return os.WriteFile(path, []byte("oLd\n"), 0o644) },
		"same size and same time": sameSizeAndTime,
	} {
		b := setup(t)
		path := b.put("f.txt", "old\n")
		b.ok("read", args{"file_path": "f.txt"})
		if err := disturb(b, path); err != nil {
			t.Fatal(err)
		}
		before := b.get("f.txt")
		b.fails("write", args{"file_path": "f.txt", "content": "x"}, "FILE_CHANGED", `cannot write "f.txt": file changed since it was read`)
		b.fails("edit", args{"file_path": "f.txt", "old_string": "old", "new_string": "x"}, "FILE_CHANGED", `cannot edit "f.txt": file changed since it was read`)
		if b.get("f.txt") != before {
			t.Errorf("%s: the file was changed all the same", name)
		}
		b.ok("read", args{"file_path": "f.txt"})
		b.ok("write", args{"file_path": "f.txt", "content": "x"})
	}
}

func sameSizeAndTime(_ *bench, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte("olD\n"), 0o644); err != nil {
		return err
	}
	return os.Chtimes(path, info.ModTime(), info.ModTime())
}

func TestC18_SameContentIsNotStale(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.put("f.txt", "old\n")
	b.ok("read", args{"file_path": "f.txt", "limit": 1})
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	b.ok("edit", args{"file_path": "f.txt", "old_string": "old", "new_string": "new"})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	b.fails("edit", args{"file_path": "f.txt", "old_string": "new", "new_string": "x"}, "NOT_FOUND", `cannot edit "f.txt": not found`)
	if got := b.ok("write", args{"file_path": "f.txt", "content": "again"}); !strings.HasPrefix(got, "Created file ") {
		t.Errorf("a removed file: %q", got)
	}
}

func TestC18_HugeFilesGoBySizeAndTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.put("huge", numbered(1, 3000))
	if err := os.Truncate(path, 256<<20); err != nil {
		t.Fatal(err)
	}
	b.ok("read", args{"file_path": "huge", "limit": 1})
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	b.fails("write", args{"file_path": "huge", "content": "x"}, "FILE_CHANGED", `cannot write "huge": file changed since it was read`)
	b.fails("edit", args{"file_path": "huge", "old_string": "x", "new_string": "y"}, "TOO_LARGE", `cannot edit "huge": it has 268435456 bytes`)
}

func TestR2_ObservationsDoNotSurviveRestart(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.put("f.txt", "old\n")
	b.ok("read", args{"file_path": "f.txt"})
	b.restart()
	b.fails("edit", args{"file_path": "f.txt", "old_string": "old", "new_string": "new"}, "FILE_NOT_READ", `cannot modify "f.txt": file has not been read`)
	b.ok("read", args{"file_path": "f.txt"})
	b.ok("edit", args{"file_path": "f.txt", "old_string": "old", "new_string": "new"})
}

func TestT11_WriteKeepsModeAndGoesThroughSymlinks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.put("bin/run.sh", "old\n")
	if err := os.Chmod(path, 0o751); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": "bin/run.sh", "far": "link", "dangling": "not/yet.txt", "dirlink": "bin"} {
		if err := os.Symlink(to, b.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	b.ok("read", args{"file_path": "far"})
	b.ok("write", args{"file_path": "far", "content": "new\n"})
	b.ok("edit", args{"file_path": "dirlink/run.sh", "old_string": "new", "new_string": "newer"})
	b.holds("bin/run.sh", "newer\n")
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o751 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	b.ok("write", args{"file_path": "dangling", "content": "now\n"})
	b.holds("not/yet.txt", "now\n")
	b.ok("write", args{"file_path": "dirlink/sub/new.txt", "content": "1"})
	b.ok("edit", args{"file_path": "bin/sub/new.txt", "old_string": "1", "new_string": "2"})
	for _, link := range []string{"link", "far", "dangling", "dirlink"} {
		if info, err := os.Lstat(b.path(link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no symlink any more: %v", link, err)
		}
	}
	if err := os.Symlink("loop", b.path("loop")); err != nil {
		t.Fatal(err)
	}
	b.fails("write", args{"file_path": "loop", "content": "x"}, "IO_ERROR", `cannot write "loop": `)
	noLeftovers(t, b.dir)
}

func TestT11_WriteRespectsReadOnlyFiles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	path := b.put("f.txt", "old\n")
	b.ok("read", args{"file_path": "f.txt"})
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // root may write everything
		b.ok("write", args{"file_path": "f.txt", "content": "x"})
		b.holds("f.txt", "x")
		return
	}
	b.fails("write", args{"file_path": "f.txt", "content": "x"}, "PERMISSION_DENIED", `cannot write "f.txt": permission denied`)
	b.holds("f.txt", "old\n")
}

func TestT11_AReaderNeverSeesAHalfWrittenFile(t *testing.T) {
	t.Parallel()
	b := setup(t)
	content := func(i int) string { return strings.Repeat(fmt.Sprint(i%10), 200_000) }
	b.ok("write", args{"file_path": "f", "content": content(0)})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 20 {
			b.ok("write", args{"file_path": "f", "content": content(i)})
		}
	}()
	for open := true; open; {
		select {
		case <-done:
			open = false
		default:
		}
		if got := b.get("f"); len(got) != 200_000 || strings.Trim(got, got[:1]) != "" {
			t.Fatalf("read %d bytes", len(got))
		}
	}
}

var _ sdk.Sessions = (*files.Provider)(nil)
