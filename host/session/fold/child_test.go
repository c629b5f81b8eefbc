package fold_test

import (
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/memlog"
)

// TestS3_ChildrenAreFoldedAndSettleOnce: usage adds up over the times that a subagent
// worked, and a second end of the same work breaks a rule.
func TestS3_ChildrenAreFoldedAndSettleOnce(t *testing.T) {
	t.Parallel()
	spawned := func(again bool) session.Event {
		return session.New(session.KindChildSpawned, session.ChildSpawned{ID: "c", Label: "l", Depth: 1, Again: again})
	}
	settled := func(reason session.Reason, input int) session.Event {
		return session.New(session.KindChildSettled, session.ChildSettled{ID: "c", Reason: reason, Usage: llm.Usage{Input: input}})
	}
	for name, c := range map[string]struct {
		events     []session.Event
		child      session.Child
		violations int
	}{
		"at work": {[]session.Event{spawned(false)}, session.Child{ID: "c", Label: "l", Depth: 1, State: session.StateRunning}, 0},
		"ended twice, begun twice": {[]session.Event{spawned(false), settled(session.ReasonError, 5), spawned(true), settled(session.ReasonCompleted, 7)},
			session.Child{ID: "c", Label: "l", Depth: 1, State: session.StateSettled, Reason: session.ReasonCompleted, Usage: llm.Usage{Input: 12}}, 0},
		"ended twice, begun once": {[]session.Event{spawned(false), settled(session.ReasonError, 5), settled(session.ReasonError, 5)},
			session.Child{ID: "c", Label: "l", Depth: 1, State: session.StateSettled, Reason: session.ReasonError, Usage: llm.Usage{Input: 10}}, 1},
		"begun twice": {[]session.Event{spawned(false), spawned(true)}, session.Child{ID: "c", Label: "l", Depth: 1, State: session.StateRunning}, 1},
	} {
		log, err := memlog.New().Create(t.Context(), session.Created{ID: "s"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := log.Append(t.Context(), session.Batch{Head: 1, Events: c.events}); err != nil {
			t.Fatal(err)
		}
		s, err := fold.Full(t.Context(), log)
		if err != nil || len(s.Children) != 1 || s.Children[0] != c.child || len(s.Running()) == 1 != (c.child.State == session.StateRunning) {
			t.Errorf("%s: %+v, %v", name, s.Children, err)
		}
		if v, err := fold.Check(t.Context(), log); err != nil || len(v) != c.violations {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}
