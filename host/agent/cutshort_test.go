package agent_test

import (
	"context"
	"testing"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// cut answers with a text that is cut off at the output limit.
func cut(text string) answerFunc {
	return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		yield(llm.Chunk{Answer: &llm.Answer{Message: llm.Text(llm.RoleAssistant, text), Stop: llm.StopMaxTokens}}, nil)
	}
}

// After a turn that was cut off or blocked a run goes on where a plugin wants another
// turn, and only there (P4).
func TestP4_ATurnCutShortIsFollowedWhereAPluginWantsIt(t *testing.T) {
	t.Parallel()
	followUp := hook.IdleDecision{FollowUp: "go on"}
	for name, c := range map[string]struct {
		blocked  bool // the first turn is, and not cut off
		say      []hook.IdleDecision
		reason   session.Reason
		failure  string
		turns    int
		warnings int
	}{
		"cut":                    {false, nil, session.ReasonMaxTokens, "", 1, 0},
		"blocked":                {true, nil, session.ReasonBlocked, "LOOP", 1, 0},
		"cut, then followed":     {false, []hook.IdleDecision{followUp}, session.ReasonCompleted, "", 2, 0},
		"blocked, then followed": {true, []hook.IdleDecision{followUp}, session.ReasonCompleted, "", 2, 0},
		"a wait is no wish":      {false, []hook.IdleDecision{{Wait: "a job"}, followUp}, session.ReasonMaxTokens, "", 1, 0},
		"a wait with a wish":     {false, []hook.IdleDecision{{Wait: "a job", FollowUp: "too early"}, followUp}, session.ReasonCompleted, "", 2, 0},
		"given up":               {true, []hook.IdleDecision{{Unfinished: "goal g1 is blocked"}}, session.ReasonBlocked, "LOOP", 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := cut("half of")
			if c.blocked {
				first = says("Now let me read it.")
			}
			s := newSetup(t, first, says("all of it"))
			stopped := 0
			s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.TurnStopping, hook.Idle},
				stopping: func() (d hook.StopDecision, err error) {
					if stopped++; c.blocked && stopped == 1 {
						d.Stop = &hook.Stop{Code: "LOOP", Message: "round and round"}
					}
					return d, nil
				},
				idle: func() (d hook.IdleDecision, err error) {
					if len(c.say) > 0 {
						d, c.say = c.say[0], c.say[1:]
					}
					return d, nil
				}}}
			reason, f := s.run("go")
			if reason != c.reason || (f == nil) != (c.failure == "") || f != nil && f.Code != c.failure {
				t.Errorf("the run ended %s, %+v, want %s %q", reason, f, c.reason, c.failure)
			}
			if n, w := s.count(session.KindTurnEnded), s.count(session.KindWarning); n != c.turns || w != c.warnings {
				t.Errorf("%d turns and %d warnings, want %d and %d", n, w, c.turns, c.warnings)
			}
			if c.turns == 2 && s.last(1) != "user: go on" {
				t.Errorf("the second turn was asked with %q", s.last(1))
			}
		})
	}
}
