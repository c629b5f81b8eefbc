package planning_test

import (
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
)

// left is what the plugin says was begun here and not reached.
func (r *run) left() string {
	r.t.Helper()
	d, err := r.hooks.Idle(r.t.Context(), r.where())
	if err != nil {
		r.t.Fatal(err)
	}
	return d.Unfinished
}

// reopen has another host take the session.
func (r *run) reopen() {
	r.t.Helper()
	r.book.add(session.KindSessionOpened, session.Opened{})
	r.restart()
}

// again begins one more round and ends it.
func (r *run) again(work func()) {
	r.t.Helper()
	r.idle()
	r.round(work)
}

// However a goal of this run comes to a halt, the run says which, why and how to go on.
func TestP5_AGoalThatStopsUnreachedIsTold(t *testing.T) {
	t.Parallel()
	round := func(reason session.Reason, failure *session.Failure) func(r *run) {
		return func(r *run) { r.turn(""); r.works(); r.end(reason, failure) }
	}
	for name, c := range map[string]struct {
		config string
		do     func(r *run)
		says   []string
	}{
		"no progress": {"", func(r *run) { r.round(nil); r.again(nil); r.again(nil) }, []string{"is blocked after round 3: no tool call in 3 rounds"}},
		"round limit": {`{"max_rounds": 1}`, func(r *run) { r.round(r.works) }, []string{"is blocked after round 1: its rounds are used up, all 1"}},
		"failed":      {"", round(session.ReasonError, &session.Failure{Code: "AUTH", Message: "401: bad\nkey"}), []string{"is failed after round 1: 401: bad key"}},
		"stopped":     {"", round(session.ReasonCancelled, nil), []string{"is paused after round 1: the person ended the step"}},
		"limit":       {"", round(session.ReasonLimit, &session.Failure{Code: "MAX_STEPS"}), []string{"stopped after round 1: the run reached a limit"}},
		"agent blocks": {"", func(r *run) {
			r.round(r.works)
			r.again(r.works)
			r.again(func() {
				r.call("update_goal", object{"action": "blocked", "reason": strings.Repeat("device offline ", 40)})
			})
		}, []string{"is blocked after round 3, as the agent says: device offline device", "…"}},
		"plugin dies": {"", func(r *run) { r.round(r.works); r.restart() }, []string{"stopped after round 1: the plugin was started anew"}},
		"plugin dies, resumed": {"", func(r *run) {
			r.reopen()
			r.steps("", "") // what was queued is overdue
			r.types("/goal resume")
			r.round(r.works)
			r.restart()
		}, []string{"stopped after round 1: the plugin was started anew"}},
		"agent pauses": {"", func(r *run) {
			r.turn("Not today.")
			r.call("update_goal", object{"action": "pause"})
			r.end(session.ReasonCompleted, nil)
		}, []string{"is paused after round 1 by the agent;"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, c.config)
			r.types("/goal Build it " + strings.Repeat("and test it ", 20))
			c.do(r)
			said := r.left()
			want(t, said, append(c.says, `goal g1 "Build it and test it`, "/goal resume goes on")...)
			if len([]rune(said)) > 500 || strings.Contains(said, "\n") {
				t.Errorf("%d bytes are told: %q", len(said), said)
			}
			if again := r.left(); again != said {
				t.Errorf("told anew as %q", again)
			}
			r.types("/goal resume")
			if said := r.left(); said != "" {
				t.Errorf("the goal goes on, and is told as %q", said)
			}
		})
	}
}

// A question and plan mode hold rounds up, which is told as well.
func TestP5_AGoalThatWaitsIsTold(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	r.round(func() {
		r.works()
		r.book.add(session.KindQuestionAnswered, session.Answer{ID: "q1", Outcome: session.OutcomePending})
	})
	want(t, r.left(), `goal g1 "Build it" waits for the answer to a question`)
	r.turn("The second one.")
	r.works()
	r.end(session.ReasonCompleted, nil)
	if said := r.left(); said != "" {
		t.Errorf("a round follows, and %q is told", said)
	}
	r.types("/plan on")
	want(t, r.left(), "waits until plan mode is off", "/plan off")
}

// What was reached, taken away or paused by the person is not told, nor what an
// earlier process left.
func TestP5_WhatIsNotUnfinished(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(r *run){
		"goes on":  func(*run) {},
		"complete": func(r *run) { r.call("update_goal", object{"action": "complete", "evidence": "it runs"}) },
		"clear":    func(r *run) { r.types("/goal clear") },
		"pause":    func(r *run) { r.types("/goal pause") },
		"earlier":  func(r *run) { r.reopen() },
		"earlier, failed": func(r *run) {
			r.idle()
			r.turn("")
			r.end(session.ReasonError, &session.Failure{Code: "AUTH", Message: "401"})
			r.reopen()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, "")
			r.types("/goal Build it")
			r.round(r.works)
			do(r)
			if said := r.left(); said != "" {
				t.Errorf("told as unfinished: %q", said)
			}
		})
	}
}

// A plan that was handed over waits for the person until they say something.
func TestP2_APlanThatWaitsIsTold(t *testing.T) {
	t.Parallel()
	for outcome, waits := range map[session.Outcome]bool{session.OutcomeUnavailable: true, session.OutcomePending: true, session.OutcomeDeclined: false, session.OutcomeAnswered: false} {
		r := start(t, "")
		r.types("/plan on")
		r.turn("Plan it.")
		r.book.answer = session.Answer{Outcome: outcome, Choices: []string{"Keep planning"}}
		r.call("exit_plan_mode", object{"plan": "1. Read"})
		r.end(session.ReasonCompleted, nil)
		if said := r.left(); strings.HasPrefix(said, "the plan waits for the person") != waits {
			t.Errorf("%s: told %q", outcome, said)
		}
		r.turn("Wait a moment.")
		r.end(session.ReasonCompleted, nil)
		if said := r.left(); said != "" {
			t.Errorf("%s: the person spoke, and %q is told", outcome, said)
		}
	}
}
