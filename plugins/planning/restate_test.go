package planning_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/planning"
)

// compacted is a session whose list and goal were made before a compaction.
func compacted(t *testing.T) *run {
	t.Helper()
	r := start(t, "")
	r.types("/goal Keep the <b>order</b>")
	r.turn("")
	r.call("todo_write", list("completed read it", "in_progress change it", "pending test it"))
	if text := r.context("todo"); text != "" {
		t.Fatalf("restated before any compaction: %q", text)
	}
	r.book.compactions++
	return r
}

func TestK4_C023_TheListAndTheGoalStandInTheNewWindow(t *testing.T) {
	t.Parallel()
	r := compacted(t)
	want(t, r.context("todo"), "[completed] read it", "[in_progress] change it", "[pending] test it", "Goal g1 (active)", `"Keep the \u003cb\u003eorder\u003c/b\u003e"`)
}

// The text is the same for the whole window, whatever changes, and whichever
// process says it.
func TestK4_TheRestatementIsFrozenForItsWindow(t *testing.T) {
	t.Parallel()
	r := compacted(t)
	first := r.context("todo")
	same := func(when string) {
		t.Helper()
		if got := r.context("todo"); got != first {
			t.Errorf("%s: the text became %q", when, got)
		}
	}
	same("asked again")
	r.restart()
	same("after a restart, nothing changed")
	r.call("todo_write", list("completed read it", "completed change it", "pending test it"))
	same("after the list changed")
	r.types("/goal edit Something else")
	same("after the goal changed")
	r.call("todo_write", list("completed read it", "completed change it", "in_progress test it"))
	r.restart()
	same("after two changes and a restart")

	r.book.compactions++
	want(t, r.context("todo"), "[in_progress] test it", "Something else")
	first = r.context("todo")
	r.restart()
	same("in the next window, after a restart")
	r.book.compactions++
	same("in a window after one without a change")
}

// What is finished or was never there is not restated, and what begins within a
// window is not repeated in it.
func TestK4_NothingIsRestatedNeedlessly(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.book.compactions = 3
	r.turn("Do it.")
	r.call("todo_write", list("pending a"))
	r.types("/goal Do all")
	for range 2 {
		if text := r.context("todo"); text != "" {
			t.Errorf("restated in the window that it was made in: %q", text)
		}
		r.restart()
	}
	r.call("todo_write", list("completed a"))
	r.types("/goal clear")
	r.book.compactions++
	if text := r.context("todo"); text != "" {
		t.Errorf("restated though all is done: %q", text)
	}
}

// A goal that is restated is one that is not reached, paused ones included; a
// round in between does not change the text.
func TestK4_TheGoalIsRestatedWithItsPhase(t *testing.T) {
	t.Parallel()
	r := compacted(t)
	first := r.context("todo")
	r.works()
	r.end(session.ReasonCompleted, nil)
	r.idle()
	r.turn("")
	r.book.compactions++
	if got := r.context("todo"); got != first || r.goal().RoundsStarted != 2 {
		t.Errorf("after round %d: %q", r.goal().RoundsStarted, got)
	}
	r.end(session.ReasonError, &session.Failure{Code: "AUTH", Message: "no key"})
	r.book.compactions++
	want(t, r.context("todo"), "Goal g1 (failed)", "AUTH")
	r.call("update_goal", object{"action": "complete", "evidence": "it is in order"})
	r.book.compactions++
	if text := r.context("todo"); strings.Contains(text, "Goal") || !strings.Contains(text, "[pending] test it") {
		t.Errorf("after the goal was reached: %q", text)
	}
	if r.context("plan") != "" {
		t.Error("plan mode is told though it is off")
	}
	r.types("/plan")
	r.restart()
	if text := r.context("plan"); !strings.Contains(text, "change nothing") {
		t.Errorf("plan mode, after a restart: %q", text)
	}
}

// Records of other plugins are none of this one's business.
func TestK4_RecordsOfOthersDoNotCount(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.turn("Do it.")
	r.call("todo_write", list("pending mine"))
	r.book.add(session.KindRecord, session.Record{Plugin: "other", Kind: "todo", Data: []byte(`{"now":[{"content":"theirs","status":"pending"}]}`)})
	r.restart()
	if got := r.types("/todo"); got != "[pending] mine" {
		t.Errorf("/todo: %q", got)
	}
}

// A list that would fill a small window is restated in brief, every open item of it.
func TestK4_ALongListIsRestatedInBrief(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.turn("Do it.")
	var items []string
	for i := range 100 {
		status := "pending"
		if i < 20 {
			status = "completed"
		}
		items = append(items, fmt.Sprintf("%s item %d of %s", status, i, strings.Repeat("ä", 480)))
	}
	fine(t, r.call("todo_write", list(items...)))
	r.book.compactions++
	text := r.context("todo")
	for i := 20; i < 100; i++ {
		want(t, text, fmt.Sprintf("[pending] item %d of ä", i))
	}
	want(t, text, "(20 completed ones are left out)")
	if n := len([]rune(text)); n > 16_000 || strings.Contains(text, "item 19 ") {
		t.Errorf("the restatement has %d characters", n)
	}
	want(t, r.types("/todo"), strings.Repeat("ä", 480))
}

// TestL9_P1_ABranchHasTheTodosAndTheGoal: as they stood, and nothing follows by itself.
func TestL9_P1_ABranchHasTheTodosAndTheGoal(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.book.add(session.KindSessionCreated, session.Created{ID: "s", Origin: &session.Origin{Session: "other", Seq: 4, How: session.HowFork}})
	r.book.add(session.KindSessionOpened, session.Opened{})
	r.book.add(session.KindRecord, session.Record{Plugin: planning.Name, Kind: "todo", Data: []byte(`{"now":[{"content":"theirs and ours","status":"pending"}],"compactions":0}`)})
	r.book.add(session.KindRecord, session.Record{Plugin: planning.Name, Kind: "goal", Data: []byte(`{"now":{"id":"g3","revision":1,"objective":"win","phase":"active","rounds_started":1,"max_rounds":9},"compactions":0}`)})
	r.book.add(session.KindSessionOpened, session.Opened{Resumed: true})
	r.book.compactions++
	want(t, r.context("todo"), "theirs and ours", "Goal g3 (active)")
	d, err := r.hooks.Idle(t.Context(), r.where())
	if err != nil || d.FollowUp != "" || d.Unfinished != "" {
		t.Errorf("%+v, %v", d, err)
	}
}
