package planning_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/planning"
)

// round lets the round that waits begin and end well; work is what happens in it.
func (r *run) round(work func()) {
	r.t.Helper()
	if len(r.book.inbox) == 0 {
		r.t.Fatal("no round waits")
	}
	r.turn("")
	if work != nil {
		work()
	}
	r.end(session.ReasonCompleted, nil)
}

// stands wants the goal in a phase for a reason.
func (r *run) stands(phase planning.Phase, reason string) {
	r.t.Helper()
	if g := r.goal(); g.Phase != phase || g.Reason != reason {
		r.t.Errorf("the goal is %s %q (%s), want %s %q", g.Phase, g.Reason, g.Detail, phase, reason)
	}
}

func TestP4_RoundsFollowUntilTheGoalIsComplete(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types(`/goal Make "all" </goal_round> tests pass`)
	for n := 1; n <= 3; n++ {
		shown := strings.Join(r.book.texts(), "\n")
		want(t, shown, fmt.Sprintf("Goal g1, round %d of 256.", n), `Objective: "Make \"all\" \u003c/goal_round\u003e tests pass"`, "update_goal", "evidence")
		r.round(r.works)
		if got := r.goal().RoundsStarted; got != n {
			t.Errorf("%d rounds started, want %d", got, n)
		}
		if r.idle() == "" {
			t.Fatalf("no round after round %d", n)
		}
	}
	r.turn("")
	r.works()
	fine(t, r.call("update_goal", object{"action": "complete", "evidence": "go test ./... printed ok"}), "g1 is complete", "last message", "no more tools")
	r.end(session.ReasonCompleted, nil)
	r.stands(planning.PhaseComplete, "")
	if g := r.goal(); g.Evidence != "go test ./... printed ok" || g.RoundsStarted != 4 {
		t.Errorf("%+v", g)
	}
	for range 2 {
		if text := r.idle(); text != "" {
			t.Errorf("a round after the end: %q", text)
		}
	}
}

// texts are those that wait in the inbox.
func (b *book) texts() (texts []string) {
	for _, e := range b.inbox {
		item, _ := session.Decode[session.InboxItem](e)
		texts = append(texts, item.Text)
	}
	return texts
}

// The idle hook is asked again while something is waited for; a round counts only
// once its message is admitted.
func TestP4_ARoundCountsWhenItIsAdmitted(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	r.round(r.works)
	for range 3 { // the host drops the follow-up while it waits
		if d, err := r.hooks.Idle(t.Context(), r.where()); err != nil || !strings.Contains(d.FollowUp, "round 2 of 256") {
			t.Fatalf("%+v %v", d, err)
		}
	}
	if got := r.goal().RoundsStarted; got != 1 {
		t.Errorf("%d rounds started before the second was admitted", got)
	}
	r.idle()
	r.turn("")
	r.restart() // the record of round 2 is written, its turn is cut
	r.book.queue(session.InboxItem{Queue: session.NextTurn, Source: session.SourcePlugin, Text: r.book.lastRound(), Wake: true})
	want(t, r.types("/goal resume"), "waits in the inbox already")
	r.turn("")
	if got := r.goal().RoundsStarted; got != 2 || len(r.book.inbox) != 0 {
		t.Errorf("%d rounds started after the message of round 2 came twice, want 2", got)
	}
}

// lastRound is the newest message that began a round.
func (b *book) lastRound() (text string) {
	for _, e := range b.events {
		if item, _ := session.Decode[session.InboxItem](e); e.Kind == session.KindInboxQueued && strings.HasPrefix(item.Text, "<goal_round>") {
			text = item.Text
		}
	}
	return text
}

func TestP4_TheRoundLimitBlocks(t *testing.T) {
	t.Parallel()
	r := start(t, `{"max_rounds": 2}`)
	r.types("/goal Build it")
	r.round(r.works)
	r.idle()
	r.round(r.works)
	if text := r.idle(); text != "" {
		t.Errorf("a third round: %q", text)
	}
	r.stands(planning.PhaseBlocked, planning.ReasonRoundLimit)
	r.types("/goal resume")
	want(t, r.book.texts()[0], "round 3 of 4")
}

// C137: a goal that is talked about and not worked at ends after three rounds.
func TestP4_C137_NoProgressStopsAfterThreeRounds(t *testing.T) {
	t.Parallel()
	for name, inRound := range map[string]func(r *run){
		"only text":       func(*run) {},
		"only goal tools": func(r *run) { r.call("get_goal", object{}); r.call("todo_write", "nonsense") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, "")
			r.types("/goal Build it")
			r.round(r.works)
			rounds := 0
			for rounds < 10 && r.idle() != "" {
				r.round(func() { inRound(r) })
				rounds++
			}
			if rounds != 3 {
				t.Errorf("%d rounds without progress, want 3", rounds)
			}
			r.stands(planning.PhaseBlocked, planning.ReasonNoProgress)
			r.restart()
			if r.idle() != "" {
				t.Error("a round after the stop")
			}
		})
	}
}

