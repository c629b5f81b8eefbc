package instructions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/instructions"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// meter is a session of which only the number of compactions is known.
type meter struct {
	session.Refusing
	mu          sync.Mutex
	compactions int
	resetAt     int
}

func (m *meter) Meter(context.Context) (session.Meter, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return session.Meter{Compactions: m.compactions, ResetAt: m.resetAt}, nil
}

func (m *meter) compact() {
	m.mu.Lock()
	m.compactions++
	m.mu.Unlock()
}

// house is a user's home and a project in it, and the plugin over the wire.
type house struct {
	t       *testing.T
	home    string // of the user, without symlinks
	project string // a repository
	meter   *meter
	plugin  *plugintest.Plugin
	hooks   hook.Hooks
	now     time.Time
}

func build(t *testing.T, files map[string]string) *house {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, home: home, project: filepath.Join(home, "p"), meter: &meter{}, now: time.Date(2031, 4, 5, 6, 7, 8, 0, time.UTC)}
	if err := os.MkdirAll(filepath.Join(h.project, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		h.write(path, text)
	}
	return h
}

func (h *house) path(rel string) string { return filepath.Join(h.home, rel) }

func (h *house) write(rel, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(h.path(rel)), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(h.path(rel), []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// start runs the plugin with session s in a directory below home.
func (h *house) start(dir, config string, deny ...sdk.Capability) *house {
	h.t.Helper()
	h.plugin = plugintest.Run(h.t, instructions.PluginAt("1.0.0", func() time.Time { return h.now }), plugintest.Host{
		Config: json.RawMessage(config), NotesHome: h.path(".agents/notes"), Deny: deny,
		Sessions: []compaction.Session{{ID: "s", Workspace: h.path(dir), Directory: h.path(dir), Access: h.meter}},
	})
	h.hooks = h.plugin.Hooks(h.plugin.Info.HookPoints, "end_turn")
	return h
}

func (h *house) move(workspace, directory string) {
	h.t.Helper()
	if err := h.plugin.OpenSession(h.t.Context(), compaction.Session{ID: "s", Workspace: h.path(workspace), Directory: h.path(directory)}); err != nil {
		h.t.Fatal(err)
	}
}

// context is the text of one of the plugin's messages.
func (h *house) context(id string) string {
	h.t.Helper()
	contexts, err := h.plugin.Prompt().Contexts(h.t.Context(), "s")
	if err != nil {
		h.t.Fatal(err)
	}
	for _, c := range contexts {
		if c.ID == id {
			if !c.Own {
				h.t.Errorf("context %s is not a message of its own", id)
			}
			return c.Text
		}
	}
	return "(no such context)"
}

func (h *house) touch(name, key, path string) string {
	h.t.Helper()
	return h.outcome(hook.ToolOutcome{Name: name, Arguments: fmt.Sprintf(`{%q:%q}`, key, path)})
}

func (h *house) outcome(o hook.ToolOutcome) string {
	h.t.Helper()
	d, err := h.hooks.AfterTool(h.t.Context(), hook.Where{Session: "s", Turn: 1, Step: 1}, o)
	if err != nil {
		h.t.Fatal(err)
	}
	if d.Replace != nil || d.Stop != nil || len(d.Contexts) > 1 {
		h.t.Errorf("the hook did more than to add a message: %+v", d)
	}
	return strings.Join(d.Contexts, "\n")
}

// inOrder wants the parts in a text, one behind the other.
func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	rest := text
	for _, p := range parts {
		_, after, found := strings.Cut(rest, p)
		if !found {
			t.Errorf("%q is missing, or stands too early, in\n%s", p, text)
			return
		}
		rest = after
	}
}

func lacks(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("%q stands in\n%s", p, text)
		}
	}
}
