package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

func TestC10_AWindowBelowAnAcceptedPromptIsNotLearned(t *testing.T) {
	t.Parallel()
	s := newSetup(t, counted("one", 6535), tooLong(1024, 9000), says("two"))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Budget = wide
	s.completed("go")
	s.completed("go on")
	w, n := s.warned("WINDOW_DISTRUSTED")
	if s.count(session.KindWindowLearned) != 0 || s.agent.Meter().Window != 20000 || n != 1 || !strings.Contains(w.Message, "6535") {
		t.Errorf("the window is %d, %d warnings %+v", s.agent.Meter().Window, n, w)
	}
}

func TestC10_AWindowThatHoldsNothingLocksNoSession(t *testing.T) {
	t.Parallel()
	s := newSetup(t, tooLong(1024, 0), says("done"), says("more"))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Budget, s.options.Persona = wide, agent.Persona{Prefix: strings.Repeat("abc", 2000)}
	s.completed("go")
	if _, n := s.warned("WINDOW_DISTRUSTED"); n != 1 || s.count(session.KindWindowLearned) != 0 {
		t.Errorf("%d warnings: %s", n, s.kinds())
	}
	s.agent = nil
	s.completed("and on")
	if s.agent.Meter().Window != 20000 {
		t.Errorf("resumed with a window of %d", s.agent.Meter().Window)
	}
}

func TestC10_ALearnedWindowIsUnlearned(t *testing.T) {
	t.Parallel()
	learned := func(answers ...answerFunc) *setup {
		s := newSetup(t, append([]answerFunc{tooLong(4096, 0), says("done")}, answers...)...)
		withStrategy(s, &strategy{propose: wipe("short")})
		s.options.Budget, s.options.Info.ContextWindow = wide, 20000
		s.completed("go")
		if s.agent.Meter().Window != 4096 {
			t.Fatalf("the window is %d", s.agent.Meter().Window)
		}
		s.agent = nil
		return s
	}
	s := learned(counted("read all", 6000))
	s.completed("on") // an answer to more than it holds
	if s.agent.Meter().Window != 20000 || s.count(session.KindAttempt) != 1 {
		t.Errorf("answered: the window is %d: %s", s.agent.Meter().Window, s.kinds())
	}
	s.agent = nil
	if s.open(); s.agent.Meter().Window != 20000 {
		t.Errorf("answered and resumed: the window is %d", s.agent.Meter().Window)
	}
	s = learned() // a person's number
	s.options.Opened.Window = 20000
	if s.open(); s.agent.Meter().Window != 20000 {
		t.Errorf("named: the window is %d", s.agent.Meter().Window)
	}
	s.agent, s.options.Opened.Window = nil, 0
	if s.open(); s.agent.Meter().Window != 20000 {
		t.Errorf("named once: the window is %d", s.agent.Meter().Window)
	}
}

func TestN21_N15_AStoppingQuestionIsPutOnlyWhereSomethingIsProposed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		propose func(context.Context, compaction.Input) (compaction.Proposal, error)
		asked   int
	}{{"nothing", nothing, 0}, {"a reset", wipe("short"), 1}} {
		s := newSetup(t, says(strings.Repeat("abc", 1200)), says("continued"))
		withStrategy(s, &strategy{propose: c.propose})
		s.options.Strategy.Ask = true
		var asked []session.Question
		s.options.Asker = chooses(0, &asked)
		s.completed("task")
		if len(asked) != c.asked || s.count(session.KindCompactionEnded) != c.asked || s.count(session.KindCompactionFailed) != 0 {
			t.Errorf("%s: asked %d times: %s", c.name, len(asked), s.kinds())
		}
	}
}

func TestN21_C4_AYesWhoseCompactionFailedWaitsAsANo(t *testing.T) {
	t.Parallel()
	s := asking(t, calls(`b echo {}`), calls(`c echo {}`), says("done"))
	s.options.Strategy.Strategy = &strategy{propose: nothing}
	var asked []session.Question
	s.options.Asker = chooses(0, &asked)
	s.completed("task")
	if len(asked) != 1 || s.count(session.KindCompactionFailed) != 1 {
		t.Errorf("asked %d times: %s", len(asked), s.kinds())
	}
}

// What the endpoint counted of dense text holds for the tokens before, and for the
// estimates that follow.
func TestC2_C10_ARefusalTeachesTheRatio(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("abc", 3000)
	for _, c := range []struct {
		counted, low, high int
	}{{6600, 6600, 6600}, {100, 3000, 3300}, {90000, 3000, 3300}} { // too few and too many are not believed
		s := newSetup(t, tooLong(0, c.counted))
		s.options.Budget = wide
		if reason, _ := s.run(long); reason != session.ReasonError {
			t.Fatal(reason)
		}
		if m := s.agent.Meter(); m.Measured < c.low || m.Measured > c.high {
			t.Errorf("%d counted: %+v", c.counted, m)
		}
		if got := one[session.Attempt](s, session.KindAttempt).Counted; got != c.counted {
			t.Errorf("%d counted, not %d", got, c.counted)
		}
		if rough := s.state().Estimate(); rough < c.low || rough > c.high {
			t.Errorf("%d counted: an estimate of %d", c.counted, rough)
		}
	}
}

func TestC16_WhatABrokenCallCostIsUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    *llm.Error
		priced bool
	}{
		{&llm.Error{Code: llm.CodeStreamClosed, Message: "broken off"}, false},
		{&llm.Error{Code: llm.CodeServer, Status: 500, Message: "boom"}, false},
		{&llm.Error{Code: llm.CodeInvalidRequest, Status: 400, Message: "no"}, true},
	} {
		s := newSetup(t, calls(`a big {}`), fails(c.err), says("done"))
		s.tools = asking(t).tools
		withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
			if in.Trigger == session.TriggerStopping {
				return compaction.Proposal{}, nil
			}
			_, err := in.Access.Generate(ctx, session.Generate{Purpose: llm.PurposeOther, Append: []*llm.Message{llm.Text(llm.RoleUser, "sum up")}})
			return compaction.Proposal{}, err
		}})
		s.options.Limits.Cost = func(llm.Usage) float64 { return 0 }
		s.completed("task")
		if f := one[session.CompactionFailed](s, session.KindCompactionFailed); f.ModelCalls != 1 || (f.CostUSD != nil) != c.priced {
			t.Errorf("%v: %+v", c.err, f)
		}
	}
}