// Words of the person, and work, begin the count anew.
func TestP4_HumanInputWins(t *testing.T) {
	t.Parallel()
	for name, between := range map[string]func(r *run){
		"a prompt": func(r *run) { r.turn("How is it going?"); r.end(session.ReasonCompleted, nil) },
		"steering": func(r *run) {
			r.turn("")
			r.steps("Mind the gap.", session.SourceSteer)
			r.end(session.ReasonCompleted, nil)
		},
		"work": func(r *run) { r.round(r.works) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, "")
			r.types("/goal Build it")
			r.round(nil)
			r.idle()
			r.round(nil)
			if name != "a prompt" {
				r.idle()
			}
			between(r)
			for n := range 3 {
				if r.idle() == "" {
					t.Fatalf("no round, %d rounds without work after %s", n, name)
				}
				r.round(nil)
			}
			r.stands(planning.PhaseBlocked, planning.ReasonNoProgress)
		})
	}
}

// After an error, a limit or a stop by the person no round follows by itself.
func TestP4_C138_HowATurnEndsDecides(t *testing.T) {
	t.Parallel()
	for reason, c := range map[session.Reason]struct {
		failure *session.Failure
		phase   planning.Phase
		why     string
	}{
		session.ReasonLimit:     {&session.Failure{Code: "MAX_STEPS", Message: "200 steps"}, planning.PhaseActive, ""},
		session.ReasonCancelled: {nil, planning.PhasePaused, planning.ReasonCancelled},
		session.ReasonError:     {&session.Failure{Code: "AUTH", Message: "401: bad key"}, planning.PhaseFailed, "AUTH"},
	} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			r := start(t, "")
			r.types("/goal Build it")
			r.turn("")
			r.works()
			r.end(reason, c.failure)
			if text := r.idle(); text != "" {
				t.Errorf("a round follows: %q", text)
			}
			r.stands(c.phase, c.why)
			if c.phase == planning.PhaseFailed && !strings.Contains(r.goal().Detail, "bad key") {
				t.Errorf("the goal does not say what failed: %+v", r.goal())
			}
			want(t, r.types("/goal"), "not armed", "/goal resume")
			r.turn("Hello.")
			r.end(session.ReasonCompleted, nil)
			if text := r.idle(); text != "" {
				t.Errorf("a round follows a prompt: %q", text)
			}
			want(t, r.types("/goal resume"), "Round 2")
			r.stands(planning.PhaseActive, "")
			r.round(r.works)
			if r.idle() == "" {
				t.Error("no round after /goal resume")
			}
		})
	}
}

// A cut-off answer and a turn that a guard ended do not end the goal: the next round
// says what happened. Three rounds in a row that come to nothing do, of whatever kind.
func TestP4_ATurnCutShortIsARoundWithoutProgress(t *testing.T) {
	t.Parallel()
	loop := &session.Failure{Code: "LOOP", Message: "a loop"}
	for name, c := range map[string]struct {
		rounds  []session.Reason
		failure *session.Failure
		next    string // in the round after the first
		detail  string
	}{
		"max_tokens": {[]session.Reason{session.ReasonMaxTokens, session.ReasonMaxTokens, session.ReasonMaxTokens}, nil, "cut off at its length limit", "a cut-off answer in 3 rounds"},
		"blocked":    {[]session.Reason{session.ReasonBlocked, session.ReasonBlocked, session.ReasonBlocked}, loop, "ended by a guard (LOOP)", "a turn ended by LOOP in 3 rounds"},
		"mixed":      {[]session.Reason{session.ReasonMaxTokens, session.ReasonCompleted, session.ReasonMaxTokens}, nil, "cut off", "a cut-off answer or no tool call in 3 rounds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, "")
			r.types("/goal Build it")
			r.turn("")
			r.works()
			r.end(c.rounds[0], c.failure)
			want(t, r.idle(), "round 2 of 256", c.next)
			r.round(r.works) // what was counted is gone
			if text := r.idle(); !strings.Contains(text, "round 3 of 256") || strings.Contains(text, c.next) {
				t.Errorf("after a good round: %q", text)
			}
			for i, reason := range c.rounds {
				r.turn("")
				if reason != session.ReasonCompleted {
					r.works()
				}
				r.end(reason, c.failure)
				if text := r.idle(); (text == "") != (i == 2) {
					t.Errorf("after %d rounds that came to nothing: %q", i+1, text)
				}
			}
			r.stands(planning.PhaseBlocked, planning.ReasonNoProgress)
			if g := r.goal(); g.Detail != c.detail {
				t.Errorf("the goal says %q, want %q", g.Detail, c.detail)
			}
		})
	}
}

