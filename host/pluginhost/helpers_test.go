package pluginhost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

func spec(fault string) pluginhost.Spec {
	return pluginhost.Spec{Name: "fault", Argv: []string{os.Args[0]}, Env: []string{faultEnv + "=" + fault}, Origin: "profile.toml:12"}
}

// house is a Supervisor with all that a test looks at.
type house struct {
	*pluginhost.Supervisor
	t    *testing.T
	base string // where its directories are
	log  *lockedBuffer

	mu     sync.Mutex
	states []string
	lent   map[string]session.Access
}

func newHouse(t *testing.T, o pluginhost.Options) *house {
	t.Helper()
	base, err := os.MkdirTemp("/tmp", "tph")
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, base: base, log: &lockedBuffer{}, lent: map[string]session.Access{}}
	o.Env = append(slices.DeleteFunc(slices.Clone(o.Env), func(s string) bool { return strings.HasPrefix(s, "XDG_RUNTIME_DIR") }), "PATH="+os.Getenv("PATH"), "TMPDIR="+base, "XDG_RUNTIME_DIR="+base)
	o.Logger = slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.OnState = func(s session.PluginState) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.states = append(h.states, fmt.Sprintf("%s %d", s.State, s.Generation))
	}
	o.Access = func(plugin, id string) (session.Access, error) {
		if a := h.lent[id]; a != nil {
			return a, nil
		}
		return nil, session.ErrNotFound
	}
	if o.Deadlines.Backoff == nil {
		o.Deadlines.Backoff = []time.Duration{time.Millisecond}
	}
	o.Deadlines.Ready = patience // a slow machine is no failure
	h.Supervisor = pluginhost.New(o)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(base + "/*"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		os.RemoveAll(base)
	})
	return h
}

// one starts a plugin with a fault.
func (h *house) one(s pluginhost.Spec) *pluginhost.Instance {
	h.t.Helper()
	instances, err := h.Start(h.t.Context(), s)
	if err != nil {
		h.t.Fatal(err)
	}
	return instances[0]
}

func (h *house) seen() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.states, ", ")
}

// until waits for what another process brings about.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not come about: %s", what)
		}
	}
}

func call(ctx context.Context, i *pluginhost.Instance, what, text string) (string, error) {
	args, _ := json.Marshal(map[string]string{"What": what, "Text": text})
	r, err := i.Tools().Call(ctx, tool.Call{Session: "s", ID: "c", Name: "do", Arguments: args}, nil)
	if err == nil && r.IsError {
		err = errors.New(r.Text)
	}
	return r.Text, err
}

func must(t *testing.T, i *pluginhost.Instance, what, text string) string {
	t.Helper()
	got, err := call(t.Context(), i, what, text)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	return got
}

// alive tells whether a process runs; one that is dead and unreaped does not.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// lentSession is a session.Access whose events and model a test sets up.
type lentSession struct {
	session.Access
	events   []session.Event
	outline  session.Outline
	generate func(context.Context) (session.Generated, error)
}

func (a *lentSession) Generate(ctx context.Context, _ session.Generate) (session.Generated, error) {
	return a.generate(ctx)
}

func (a *lentSession) Outline(context.Context) (session.Outline, error) { return a.outline, nil }

func (a *lentSession) Events(_ context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for _, e := range a.events {
			if e.Seq <= q.After || (q.Before > 0 && e.Seq >= q.Before) || (len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind)) {
				continue
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func answer(text string) session.Generated {
	return session.Generated{Message: llm.Text(llm.RoleAssistant, text), Stop: llm.StopEnd}
}
