package files_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/files"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// bench is the plugin with one session on a workspace of its own.
type bench struct {
	t        *testing.T
	dir      string
	services sdk.Services
	tools    *tool.Registry
}

func setup(t *testing.T) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir}
	b.restart()
	return b
}

// restart replaces the plugin's process, so to speak, and opens the session again.
func (b *bench) restart() {
	b.t.Helper()
	plugin := files.Plugin("test")
	services, err := plugin.Start(b.t.Context(), sdk.Init{Config: json.RawMessage(`{}`)})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := services.Sessions.Open(b.t.Context(), compaction.Session{ID: "s", Workspace: b.dir}); err != nil {
		b.t.Fatal(err)
	}
	b.services = services
	if b.tools, err = tool.NewRegistry(b.t.Context(), "s", []tool.Provider{services.Tools}); err != nil {
		b.t.Fatal(err)
	}
}

type args = map[string]any

func (b *bench) call(name string, a args) tool.Result {
	return b.callIn(b.t.Context(), "s", -1, name, a)
}

func (b *bench) callIn(ctx context.Context, session string, room int, name string, a args) tool.Result {
	b.t.Helper()
	return b.send(ctx, tool.Call{Session: session, Name: name, Room: room}, a)
}

// send makes a call with those arguments.
func (b *bench) send(ctx context.Context, call tool.Call, a args) tool.Result {
	b.t.Helper()
	arguments, err := json.Marshal(a)
	if err != nil {
		b.t.Fatal(err)
	}
	if bad, ok := b.tools.Validate(call.Name, arguments); ok {
		return bad
	}
	call.Arguments = arguments
	r, err := b.services.Tools.Call(ctx, call, nil)
	if err != nil {
		b.t.Fatalf("%s: %v", call.Name, err)
	}
	return r
}

// ok calls a tool that has to succeed and returns its text.
func (b *bench) ok(name string, a args) string {
	b.t.Helper()
	r := b.call(name, a)
	if r.IsError {
		b.t.Fatalf("%s %v: %s", name, a, r.Text)
	}
	return r.Text
}

// fails calls a tool that has to fail with that text and code.
func (b *bench) fails(name string, a args, code, text string) {
	b.t.Helper()
	r := b.call(name, a)
	if !r.IsError || r.Code != code || !hasPrefix(r.Text, "Error: "+text) {
		b.t.Errorf("%s %v:\n got %s: %s\nwant %s: Error: %s…", name, a, r.Code, r.Text, code, text)
	}
}

func hasPrefix(s, prefix string) bool { return len(s) >= len(prefix) && s[:len(prefix)] == prefix }

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) put(name, content string) string {
	b.t.Helper()
	path := b.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *bench) get(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(b.path(name))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(data)
}

func (b *bench) holds(name, want string) {
	b.t.Helper()
	if got := b.get(name); got != want {
		b.t.Errorf("%s holds %q, want %q", name, got, want)
	}
}