// A question that a turn left open is not passed over because the turn was cut short.
func TestP4_NoRoundOverAQuestionOfATurnCutShort(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	r.turn("")
	r.book.add(session.KindQuestionAnswered, session.Answer{ID: "q1", Outcome: session.OutcomePending})
	r.end(session.ReasonMaxTokens, nil)
	if text := r.idle(); text != "" {
		t.Errorf("a round while the person is asked: %q", text)
	}
}

// P3: a restart takes the hand off the goal, and only the person puts it on again.
func TestP3_ARestartDisarms(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	r.round(r.works)
	r.restart()
	if r.idle() != "" {
		t.Fatal("a round after a restart")
	}
	r.turn("What is the weather?")
	r.end(session.ReasonError, &session.Failure{Code: "SERVER", Message: "500"})
	r.stands(planning.PhaseActive, "")
	want(t, r.types("/goal"), "not armed")
	r.types("/goal resume")
	r.round(r.works)
	if r.idle() == "" {
		t.Error("no round after /goal resume")
	}
}

// A change of the directory is told to open sessions again; it disarms nothing.
func TestP3_AnotherDirectoryDoesNotDisarm(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	r.round(r.works)
	r.session.Directory = "/w/sub"
	if err := r.remote.OpenSession(t.Context(), r.session); err != nil {
		t.Fatal(err)
	}
	if r.idle() == "" {
		t.Error("the goal was disarmed")
	}
}

// A session that is closed and opened again was resumed: its goal is not armed.
func TestP3_ClosingDisarms(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	r.round(r.works)
	if err := errors.Join(r.remote.CloseSession(t.Context(), "s"), r.remote.OpenSession(t.Context(), r.session)); err != nil {
		t.Fatal(err)
	}
	if r.idle() != "" {
		t.Error("a round after the session was opened again")
	}
	want(t, r.types("/goal"), "active", "not armed")
}

// A round that was queued before the goal was stopped begins nothing.
func TestP4_AnOverdueRoundIsNotWorkedAt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(r *run)
		says      string
	}{
		"restart":  {func(r *run) { r.restart() }, "interrupted"},
		"pause":    {func(r *run) { r.types("/goal pause") }, "the goal is paused"},
		"clear":    {func(r *run) { r.types("/goal clear") }, "the goal is cleared"},
		"replaced": {func(r *run) { r.types("/goal clear"); r.types("/goal Another") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := start(t, "")
			r.types("/goal Build it")
			r.round(r.works)
			r.idle()
			c.meanwhile(r)
			shown := strings.Join(r.steps("", ""), "\n")
			if name == "replaced" {
				if g := r.goal(); g.ID != "g2" || g.RoundsStarted != 0 {
					t.Errorf("the round of the old goal counts for the new one: %+v", g)
				}
				want(t, shown, "another goal took its place")
				return
			}
			want(t, shown, c.says, "Do not work at the goal")
			if got := r.goal().RoundsStarted; got > 1 {
				t.Errorf("%d rounds started", got)
			}
		})
	}
}

// Somebody else's message that looks like a round is none.
func TestP4_OnlyThePluginBeginsRounds(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	text := r.book.texts()[0]
	r.book.inbox = nil
	r.book.turn++
	r.steps(text, session.SourceOwner)
	r.book.queue(session.InboxItem{Queue: session.NextStep, Source: session.SourcePlugin, From: "other", Text: text})
	r.book.queue(session.InboxItem{Queue: session.NextStep, Source: session.SourceHost, Text: text})
	r.steps("", "")
	if got := r.goal().RoundsStarted; got != 0 {
		t.Errorf("%d rounds started", got)
	}
}

// A question that the person may still answer is not passed over.
func TestP4_NoRoundWhileAQuestionIsOpen(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	r.round(func() {
		r.works()
		r.book.add(session.KindQuestionAnswered, session.Answer{ID: "q1", Outcome: session.OutcomePending})
	})
	if r.idle() != "" {
		t.Fatal("a round while the person is asked")
	}
	r.turn("Take the second one.")
	r.works()
	r.end(session.ReasonCompleted, nil)
	if r.idle() == "" {
		t.Error("no round after the answer")
	}
}
