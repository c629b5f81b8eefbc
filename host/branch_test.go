package host_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// tap keeps the requests of a home.
type tap struct {
	mu   sync.Mutex
	reqs []llm.Request
}

func (r *tap) take(req llm.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reqs = append(r.reqs, req)
}

// with are the requests that have a text.
func (r *tap) with(text string) (list []llm.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, req := range r.reqs {
		if slices.ContainsFunc(req.Messages, func(m *llm.Message) bool { return strings.Contains(m.Text(), text) }) {
			list = append(list, req)
		}
	}
	return list
}

func encoded(t *testing.T, messages []*llm.Message) (list []string) {
	t.Helper()
	for _, m := range messages {
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(b))
	}
	return list
}

// surfaceAt is the surface of a session at an event of its log.
func (h *home) surfaceAt(id string, at int64) []*llm.Message {
	h.t.Helper()
	r, err := h.store.View(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	defer r.Close()
	s := fold.New()
	for e, err := range r.Read(h.t.Context(), session.Query{Before: at + 1}) {
		if err == nil {
			err = s.Apply(e)
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
	return s.Surface.Messages(0)
}

func (h *home) say(text string) {
	h.t.Helper()
	if err := h.Agent.Prompt(h.t.Context(), text); err != nil {
		h.t.Fatal(err)
	}
	h.run()
}

// TestS2_AForkBeginsWithTheTurnsThatEnded: it is asked with its parent's surface, byte
// for byte, then with its task; of the turn under way it sees nothing, and what waits
// for the parent, or works for it, is not its own. Woken up it is still itself.
func TestS2_AForkBeginsWithTheTurnsThatEnded(t *testing.T) {
	t.Parallel()
	seen := &tap{}
	var h *home
	var child session.Child
	h = newHome(t, settings{store: sqlite(t), reply: func(req llm.Request) scripted.Reply {
		seen.take(req)
		switch text := last(req); {
		case strings.HasSuffix(text, "TURN TWO"):
			c, err := h.lend().Spawn(t.Context(), session.Spawn{Task: "SIDE TASK", Label: "side", Fork: true, Data: json.RawMessage(`{"n":1}`)})
			if err != nil {
				t.Error(err)
			}
			child = c
			return scripted.Reply{Text: "Started."}
		case strings.HasSuffix(text, "SIDE TASK"):
			return scripted.Reply{Text: "The word is PELICAN."}
		}
		return scripted.Reply{Text: "Noted."}
	}})
	sibling := h.spawn("FIRST CHILD")
	h.say("The word is PELICAN.")
	h.say("TURN TWO")

	created := events[session.Created](h, child.ID, session.KindSessionCreated)[0]
	if created.Parent != h.ID() || created.Depth != 1 || created.Origin == nil || created.Origin.Session != h.ID() ||
		created.Origin.How != session.HowFork || created.Title != "side" || string(created.Spawn) != `{"n":1}` || created.ID != child.ID {
		t.Fatalf("created %+v, %+v", created, created.Origin)
	}
	before := encoded(t, h.surfaceAt(h.ID(), created.Origin.Seq))
	asked := seen.with("SIDE TASK")
	if len(asked) != 1 {
		t.Fatalf("the fork was asked %d times", len(asked))
	}
	got := encoded(t, asked[0].Messages)
	if len(before) < 3 || len(got) <= len(before) || !slices.Equal(got[:len(before)], before) {
		t.Errorf("the fork is asked with\n%s\nwhere its parent had\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
	all := strings.Join(got[len(before):], "\n")
	if !strings.Contains(all, "You are a subagent") || !strings.Contains(all, "copy of the conversation") || strings.Contains(all, "TURN TWO") {
		t.Errorf("what follows: %s", all)
	}
	if settled := h.heard(h.ID()); !strings.Contains(strings.Join(settled, "\n"), "The word is PELICAN.") {
		t.Errorf("the parent hears %q", settled)
	}
	// It is told more, and its parent's other subagent is none of its own.
	if err := h.lend().Tell(t.Context(), child.ID, "once more"); err != nil {
		t.Fatal(err)
	}
	h.run()
	more := seen.with("once more")
	if again := encoded(t, more[0].Messages); len(more) == 0 || !slices.Equal(again[:len(got)], got) {
		t.Errorf("woken up it is asked with %q", again)
	}
	h.close()
	c := h.openChild(child.ID)
	if list, err := c.Agent.Access("test").Children(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("the fork's subagents: %+v, %v", list, err)
	}
	if err := c.Agent.Access("test").Tell(t.Context(), sibling.ID, "hello"); err == nil || !strings.Contains(err.Error(), "neither a subagent") {
		t.Errorf("told a sibling: %v", err)
	}
}

// TestS2_AForkOfNothingIsRefused: with a code, and nothing is left of it.
func TestS2_AForkOfNothingIsRefused(t *testing.T) {
	t.Parallel()
	h := newHome(t, settings{reply: func(llm.Request) scripted.Reply { return scripted.Reply{Text: "Done."} }})
	_, err := h.lend().Spawn(t.Context(), session.Spawn{Task: "t", Fork: true})
	var own *sdk.Error
	if !errors.As(err, &own) || own.Code != "FORK_NOTHING" || !strings.Contains(own.Message, "use subagent") {
		t.Errorf("refused with %v", err)
	}
	if list, err := h.store.List(t.Context()); err != nil || len(list) != 1 || len(h.Agent.Children()) != 0 {
		t.Errorf("left: %+v, %+v, %v", list, h.Agent.Children(), err)
	}
}

// TestS2_C139_AForkPaysForItselfAlone: what its parent had used before is not counted
// twice, neither in its settlement nor for the limit of the tree; and the limit binds
// it.
func TestS2_C139_AForkPaysForItselfAlone(t *testing.T) {
	t.Parallel()
	usage := &scripted.Usage{PromptTokens: 90, CompletionTokens: 10}
	h := newHome(t, settings{more: "[limits]\nmax_tokens = 750\n", reply: func(req llm.Request) scripted.Reply {
		return scripted.Reply{Text: "Done.", Usage: usage}
	}})
	h.spawn("FIRST CHILD")
	for range 3 {
		h.say("go on") // 500 or 600 so far: the child's end may open a turn of its own
	}
	used := h.Agent.Usage().Total()
	c, err := h.lend().Spawn(t.Context(), session.Spawn{Task: "SIDE TASK", Fork: true})
	if err != nil {
		t.Fatal(err)
	}
	h.run()
	settled := events[session.ChildSettled](h, h.ID(), session.KindChildSettled)
	fork := settled[len(settled)-1]
	if fork.ID != c.ID || fork.Reason != session.ReasonCompleted || fork.Usage.Total() != 100 {
		t.Errorf("settled %+v after %d", fork, used)
	}
	created := events[session.Created](h, c.ID, session.KindSessionCreated)[0]
	if created.Origin.Children != 1 || created.Origin.Used.Total() != used-100 {
		t.Errorf("origin %+v", created.Origin)
	}
	// The limit is reached by all of them together.
	for range 3 {
		if err := h.Agent.Prompt(t.Context(), "go on"); err != nil {
			t.Fatal(err)
		}
		if h.run() == session.ReasonLimit {
			break
		}
	}
	if total := h.Agent.Usage().Total(); total < 750 || total > 850 {
		t.Errorf("%d tokens were used under a limit of 750", total)
	}
	if _, err := h.lend().Spawn(t.Context(), session.Spawn{Task: "ONE MORE", Fork: true}); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool {
		list := h.Agent.Children()
		return list[len(list)-1].State == session.StateSettled
	})
	if list := h.Agent.Children(); list[len(list)-1].Reason != session.ReasonLimit || list[len(list)-1].Usage.Total() != 0 {
		t.Errorf("a fork past the limit: %+v", list[len(list)-1])
	}
}

// TestS2_WhatWaitsForTheParentIsNotTheForks: a message that nobody has read yet stays
// with the parent.
func TestS2_WhatWaitsForTheParentIsNotTheForks(t *testing.T) {
	t.Parallel()
	seen := &tap{}
	var h *home
	h = newHome(t, settings{reply: func(req llm.Request) scripted.Reply {
		seen.take(req)
		if strings.HasSuffix(last(req), "FIRST") {
			if err := h.Agent.Prompt(t.Context(), "LATER"); err != nil {
				t.Error(err)
			}
		}
		if strings.HasSuffix(last(req), "LATER") {
			if _, err := h.lend().Spawn(t.Context(), session.Spawn{Task: "SIDE TASK", Fork: true}); err != nil {
				t.Error(err)
			}
		}
		return scripted.Reply{Text: "Done."}
	}})
	h.say("FIRST")
	if later := seen.with("LATER"); len(later) == 0 {
		t.Fatal("it was not read at all")
	}
	for _, req := range seen.with("SIDE TASK") {
		if strings.Contains(strings.Join(encoded(t, req.Messages), "\n"), "LATER") {
			t.Errorf("the fork reads what its parent was told")
		}
	}
}

// openChild opens a subagent's session by itself, once its home is closed.
func (h *home) openChild(id string) *home {
	h.t.Helper()
	opened, err := host.Resume(h.t.Context(), h.Config, id)
	if err != nil {
		h.t.Fatal(err)
	}
	c := &home{Host: opened, t: h.t, store: h.store}
	h.t.Cleanup(c.close)
	return c
}

func sqlite(t *testing.T) session.Store {
	t.Helper()
	s, err := sqlitelog.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}
