package planning_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

func TestP1_TheWholeListIsStoredEachTime(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.turn("Do three things.")
	fine(t, r.call("todo_write", list("completed read it", "in_progress change it", "pending test it")), "1 pending, 1 in progress, 1 completed")
	fine(t, r.call("todo_write", list("completed read it", "completed  change\n it")), "0 pending, 0 in progress, 2 completed")
	if got := r.types("/todo"); got != "[completed] read it\n[completed] change it" {
		t.Errorf("/todo: %q", got)
	}
	r.restart()
	if got := r.types("/todo"); got != "[completed] read it\n[completed] change it" {
		t.Errorf("/todo of another process: %q", got)
	}
	fine(t, r.call("todo_write", list()), "empty")
	if got := r.types("/todo"); !strings.Contains(got, "empty") {
		t.Errorf("/todo: %q", got)
	}
	if _, err := r.fails("/todo buy milk"); err == nil || !strings.Contains(err.Error(), "buy milk") {
		t.Errorf("/todo with something after it: %v", err)
	}
}

func TestP1_ABadListIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.turn("Do it.")
	fine(t, r.call("todo_write", list("pending stay")))
	many := []string{}
	for i := range 101 {
		many = append(many, fmt.Sprintf("pending item %d", i))
	}
	for name, bad := range map[string]struct {
		args  object
		parts []string
	}{
		"a duplicate":        {list("pending a  b", "completed a b"), []string{"items 1 and 2", `"a b"`}},
		"nothing but spaces": {list("pending a", "pending \u00a0\n "), []string{"item 2 is empty"}},
		"too long":           {list("pending " + strings.Repeat("ä", 501)), []string{"501", "500"}},
		"too many":           {list(many...), []string{"101", "100"}},
		"an unknown status":  {list("done a"), []string{`"done"`, "in_progress"}},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := json.Marshal(bad.args)
			if err != nil {
				t.Fatal(err)
			}
			refused(t, r.dispatch("todo_write", raw), "BAD_TODOS", bad.parts...)
			if got := r.types("/todo"); got != "[pending] stay" {
				t.Errorf("the list became %q", got)
			}
		})
	}
	if a := r.call("todo_write", object{"todos": []object{{"content": "x", "status": "pending", "priority": 1}}}); !a.IsError {
		t.Errorf("a key that the schema does not know: %q", a.Text)
	}
}

// What cannot be stored is not claimed to be.
func TestP1_AListThatCannotBeStoredIsAnError(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.turn("Do it.")
	r.book.refuse = errors.New("the disk is full")
	if a := r.call("todo_write", list("pending a")); !a.IsError || !strings.Contains(a.Text, "nothing was changed") {
		t.Errorf("%+v", a)
	}
	if got := r.types("/todo"); !strings.Contains(got, "empty") {
		t.Errorf("/todo: %q", got)
	}
}

// nudge ends a turn with text and says whether it was kept open.
func (r *run) nudge() bool {
	r.t.Helper()
	text := r.stopping(llm.StopEnd)
	if text == "" {
		return false
	}
	want(r.t, text, "[in_progress] build", "[pending] test", "todo_write")
	if strings.Contains(text, "[completed]") {
		r.t.Errorf("a completed item is named: %s", text)
	}
	r.steps(text, session.SourcePlugin)
	return true
}

// nudges counts the reminders until the turn ends.
func (r *run) nudges() (n int) {
	for n < 10 && r.nudge() {
		n++
	}
	return n
}

func TestP1_OpenTodosKeepTheTurnOpenOnceForEachList(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	todos := list("completed read", "in_progress build", "pending test")
	r.turn("Do it.")
	r.call("todo_write", todos)
	if n := r.nudges(); n != 1 {
		t.Fatalf("%d reminders of the same list in one turn, want 1", n)
	}
	r.works()
	if r.nudge() {
		t.Error("a second reminder of the same list, after work")
	}
	r.call("todo_write", list("in_progress build", "pending test", "pending ship"))
	if n := r.nudges(); n != 1 {
		t.Errorf("%d reminders of the next list, want 1", n)
	}
	r.restart()
	if r.nudge() {
		t.Error("a reminder of the same list, after a restart")
	}
	r.end(session.ReasonCompleted, nil)
	r.turn("Go on.")
	r.works()
	if n := r.nudges(); n != 1 {
		t.Errorf("%d reminders in the next turn, want 1", n)
	}
	r.call("todo_write", list("completed read", "completed build"))
	if r.stopping(llm.StopEnd) != "" {
		t.Error("a reminder though nothing is open")
	}
}

// Who only writes the list anew is reminded so often in a row.
func TestP1_NudgesAreConfigured(t *testing.T) {
	t.Parallel()
	for config, nudges := range map[string]int{`{"nudges": 0}`: 0, `{"nudges": 1}`: 1, `{}`: 2, `{"nudges": 3}`: 3} {
		r := start(t, config)
		r.turn("Do it.")
		n := 0
		for again := true; again && n < 10; {
			r.call("todo_write", list("in_progress build", "pending test"))
			if again = r.nudge(); again {
				n++
			}
		}
		if n != nudges {
			t.Errorf("%s: %d reminders, want %d", config, n, nudges)
		}
		r.works()
		r.call("todo_write", list("in_progress build", "pending test"))
		if r.nudge() != (nudges > 0) {
			t.Errorf("%s: after work a new row does not begin", config)
		}
	}
}

