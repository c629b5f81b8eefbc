package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// cut returns a setup whose log is what s has stored up to and including the
// n-th event of a kind, as after a crash, with the same tools and strategy.
func (s *setup) cut(k session.Kind, n int, answers ...answerFunc) *setup {
	s.t.Helper()
	events := s.events()
	for i, e := range events {
		if e.Kind == k {
			n--
		}
		if n == 0 {
			c := newSetup(s.t, answers...)
			c.tools, c.hooks = s.tools, s.hooks
			c.options.Strategy, c.options.Budget = s.options.Strategy, s.options.Budget
			replay(s.t, c.log, events[1:i+1])
			return c
		}
	}
	s.t.Fatalf("the log lacks %s: %s", k, s.kinds())
	return nil
}

func TestR1_ResumeClosesTheTurnAndDoesNotContinueByItself(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.completed("go")
	c := s.cut(session.KindToolStarted, 1, says("went on"))
	if reason, _ := c.run(""); reason != "" || len(c.model.requests) != 0 {
		t.Fatalf("the resumed agent went on by itself: %q, %d requests", reason, len(c.model.requests))
	}
	ended := one[session.TurnEnded](c, session.KindTurnEnded)
	if !ended.Repaired || ended.Reason != session.ReasonCancelled || ended.Error.Code != "INTERRUPTED" {
		t.Errorf("the cut turn ended %+v", ended)
	}
	c.agent = nil // a second resume finds nothing to repair
	if c.open(); c.count(session.KindTurnEnded) != 1 || c.count(session.KindToolResult) != 1 {
		t.Errorf("repaired twice: %s", c.kinds())
	}
	went, err := c.agent.Continue(t.Context())
	if err != nil || !went {
		t.Fatalf("%v, %v", went, err)
	}
	c.completed("")
	shown := c.shown(0)
	if n := len(shown); !strings.HasPrefix(shown[n-1], "user: The run was interrupted") || !strings.Contains(shown[n-2], "outcome") && !strings.Contains(shown[n-2], "unknown") {
		t.Errorf("the agent was asked with %q", shown)
	}
}

func TestR1_ContinueAddsNothingWhereNothingBrokeOff(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"), says("done"))
	s.open()
	if went, err := s.agent.Continue(t.Context()); err != nil || went {
		t.Errorf("a session without a turn continues: %v, %v", went, err)
	}
	s.completed("go")
	if went, err := s.agent.Continue(t.Context()); err != nil || went {
		t.Errorf("a completed session continues: %v, %v", went, err)
	}
	c := s.cut(session.KindInboxQueued, 1, says("done")) // the prompt waits: it is enough
	c.open()
	if went, err := c.agent.Continue(t.Context()); err != nil || !went {
		t.Errorf("%v, %v", went, err)
	}
	c.completed("")
	if got := strings.Join(c.queued(), "|"); got != "go" {
		t.Errorf("queued %q", got)
	}
}

// What was claimed comes back unless the step that shows it was stored.
func TestR1_InputThatNoStepShowedIsStillQueued(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says(strings.Repeat("abc", 1200)), says("done"), says("done"))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Strategy.Auto = false
	s.completed("first")
	s.agent = nil
	s.options.Strategy.Auto = true // the second turn begins with a compaction, before its step
	s.completed("second")
	started := session.KindTurnStarted
	for _, c := range []*setup{s.cut(started, 2, says("went on")), s.cut(session.KindCompactionEnded, 1, says("went on"))} {
		c.completed("")
		if got := c.last(0); got != "user: second" {
			t.Errorf("the resumed agent was asked with %q", got)
		}
		if n := c.count(session.KindMessageUser); strings.Count(strings.Join(c.shown(0), "|"), "second") != 1 {
			t.Errorf("the prompt is shown more than once: %q (%d)", c.shown(0), n)
		}
	}
}

