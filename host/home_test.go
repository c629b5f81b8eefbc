package host_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/memlog"
)

// home is a host without plugins: the test itself spawns, through what a plugin is
// lent.
type home struct {
	*host.Host
	t     *testing.T
	store session.Store
}

// settings of a home.
type settings struct {
	reply scripted.AgentFunc
	more  string // of the profile
	store session.Store
}

func newHome(t *testing.T, s settings) *home {
	t.Helper()
	server, err := scripted.Serve(t.Context(), scripted.Options{Model: "m", ContextWindow: 100_000, MaxOutputTokens: 20_000, Agent: s.reply})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	dir := t.TempDir()
	text := "schema = 1\n[model]\nname = \"m\"\nbase_url = \"" + server.BaseURL() + "\"\nmax_output_tokens = 20000\n[compaction]\nstrategy = \"none\"\n" + s.more
	if err := os.WriteFile(filepath.Join(dir, "p.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env := func(string) string { return "" }
	p, err := profile.Load("./p.toml", profile.Options{Dir: dir, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	if s.store == nil {
		s.store = memlog.New()
	}
	h, err := host.Create(t.Context(), host.Config{Profile: p, Store: s.store, Workspace: dir, NotesHome: dir, Version: "test",
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)), Env: env}, "the task")
	if err != nil {
		t.Fatal(err)
	}
	m := &home{Host: h, t: t, store: s.store}
	t.Cleanup(m.close)
	return m
}

func (h *home) close() {
	h.t.Helper()
	if err := h.Close(context.Background()); err != nil {
		h.t.Error(err)
	}
}

// lend is what a plugin is lent of a session.
func (h *home) lend() session.Access { return h.Agent.Access("test") }

func (h *home) spawn(task string) session.Child {
	h.t.Helper()
	c, err := h.lend().Spawn(h.t.Context(), session.Spawn{Task: task, Label: "a job"})
	if err != nil {
		h.t.Fatal(err)
	}
	return c
}

// run takes turns until nothing is owed and nobody is at work.
func (h *home) run() session.Reason {
	h.t.Helper()
	reason, failure, err := h.Agent.Run(h.t.Context())
	if err != nil {
		h.t.Fatal(err, failure)
	}
	return reason
}

// events are those of a kind in a session's log, which is held against its rules.
func events[T any](h *home, id string, kind session.Kind) (list []T) {
	h.t.Helper()
	r, err := h.store.View(context.Background(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	defer r.Close()
	for e, err := range r.Read(context.Background(), session.Query{Kinds: []session.Kind{kind}}) {
		if err != nil {
			h.t.Fatal(err)
		}
		p, err := session.Decode[T](e)
		if err != nil {
			h.t.Fatal(err)
		}
		list = append(list, p)
	}
	violations, err := fold.Check(context.Background(), r)
	if err != nil || len(violations) > 0 {
		h.t.Errorf("log of %s: %v, %+v", id, err, violations)
	}
	return list
}

// heard are the messages of the host that a session was shown.
func (h *home) heard(id string) (texts []string) {
	for _, m := range events[session.Message](h, id, session.KindMessageUser) {
		if m.Source == session.SourceHost {
			texts = append(texts, m.Message.Text())
		}
	}
	return texts
}

// last is the text of the last message of a request.
func last(req llm.Request) string { return req.Messages[len(req.Messages)-1].Text() }

// until waits for something that comes soon.
func until(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !so(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited for half a minute in vain")
		}
	}
}