// A question of the person is answered and that is that, although the list is open.
func TestP1_AnAnswerWithoutWorkEndsAtOnce(t *testing.T) {
	t.Parallel()
	r := start(t, `{"nudges": 10}`)
	r.turn("Do it.")
	r.call("todo_write", list("in_progress build", "pending test"))
	r.nudges()
	r.end(session.ReasonCompleted, nil)
	r.turn("What is left?")
	if r.nudge() {
		t.Error("the answer to a question is held up")
	}
}

// What the person stopped is not pushed on in the turn that follows, even where the
// agent looks something up for them.
func TestP1_NoNudgeAfterTheTurnThatThePersonStopped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ended session.TurnEnded
		quiet bool
	}{
		"stopped":  {session.TurnEnded{Reason: session.ReasonCancelled}, true},
		"repaired": {session.TurnEnded{Reason: session.ReasonCancelled, Repaired: true}, false},
		"done":     {session.TurnEnded{Reason: session.ReasonCompleted}, false},
	} {
		r := start(t, "")
		r.turn("Do it.")
		r.call("todo_write", list("in_progress build", "pending test"))
		r.book.add(session.KindTurnEnded, c.ended)
		r.turn("What did you change so far?")
		r.works()
		if r.nudge() == c.quiet {
			t.Errorf("%s: reminded %v", name, !c.quiet)
		}
		r.end(session.ReasonCompleted, nil)
		r.turn("Go on, then.")
		r.works()
		if !r.nudge() {
			t.Errorf("%s: no reminder in the turn after", name)
		}
	}
}

// A turn that ends because the person has to answer is not kept open, nor is one
// whose answer was cut.
func TestP1_NoNudgeWhileThePersonIsAsked(t *testing.T) {
	t.Parallel()
	for outcome, quiet := range map[session.Outcome]bool{session.OutcomePending: true, session.OutcomeDeclined: true, session.OutcomeUnavailable: true, session.OutcomeAnswered: false} {
		r := start(t, "")
		r.turn("Do it.")
		r.call("todo_write", list("in_progress build", "pending test"))
		r.works()
		r.book.add(session.KindQuestionAsked, session.Question{ID: "q1", Text: "Which one?"})
		r.book.add(session.KindQuestionAnswered, session.Answer{ID: "q1", Outcome: outcome})
		if r.nudge() == quiet {
			t.Errorf("question %s: reminded %v", outcome, !quiet)
		}
		if outcome != session.OutcomePending {
			r.call("todo_write", list("in_progress build", "pending test"))
			if !r.nudge() {
				t.Errorf("question %s: the agent went on, and is not reminded", outcome)
			}
			continue
		}
		r.book.add(session.KindQuestionAnswered, session.Answer{ID: "q1", Outcome: session.OutcomeAnswered, Text: "that", Late: true})
		if !r.nudge() {
			t.Error("the late answer is there, and the agent is not reminded")
		}
	}
	r := start(t, "")
	r.turn("Do it.")
	r.call("todo_write", list("in_progress build", "pending test"))
	if r.stopping(llm.StopMaxTokens) != "" {
		t.Error("a reminder after an answer that was cut")
	}
}

// Who waits for a subagent has nothing to go on with.
func TestP1_NoNudgeWhileASubagentWorks(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.turn("Do it.")
	r.call("todo_write", list("in_progress build", "pending test"))
	for again := range 2 {
		r.book.add(session.KindChildSpawned, session.ChildSpawned{ID: "kid", Again: again > 0})
		r.book.add(session.KindChildSpawned, session.ChildSpawned{ID: "other"})
		r.book.add(session.KindChildSettled, session.ChildSettled{ID: "other", Reason: session.ReasonCompleted})
		if r.nudge() {
			t.Error("a reminder while a subagent works")
		}
		r.book.add(session.KindChildSettled, session.ChildSettled{ID: "kid", Reason: session.ReasonCompleted})
		if !r.nudge() {
			t.Error("no reminder though every subagent is done")
		}
		r.works()
		r.call("todo_write", list("in_progress build", "pending test"))
	}
}

// With a goal the driver keeps the agent going; without its hand on it the
// reminders do.
func TestP1_NoNudgeWhileTheGoalDriverDoesIt(t *testing.T) {
	t.Parallel()
	r := start(t, "")
	r.types("/goal Build it")
	r.turn("")
	r.call("todo_write", list("in_progress build", "pending test"))
	if r.stopping(llm.StopEnd) != "" {
		t.Error("a reminder while a goal is armed")
	}
	r.types("/goal pause")
	if !r.nudge() {
		t.Error("no reminder while the goal is paused")
	}
}
