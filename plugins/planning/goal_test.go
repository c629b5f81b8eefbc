package planning_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/planning"
)

func TestP5_AGoalIsSetOnThePersonsWordOnly(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.book.queue(session.InboxItem{Queue: session.NextTurn, Source: session.SourceHost, Text: "a subagent is done"})
	r.turn("")
	refused(t, r.call("create_goal", object{"objective": "Take over"}), "NOT_ALLOWED", "/goal OBJECTIVE")
	r.steps("Port it to Go, however long it takes.", session.SourceSteer)
	fine(t, r.call("create_goal", object{"objective": " Port it to Go. "}), "Goal g1 is set", "evidence")
	if g := r.goal(); g.Objective != "Port it to Go." || g.MaxRounds != 256 || g.Revision != 1 || g.RoundsStarted != 0 {
		t.Errorf("%+v", g)
	}
	refused(t, r.call("create_goal", object{"objective": "Another"}), "GOAL_EXISTS", "Port it to Go.", "/goal clear")
	r.end(session.ReasonCompleted, nil)
	want(t, r.idle(), "round 1 of 256")
	r.turn("")
	refused(t, r.call("update_goal", object{"action": "edit", "objective": "Less"}), "NOT_ALLOWED")
	fine(t, r.call("update_goal", object{"action": "complete", "evidence": "it runs"}))
	refused(t, r.call("create_goal", object{"objective": "More of it"}), "NOT_ALLOWED")
	refused(t, r.call("update_goal", object{"action": "pause"}), "GOAL_COMPLETE")
	r.end(session.ReasonCompleted, nil)
	r.turn("And now to Rust.")
	fine(t, r.call("create_goal", object{"objective": "Port it to Rust."}), "Goal g2 is set")
}

// The word of the person is found in the log, by a process that did not hear it.
func TestP5_ThePersonsWordSurvivesARestart(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.turn("Port it.")
	r.restart()
	fine(t, r.call("create_goal", object{"objective": "Port it."}))
}

func TestP5_ASubagentHasNoGoal(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.session.Parent, r.session.Depth = "p", 1
	r.restart()
	r.turn("Do this part.")
	refused(t, r.call("create_goal", object{"objective": "Do this part"}), "NOT_ALLOWED", "subagent")
	fine(t, r.call("get_goal", object{}), `{"goal":null,"armed":false}`)
	if _, err := r.fails("/goal Do it"); err == nil {
		t.Error("/goal sets a goal in a subagent's session")
	}
}

func TestP5_GetGoalTellsAll(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.turn("Go.")
	fine(t, r.call("get_goal", object{}), `"goal":null`)
	refused(t, r.call("update_goal", object{"action": "pause"}), "NO_GOAL")
	r.types("/goal Build it")
	r.round(r.works)
	r.turn("")
	var got struct {
		Goal  planning.Goal
		Armed bool
	}
	if err := json.Unmarshal([]byte(r.call("get_goal", object{}).Text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Goal != r.goal() || !got.Armed || got.Goal.Revision != 2 || got.Goal.RoundsStarted != 1 || got.Goal.Objective != "Build it" {
		t.Errorf("%+v", got)
	}
	r.restart()
	fine(t, r.call("get_goal", object{}), `"armed":false`, `"phase":"active"`)
}

func TestP5_CompleteNeedsEvidence(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	r.turn("")
	for _, evidence := range []string{"", " \n ", strings.Repeat("x", 4001)} {
		raw, _ := json.Marshal(object{"action": "complete", "evidence": evidence})
		refused(t, r.dispatch("update_goal", raw), "BAD_GOAL", "evidence")
	}
	refused(t, r.call("update_goal", object{"action": "complete"}), "BAD_GOAL", "evidence is empty")
	r.stands(planning.PhaseActive, "")
}

// The agent may not give up before the third round, nor resume what is paused.
func TestP5_BlockedOnlyFromTheThirdRound(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Flash the device")
	for n := 1; n <= 2; n++ {
		r.turn("")
		r.works()
		refused(t, r.call("update_goal", object{"action": "blocked", "reason": "device offline"}), "TOO_EARLY", "this is round "+string(rune('0'+n)))
		r.end(session.ReasonCompleted, nil)
		r.idle()
	}
	r.turn("")
	refused(t, r.call("update_goal", object{"action": "blocked", "reason": ""}), "BAD_GOAL", "reason is empty")
	fine(t, r.call("update_goal", object{"action": "blocked", "reason": "device offline"}), "g1 is blocked", "what you tried", "no more tools")
	r.stands(planning.PhaseBlocked, planning.ReasonAgent)
	refused(t, r.dispatch("update_goal", []byte(`{"action":"resume"}`)), "NOT_ALLOWED", "/goal resume")
	r.end(session.ReasonCompleted, nil)
	if r.idle() != "" {
		t.Error("a round of a blocked goal")
	}
}

func TestP5_TheAgentPausesAndEdits(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	r.turn("Only the server, please.")
	fine(t, r.call("update_goal", object{"action": "edit", "objective": "Build the server"}), `"Build the server"`)
	fine(t, r.call("update_goal", object{"action": "pause", "reason": "waits for a key"}), "End your turn")
	r.stands(planning.PhasePaused, planning.ReasonAgent)
	if g := r.goal(); g.Objective != "Build the server" || g.Detail != "waits for a key" || g.ID != "g1" {
		t.Errorf("%+v", g)
	}
	r.end(session.ReasonCompleted, nil)
	if r.idle() != "" {
		t.Error("a round of a paused goal")
	}
}

// To pause is no way out of the work: without the person's word it takes three rounds
// and a reason.
func TestP5_PauseIsForThePersonOrFromTheThirdRound(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	for n := 1; n <= 2; n++ {
		r.turn("")
		r.works()
		refused(t, r.call("update_goal", object{"action": "pause", "reason": "it is much work"}), "TOO_EARLY", "from round 3 on", "tool call")
		r.stands(planning.PhaseActive, "")
		r.end(session.ReasonCompleted, nil)
		r.idle()
	}
	r.turn("")
	refused(t, r.call("update_goal", object{"action": "pause", "reason": " \n"}), "BAD_GOAL", "reason is empty")
	refused(t, r.dispatch("update_goal", []byte(`{"action":"pause","reason":"`+strings.Repeat("x", 4001)+`"}`)), "BAD_GOAL", "4000")
	fine(t, r.call("update_goal", object{"action": "pause", "reason": "waits for the night"}), "End your turn")
	r.stands(planning.PhasePaused, planning.ReasonAgent)

	s := start(t, "")
	s.types("/goal Build it")
	s.turn("")
	s.steps("Let it rest for today.", session.SourceSteer)
	fine(t, s.call("update_goal", object{"action": "pause"}), "g1 is paused")
	s.stands(planning.PhasePaused, planning.ReasonAgent)
}
