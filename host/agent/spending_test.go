package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// TestC139_LimitsCountTheWholeTree: what relatives have used binds this session too,
// also what those had used that settled before it was opened.
func TestC139_LimitsCountTheWholeTree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ settled, relative int }{"settled before": {200, 0}, "at work": {0, 200}, "both": {100, 100}} {
		s := newSetup(t, says("one"), says("two"))
		events := []session.Event{
			session.New(session.KindChildSpawned, session.ChildSpawned{ID: "c", Depth: 1}),
			session.New(session.KindChildSettled, session.ChildSettled{ID: "c", Reason: session.ReasonCompleted, Usage: llm.Usage{Input: c.settled}}),
		}
		if _, err := s.log.Append(t.Context(), session.Batch{Head: 1, Events: events}); err != nil {
			t.Fatal(err)
		}
		s.options.Spending = agent.NewSpending()
		s.options.Spending.Book("another", llm.Usage{Output: c.relative - 1})
		s.options.Limits = agent.Limits{Tokens: 200}
		s.completed("task")
		s.options.Spending.Book("another", llm.Usage{Output: c.relative})
		if reason, failure := s.run("again"); reason != session.ReasonLimit || failure.Code != "LIMIT_TOKENS" {
			t.Errorf("%s: the second run ended %s, %+v", name, reason, failure)
		}
	}
}

// TestL7_L16_ACancelWhileWaitingIsACancel: no turn tells of it, but the run does, also
// where the cancel meets the question what is waited for.
func TestL7_L16_ACancelWhileWaitingIsACancel(t *testing.T) {
	t.Parallel()
	for name, asking := range map[string]bool{"waiting": false, "asking": true} {
		ctx, cancel := context.WithCancel(t.Context())
		s := newSetup(t, says("one"))
		asked := 0
		s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.Idle}, idle: func() (hook.IdleDecision, error) {
			asked++
			switch {
			case asked == 1 && !asking:
				time.AfterFunc(50*time.Millisecond, cancel)
			case asked == 2:
				cancel()
				return hook.IdleDecision{}, ctx.Err()
			}
			return hook.IdleDecision{Wait: "a job"}, nil
		}}}
		s.open()
		if err := s.agent.Prompt(t.Context(), "task"); err != nil {
			t.Fatal(err)
		}
		reason, failure, err := s.agent.Run(ctx)
		if err != nil || reason != session.ReasonCancelled || failure != nil {
			t.Errorf("%s: ended %s, %+v, %v", name, reason, failure, err)
		}
		cancel()
	}
}
