package toolcall_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

func TestResolveStartsAtTheWorkspace(t *testing.T) {
	t.Parallel()
	var w toolcall.Workspaces
	if err := w.Open(t.Context(), compaction.Session{ID: "s", Workspace: "relative"}); err == nil {
		t.Error("a relative workspace was accepted")
	}
	if err := w.Open(t.Context(), compaction.Session{ID: "s", Workspace: "/w/"}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"a/b": "/w/a/b", "./a": "/w/a", "../x": "/x", "/etc/../tmp": "/tmp", ".": "/w", "~file": "/w/~file", "./~": "/w/~",
	} {
		if got, err := w.Resolve("s", path); err != nil || got != want {
			t.Errorf("Resolve(%q) = %q, %v; want %q", path, got, err, want)
		}
	}
	for path, want := range map[string]string{"": "empty", "a\x00b": "NUL", "~": "not expanded", "~/x": "not expanded"} {
		if got, err := w.Resolve("s", path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve(%q) = %q, %v; want an error with %q", path, got, err, want)
		}
	}
	w.Close(t.Context(), "s")
	if _, err := w.Resolve("s", "a"); err == nil {
		t.Error("a closed session still resolves paths")
	}
}

func TestT22_RelativePathsStartAtTheDirectory(t *testing.T) {
	t.Parallel()
	var w toolcall.Workspaces
	if err := w.Open(t.Context(), compaction.Session{ID: "s", Workspace: "/w", Directory: "relative"}); err == nil {
		t.Error("a relative directory was accepted")
	}
	for _, dir := range []string{"", "/w/sub/", "/elsewhere"} {
		if err := w.Open(t.Context(), compaction.Session{ID: "s", Workspace: "/w/", Directory: dir}); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"": "/w", "/w/sub/": "/w/sub", "/elsewhere": "/elsewhere"}[dir]
		got, err := w.Resolve("s", "a/../b")
		root, ok := w.Root("s")
		if now, _ := w.Dir("s"); err != nil || got != want+"/b" || now != want || root != "/w" || !ok {
			t.Errorf("directory %q: b is %q, the directory %q, the workspace %q, %v", dir, got, now, root, err)
		}
	}
	if _, ok := w.Root("other"); ok {
		t.Error("a session that is not open has a workspace")
	}
}

func TestT3_T5_RunMakesResults(t *testing.T) {
	t.Parallel()
	type args struct{ N toolcall.Int }
	run := func(ctx context.Context, arguments string, text string, err error) tool.Result {
		return toolcall.Run(ctx, tool.Call{Arguments: json.RawMessage(arguments)}, func(context.Context, tool.Call, args) (string, error) { return text, err })
	}
	if r := run(t.Context(), `{}`, "a\x00b\xffc", nil); r.Text != "ab\uFFFDc" || r.IsError {
		t.Errorf("text is not made clean: %+v", r)
	}
	if r := run(t.Context(), `{}`, "", toolcall.Errorf("X", "no %s", "way\xff")); r.Text != "Error: no way\uFFFD" || !r.IsError || r.Code != "X" {
		t.Errorf("failure: %+v", r)
	}
	if r := run(t.Context(), `{"N":"x"}`, "", nil); !r.IsError || !strings.HasPrefix(r.Text, "Error: invalid arguments: ") {
		t.Errorf("bad arguments: %+v", r)
	}
	if r := run(t.Context(), `{}`, "", context.Canceled); r.Text != "Error: tool call aborted" {
		t.Errorf("aborted: %+v", r)
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if r := run(done, `{}`, "ran", nil); r.Text != "Error: tool call aborted before dispatch" {
		t.Errorf("aborted before its start: %+v", r)
	}
}

func TestIntTakesEveryJSONInteger(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]toolcall.Int{"5": 5, "5.0": 5, "1e3": 1000, "null": 0, "1e400": 1 << 53, "-7": -7} {
		var got toolcall.Int
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s = %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestOpenTakesOnlyRegularFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "directory", fifo: "named pipe", "/dev/null": "device", filepath.Join(dir, "none"): "not found"} {
		_, _, err := toolcall.Open(path)
		if err == nil || !strings.Contains(toolcall.Cannot("read", path, err).Error(), want) {
			t.Errorf("Open(%q): %v; want %q", path, err, want)
		}
	}
	regular := filepath.Join(dir, "f")
	if err := os.WriteFile(regular, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, info, err := toolcall.Open(regular)
	if err != nil || info.Size() != 1 {
		t.Fatalf("regular file: %v, %v", info, err)
	}
	f.Close()
}
