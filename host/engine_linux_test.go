package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// instant is a model without an endpoint: what it says depends on the request alone.
type instant func(req llm.Request) *llm.Message

func (f instant) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		m := f(req)
		stop := llm.StopEnd
		if len(m.Calls()) > 0 {
			stop = llm.StopToolCalls
		}
		yield(llm.Chunk{Answer: &llm.Answer{Message: m, Stop: stop, Model: "m", Usage: llm.Usage{Input: 90, Output: 10}}}, nil)
	}
}

func (instant) Info(context.Context) (llm.Info, error) {
	return llm.Info{Provider: "test", Name: "m", ContextWindow: 100_000, WindowSource: "profile", MaxOutputTokens: 4000}, nil
}

func invoke(name string, args any) *llm.Message {
	raw, _ := json.Marshal(args) // plain maps
	return &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: "c" + strconv.Itoa(len(raw)), Name: name, Arguments: string(raw)}}}}
}

// hall is an engine with a store on disk.
type hall struct {
	*host.Engine
	t     *testing.T
	dir   string
	store session.Store
}

func newHall(t *testing.T, more string, model llm.Model) *hall {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text := "schema = 1\n[model]\nname = \"m\"\n" + more
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(string) string { return "" }
	p, err := profile.Load("./p.toml", profile.Options{Dir: dir, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	h := &hall{t: t, dir: dir, store: sqlite(t)}
	h.Engine, err = host.Start(t.Context(), host.Config{Profile: p, Store: h.store, NotesHome: filepath.Join(dir, "notes"), Version: "test", Model: model,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Env: env, Self: []string{os.Args[0]}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *hall) session(title string) *home {
	h.t.Helper()
	s, err := h.Create(h.t.Context(), title, host.SessionConfig{Workspace: h.dir})
	if err != nil {
		h.t.Fatal(err)
	}
	if err := s.Agent.Prompt(h.t.Context(), title); err != nil {
		h.t.Fatal(err)
	}
	return &home{Host: s, t: h.t, store: h.store}
}

const threePlugins = `[compaction]
strategy = "notesoup"
[[plugins]]
use = "files"
[[plugins]]
use = "shell"
`

// TestManySessionsRunOnOneEngine: each does its own work on the same three plugin
// processes. One of those is killed while half of the sessions have a call under way
// in it: those calls are error results, nothing else is, and all of them complete.
func TestManySessionsRunOnOneEngine(t *testing.T) {
	t.Parallel()
	const sessions, steps = 50, 6
	kill := make(chan struct{})
	h := newHall(t, threePlugins, instant(func(req llm.Request) *llm.Message {
		name, n := titleOf(req), 0
		for _, m := range req.Messages {
			if m.Role == llm.RoleTool {
				n++
			}
		}
		switch {
		case n == 2 && strings.HasPrefix(name, "shell"):
			return invoke("shell", map[string]any{"description": "wait", "command": "touch began-" + name + "; sleep 60", "timeoutMs": 600_000})
		case n == 2:
			<-kill
		case n >= steps:
			return llm.Text(llm.RoleAssistant, name+" is done.")
		}
		return invoke("read", map[string]any{"file_path": fmt.Sprintf("%s-%d.txt", name, n)})
	}))
	for i := range sessions {
		for n := range steps {
			name := fmt.Sprintf("%s-%d.txt", nameOf(i), n)
			if err := os.WriteFile(filepath.Join(h.dir, name), []byte("this is "+name+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	homes := make([]*home, sessions)
	var all sync.WaitGroup
	for i := range homes {
		homes[i] = h.session(nameOf(i))
		all.Go(func() {
			if reason, failure, err := homes[i].Agent.Run(t.Context()); reason != session.ReasonCompleted || failure != nil || err != nil {
				t.Errorf("%s ended %s: %+v, %v", nameOf(i), reason, failure, err)
			}
		})
	}
	until(t, func() bool {
		began, err := filepath.Glob(filepath.Join(h.dir, "began-*"))
		return err == nil && len(began) == sessions/2
	})
	if err := syscall.Kill(pidOf(t, "shell"), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		return len(events[session.PluginState](homes[sessions-1], homes[sessions-1].ID(), session.KindPlugin)) > 0
	})
	close(kill)
	all.Wait()
	for i, s := range homes {
		failed := 0
		for n, r := range events[session.ToolResult](s, s.ID(), session.KindToolResult) {
			if r.Message.IsError {
				failed++
			} else if !strings.Contains(r.Message.Text(), fmt.Sprintf("this is %s-%d.txt", nameOf(i), n)) {
				t.Errorf("%s was given %q", nameOf(i), r.Message.Text())
			}
		}
		if want := 1 - i%2; failed != want {
			t.Errorf("%s: %d calls failed, want %d", nameOf(i), failed, want)
		}
		states := events[session.PluginState](s, s.ID(), session.KindPlugin)
		if len(states) != 2 || states[0].State != "crashed" || states[1].State != "started" || states[0].Plugin != "shell" {
			t.Errorf("%s is told %+v", nameOf(i), states)
		}
	}
}

func nameOf(i int) string {
	if i%2 == 0 {
		return fmt.Sprintf("shell%d", i)
	}
	return fmt.Sprintf("files%d", i)
}

// titleOf is what the person said first.
func titleOf(req llm.Request) string {
	for _, m := range req.Messages {
		if text := m.Text(); m.Role == llm.RoleUser && (strings.HasPrefix(text, "shell") || strings.HasPrefix(text, "files")) && !strings.Contains(text, " ") {
			return text
		}
	}
	return ""
}

// pidOf finds the process of a plugin that this one started.
func pidOf(t *testing.T, plugin string) int {
	t.Helper()
	procs, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range procs {
		line, _ := os.ReadFile(path)
		if !strings.HasSuffix(string(line), serve+"\x00"+plugin+"\x00") {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		if f := strings.Fields(rest); len(f) > 1 && f[1] == strconv.Itoa(os.Getpid()) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatalf("no process of plugin %q", plugin)
	return 0
}

// TestASessionOfAnEngineEndsAlone: the others go on, it can be opened again, limits
// are its own, and with the engine all of them end.
func TestASessionOfAnEngineEndsAlone(t *testing.T) {
	t.Parallel()
	h := newHall(t, threePlugins+"[limits]\nmax_tokens = 150\n", instant(func(req llm.Request) *llm.Message {
		return llm.Text(llm.RoleAssistant, "Done.")
	}))
	a, b := h.session("one"), h.session("two")
	for _, s := range []*home{a, b} {
		if reason := s.run(); reason != session.ReasonCompleted {
			t.Errorf("ended %s: a limit binds sessions together", reason)
		}
	}
	if _, err := h.Resume(t.Context(), a.ID(), host.SessionConfig{}); err == nil {
		t.Error("a session was opened twice")
	}
	a.close()
	a.close() // may be called twice
	again, err := h.Resume(t.Context(), a.ID(), host.SessionConfig{})
	if err != nil {
		t.Fatal(err)
	}
	c := &home{Host: again, t: t, store: h.store}
	for _, s := range []*home{c, b} {
		for _, want := range []session.Reason{session.ReasonCompleted, session.ReasonLimit} {
			if err := s.Agent.Prompt(t.Context(), "go on"); err != nil {
				t.Fatal(err)
			}
			if reason := s.run(); reason != want {
				t.Errorf("ended %s, want %s", reason, want)
			}
		}
	}
	if err := h.Close(context.Background()); err != nil {
		t.Error(err)
	}
	if _, err := h.Create(t.Context(), "late", host.SessionConfig{Workspace: h.dir}); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a closed engine took a session: %v", err)
	}
	for _, s := range []*home{a, b} {
		log, err := h.store.Open(t.Context(), s.ID())
		if err != nil {
			t.Errorf("%s is held: %v", s.ID(), err)
			continue
		}
		if violations, err := fold.Check(t.Context(), log); err != nil || len(violations) > 0 {
			t.Errorf("%v, %+v", err, violations)
		}
		log.Close()
	}
}