func armedRun(t *testing.T) *setup {
	s := newSetup(t, calls(`a reset {}`, `b echo {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("st").add(tool.Spec{Name: "reset"}, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "armed", Effects: []tool.Effect{tool.EffectRequestCompaction}, Note: "n"}, nil
	}), newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	withStrategy(s, &strategy{propose: wipe("fresh")})
	return s
}

func TestN12_AnArmThatACrashLeftFiresAtTheFirstStepAfterwards(t *testing.T) {
	t.Parallel()
	s := armedRun(t)
	s.completed("go")
	for _, k := range []session.Kind{session.KindCompactionArmed, session.KindStepEnded} {
		c := s.cut(k, 1, says("went on"), says("again"))
		c.completed("now")
		ended := one[session.CompactionEnded](c, session.KindCompactionEnded)
		shown := c.shown(0)
		if ended.Trigger != session.TriggerRequested || shown[1] != "user: fresh" || c.last(0) != "user: now" {
			t.Errorf("cut at %s: %s compaction, then the model saw %q", k, ended.Trigger, shown)
		}
		c.agent = nil
		c.completed("once more")
		if n := c.count(session.KindCompactionEnded); n != 1 {
			t.Errorf("cut at %s: fired %d times", k, n)
		}
	}
}

func TestN12_ABatchThatWasCutDropsTheRequest(t *testing.T) {
	t.Parallel()
	s := armedRun(t)
	s.completed("go")
	for n, k := range []session.Kind{session.KindToolStarted, session.KindToolResult} {
		c := s.cut(k, 1, says("went on"))
		c.completed("now")
		if c.count(session.KindCompactionEnded) != 0 {
			t.Errorf("cut %d at %s: a request of a cut batch fired", n, k)
		}
	}
}

func TestN14_MarksThatWereShownAreNotShownAgainAfterAResume(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(550))}
	withStrategy(s, &strategy{propose: wipe("x"), opening: compaction.Opening{Marks: []compaction.Mark{{ID: "reminder", Remaining: 1500, Text: "reminder"}}}})
	s.completed("task")
	c := s.cut(session.KindMarkShown, 1, says("went on"))
	c.completed("now")
	if got := strings.Count(strings.Join(c.shown(0), "|"), "user: reminder"); got != 1 || c.count(session.KindMarkShown) != 1 {
		t.Errorf("the mark stands there %d times; %s", got, c.kinds())
	}
}

// What stands at the head of every request is the same after a resume, byte for
// byte, and the runtime context is not said twice (L11, L13, N2).
func TestN2_L13_AResumeKeepsThePrefix(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	withStrategy(s, &strategy{propose: wipe("x"), opening: compaction.Opening{Sections: []compaction.Section{{ID: "boot", Order: 2450, Text: "boot"}}}})
	s.completed("go")
	c := s.cut(session.KindMessageAssistant, 1, says("went on"))
	c.completed("now")
	before, after := s.model.requests[0], c.model.requests[0]
	for i, m := range before.Messages {
		if got := after.Messages[i]; got.Role != m.Role || got.Text() != m.Text() {
			t.Errorf("message %d was %q and is %q", i, m.Text(), got.Text())
		}
	}
	for _, k := range []session.Kind{session.KindMessageSystem, session.KindRequestHeader} {
		if n := c.count(k); n != 1 {
			t.Errorf("%d events of %s", n, k)
		}
	}
	if !slices.EqualFunc(before.Tools, after.Tools, func(a, b llm.Tool) bool { return a.Name == b.Name && string(a.Schema) == string(b.Schema) }) {
		t.Error("the tools are others")
	}
}

// A request shows nothing that a crash could take back (L17): the log behind it
// folds to the same messages.
func TestL17_WhatARequestShowsIsDurable(t *testing.T) {
	t.Parallel()
	var s *setup
	durable := func(next answerFunc) answerFunc {
		return func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
			state, err := fold.Full(ctx, s.log)
			if err != nil {
				t.Error(err)
			}
			if stored := state.Surface.Messages(0); len(stored) != len(r.Messages) {
				t.Errorf("request %d shows %d messages, the log has %d", len(s.model.requests), len(r.Messages), len(stored))
			}
			next(ctx, r, yield)
		}
	}
	overflow := fails(&llm.Error{Code: llm.CodeOverflow, Message: "too long"})
	s = newSetup(t, durable(calls(`a note {}`)), durable(fails(&llm.Error{Code: llm.CodeServer, Message: "busy"})), durable(overflow), durable(calls(`b note {}`)), durable(says("done")))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "note"}, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "r", Contexts: []string{"mind the gap"}}, nil
	})}
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Retry = agent.Retry{Max: 2, Initial: time.Microsecond}
	s.completed("go")
	if len(s.model.requests) != 5 {
		t.Errorf("%d requests", len(s.model.requests))
	}
}
