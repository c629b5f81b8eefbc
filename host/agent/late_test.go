package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// lateSetup is a session whose first compaction takes long enough for the person to
// say "wait" meanwhile; look sees what hooks are shown before each step.
func lateSetup(t *testing.T, look func(pending []hook.Pending) hook.StepDecision, answers ...answerFunc) *setup {
	t.Helper()
	s := newSetup(t, append([]answerFunc{calls(`a big {}`)}, answers...)...)
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		if err := s.agent.Steer(ctx, "wait"); err != nil {
			t.Error(err)
		}
		return wipe("go on")(ctx, in)
	}})
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.BeforeStep}, before: func(pending []hook.Pending) (hook.StepDecision, error) { return look(pending), nil }}}
	return s
}

// C027, C097: what arrives while a compaction is under way is in the request that
// follows it, once, behind what the step had before, and hooks have seen it.
func TestK4_C097_WhatArrivesDuringACompactionIsInTheNextRequest(t *testing.T) {
	t.Parallel()
	var seen []string
	s := lateSetup(t, func(pending []hook.Pending) (d hook.StepDecision) {
		for _, p := range pending {
			seen = append(seen, p.Text)
			d.Inject = append(d.Inject, "about "+p.Text)
		}
		return d
	}, says("done"))
	s.completed("task")
	shown := s.shown(1)
	if got := shown[len(shown)-2:]; !slices.Equal(got, []string{"user: wait", "user: about wait"}) || strings.Count(strings.Join(shown, "|"), "user: wait") != 1 {
		t.Errorf("the request after the compaction shows %q", shown)
	}
	if !slices.Equal(seen, []string{"task", "wait"}) || s.count(session.KindCompactionEnded) != 1 || s.count(session.KindInboxClaimed) != 2 {
		t.Errorf("hooks saw %q; %s", seen, s.kinds())
	}
}

// A hook that rejects it ends the turn, as it would have a step later.
func TestK4_C097_WhatArrivesDuringACompactionMayBeRejected(t *testing.T) {
	t.Parallel()
	s := lateSetup(t, func(pending []hook.Pending) hook.StepDecision {
		if len(pending) > 0 && pending[0].Text == "wait" {
			return hook.StepDecision{Reject: "nobody waits here"}
		}
		return hook.StepDecision{}
	})
	if reason, failure := s.run("task"); reason != session.ReasonBlocked || failure == nil || !strings.Contains(failure.Message, "nobody waits here") {
		t.Errorf("ended %s, %+v", reason, failure)
	}
	if len(s.model.requests) != 1 {
		t.Errorf("%d requests", len(s.model.requests))
	}
}
