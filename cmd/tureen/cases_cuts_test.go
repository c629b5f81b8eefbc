package main_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/prune"
	"github.com/tureen-host/tureen/compaction/summary"
	"github.com/tureen-host/tureen/compaction/truncate"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/memlog"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// engines are the strategies that ship, in this process.
func engines(t *testing.T) map[string]compaction.Strategy {
	t.Helper()
	tree, err := notes.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	workspace := t.TempDir()
	return map[string]compaction.Strategy{
		"summary": summary.New(summary.Config{}), "prune": prune.New(prune.Config{}), "truncate": truncate.New(truncate.Config{}),
		"notesoup": notesoup.New(notesoup.Config{Carry: notesoup.CarryRequest}, func(s compaction.Session) (*notes.Store, error) {
			return tree.Store(notes.Who{Session: s.ID, Created: s.Created, Agent: s.Agent, Provider: s.Provider, Model: s.Model, Workspace: workspace})
		}),
	}
}

// strict is a model that condenses, or says that it is done; it refuses what cannot be
// sent, and has every so many requests judged by the strict server too.
type strict struct {
	*trajectory
	server   llm.Model
	every    int
	asked    int
	requests []llm.Request // since the last cut
}

// Stream implements llm.Model.
func (s *strict) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	r.Messages = slices.Clone(r.Messages)
	s.requests = append(s.requests, r)
	if err := errors.Join(llm.Validate(r.Messages), paired(r.Messages)); err != nil {
		return failed(&llm.Error{Code: llm.CodeInvalidRequest, Message: err.Error()})
	}
	if s.asked++; s.asked%s.every == 0 {
		r.Model = "scripted"
		for _, err := range s.server.Stream(ctx, r) {
			if err != nil {
				return failed(err)
			}
		}
	}
	return answered(llm.Answer{Message: llm.Text(llm.RoleAssistant, "So far so good."), Stop: llm.StopEnd})
}

func failed(err error) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) { yield(llm.Chunk{}, err) }
}

// paired tells of a batch that is not answered whole, right behind it and in order.
func paired(messages []*llm.Message) error {
	for i := 0; i < len(messages); i++ {
		calls := messages[i].Calls()
		for n, c := range calls {
			if i+1+n >= len(messages) || messages[i+1+n].Role != llm.RoleTool || messages[i+1+n].CallID != c.ID {
				return fmt.Errorf("message %d: call %s has no result in its place", i, c.ID)
			}
		}
		if i += len(calls); i+1 < len(messages) && messages[i+1].Role == llm.RoleTool {
			return fmt.Errorf("message %d: a result that nobody asked for", i+1)
		}
	}
	return nil
}

// A recorded session, cut behind every message that it ever showed, past its line: each
// strategy makes room, or says that it cannot, and the next request is whole.
func TestP1_C032_EveryCutOfRecordedSessions(t *testing.T) {
	t.Parallel()
	for name, tr := range trajectories(t) {
		if name == longest { // for the soak
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr.cutEverywhere(t)
		})
	}
}

// longest is a recording with so many cuts that it takes minutes.
const longest = "pi-port-tui-selectors"

func (tr *trajectory) cutEverywhere(t *testing.T) {
	t.Helper()
	events := tr.play(t)
	for strategy, engine := range engines(t) {
		server, stats := strictServer(t)
		c := &cutter{model: &strict{trajectory: tr, server: server, every: 10}, name: strategy, engine: engine}
		for i, e := range events {
			if e.Op != nil {
				c.cut(t, events[:i+1])
			}
		}
		t.Logf("%s: %d cuts, %d compactions", strategy, c.cuts, c.applied)
		if n := stats.Stats(); c.applied == 0 || n.Refused > 0 || n.Requests == 0 {
			t.Errorf("%s: %d compactions in %d cuts; %+v", strategy, c.applied, c.cuts, n)
		}
	}
}

// cutter goes on with a session that is cut somewhere.
type cutter struct {
	model         *strict
	name          string
	engine        compaction.Strategy
	cuts, applied int
}

// leastLine is twice what no strategy can make room of, in tokens, and some more.
const leastLine = 6000

// cut resumes what is left of a session and has it compacted: at every other cut by
// pressure, where there is enough for one, else by hand.
func (c *cutter) cut(t *testing.T, events []session.Event) {
	t.Helper()
	c.cuts++
	store := memlog.New()
	if err := store.Import(t.Context(), trajectoryID, all(events), nil); err != nil {
		t.Fatal(err)
	}
	log, err := store.Open(t.Context(), trajectoryID)
	if err != nil {
		t.Fatal(err)
	}
	state, err := fold.Full(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	line := max(leastLine, state.Surface.Tokens/3)
	byHand := c.cuts%2 == 1 || state.Surface.Tokens <= line
	budget, err := compaction.Resolve(compaction.BudgetConfig{TriggerTokens: &line}, 4*line, 100, "test")
	if err != nil {
		t.Fatal(err)
	}
	a := c.model.open(t, log, agent.Options{Model: c.model, Strategy: agent.Strategy{Strategy: c.engine, Name: c.name, Plugin: c.name, Auto: !byHand}, Budget: budget})
	c.model.requests = nil
	if byHand {
		if _, err := a.Compact(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Prompt(t.Context(), "Go on."); err != nil {
		t.Fatal(err)
	}
	if reason, failure, err := a.Run(t.Context()); err != nil || reason != session.ReasonCompleted {
		t.Fatalf("%s, event %d: %s %+v %v", c.name, len(events), reason, failure, err)
	}
	c.audit(t, log, len(events))
}

func all(events []session.Event) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// audit looks at what came behind the cut.
func (c *cutter) audit(t *testing.T, log session.Log, from int) {
	t.Helper()
	for e, err := range log.Read(t.Context(), session.Query{After: int64(from)}) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case session.KindCompactionEnded:
			c.applied++
			if p, _ := session.Decode[session.CompactionEnded](e); p.Kind != string(compaction.KindReset) && p.TokensAfter >= p.TokensBefore {
				t.Errorf("%s, event %d: %d tokens became %d", c.name, from, p.TokensBefore, p.TokensAfter)
			}
		case session.KindCompactionFailed:
			if p, _ := session.Decode[session.CompactionFailed](e); !strings.Contains(p.Error, "nothing to compact") && !strings.Contains(p.Error, "not smaller") {
				t.Errorf("%s, event %d: %s", c.name, from, p.Error)
			}
		}
	}
	last := c.model.requests[len(c.model.requests)-1]
	if tail := latest(last.Messages); last.Purpose == llm.PurposeCompaction || !strings.Contains(tail, "Go on.") {
		t.Errorf("%s, event %d: the last request ends with %.300q", c.name, from, tail)
	}
	if c.cuts%20 == 0 {
		if broken, err := fold.Check(t.Context(), log); err != nil || len(broken) > 0 {
			t.Errorf("%s, event %d: %v, %v", c.name, from, broken, err)
		}
	}
}

// latest is what a request says behind the last answer and result in it: what the
// person said may be followed by a context or a mark.
func latest(messages []*llm.Message) (tail string) {
	for i := len(messages) - 1; i >= 0 && messages[i].Role == llm.RoleUser; i-- {
		tail = messages[i].Text() + "\n" + tail
	}
	return tail
}
