package chat

import (
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

var approval = session.Question{ID: "q1", Kind: session.QuestionApproval, Plugin: "policy", Text: "Run it?", Detail: "rm -rf /tmp/x",
	Options: []session.Option{{Label: "Once"}, {Label: "Always", Description: "in this session"}, {Label: "No"}}}

func TestQuestion_Answers(t *testing.T) {
	t.Parallel()
	open := session.Question{Text: "Which?", Options: approval.Options}
	several := open
	several.Multiple = true
	bare := session.Question{Kind: session.QuestionApproval, Text: "Really?"}
	free := session.Question{Text: "How many?"}
	for _, c := range []struct {
		q    session.Question
		keys string
		want string // outcome, choices, text; "" = none yet
	}{
		{approval, "1", "answered Once "},
		{approval, "3", "answered No "},
		{approval, "9", ""},
		{approval, "{enter}", ""}, // an approval has no default
		{approval, "{down} {enter}", "answered Once "},
		{approval, "{down} {down} {enter}", "answered Always "},
		{bare, "1", "answered  yes"},
		{bare, "2", "declined  "},
		{bare, "y {enter}", ""},
		{approval, "{up} {enter}", "answered No "},
		{approval, "{esc}", "declined  "},
		{approval, "yes {tab}", ""}, // an approval takes no words
		{open, "2", "answered Always "},
		{open, "neither {enter}", "answered  neither"},
		{open, "neither {esc} {enter}", "answered Once "},
		{open, "{tab} x {enter}", "answered  x"},
		{several, "1 3 {enter}", "answered Once+No "},
		{several, "{space} {space} {down} {space} {enter}", "answered Always "},
		{several, "{enter}", "answered Once "},
		{free, "{enter}", ""},
		{free, "seven 7 {enter}", "answered  seven7"},
		{free, "{esc}", "declined  "},
	} {
		b := newBench(t, 60, 24)
		var got string
		b.does(askMsg{newBox(1, c.q, false, func(a session.Answer) {
			got = string(a.Outcome) + " " + strings.Join(a.Choices, "+") + " " + a.Text
		})})
		b.presses(strings.Fields(c.keys)...)
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.keys, got, c.want)
		}
		if (got == "") != (len(b.boxes) == 1) {
			t.Errorf("%s: %d questions are left", c.keys, len(b.boxes))
		}
	}
}

func TestQuestion_Looks(t *testing.T) {
	t.Parallel()
	b := newBench(t, 60, 24)
	b.does(askMsg{newBox(1, approval, false, func(session.Answer) {})})
	b.does(askMsg{newBox(2, session.Question{Text: "And?"}, false, func(session.Answer) {})})
	same(t, "the box", b.screen(), `
┌ approval · policy · 1 more behind it
│ Run it?
│ rm -rf /tmp/x
│   1 Once
│   2 Always – in this session
│   3 No
└ 1–9, or arrows and Enter: choose · Esc: decline
██░░░░░░░░░░░░░░┃░░░ · 10% of 32k · talker · notesoup`)
	b.presses("3")
	same(t, "the next", b.screen(), `
┌ question
│ And?
│ › 
└ Enter: answer · Esc: decline
██░░░░░░░░░░░░░░┃░░░ · 10% of 32k · talker · notesoup`)
	if _, x, y := b.live(); x != 4 || y != 3 {
		t.Errorf("the cursor stands at %d,%d", x, y)
	}
}

// A key that was meant for the input answers nothing.
func TestQuestion_TakesNoKeyFromSomebodyWhoTypes(t *testing.T) {
	t.Parallel()
	answered := 0
	b := newBench(t, 60, 24)
	b.presses("so ")
	b.clock = b.clock.Add(time.Hour)
	b.does(askMsg{newBox(1, approval, false, func(session.Answer) { answered++ })})
	b.presses("1", "{enter}")
	if answered > 0 || strings.Join(b.session.calls, "|") != "prompt so 1" {
		t.Fatalf("%d answers, %q", answered, b.session.calls)
	}
	b.presses("2", "{backspace}", "2") // just typed, and the input is not empty
	if answered > 0 {
		t.Fatal("the input answered")
	}
	b.presses("{tab}", "2")
	if answered != 1 || b.edit.value() != "2" {
		t.Errorf("%d answers, input %q", answered, b.edit.value())
	}
}

func TestQuestion_LongDetailsStandInTheScrollback(t *testing.T) {
	t.Parallel()
	b := newBench(t, 60, 24)
	q := approval
	q.Detail = strings.Repeat("one more line\n", 30)
	b.does(askMsg{newBox(1, q, false, func(session.Answer) {})})
	if n := strings.Count(b.printed(), "  one more line"); n != 30 {
		t.Errorf("%d lines in the scrollback", n)
	}
	if s := b.screen(); !strings.Contains(s, "… in full above") || !strings.Contains(s, "3 No") {
		t.Errorf("the box:\n%s", s)
	}
}

// A question that went on without an answer stays, and its answer goes the other way.
func TestQuestion_PendingOnesCanStillBeAnswered(t *testing.T) {
	t.Parallel()
	b := newBench(t, 60, 24)
	b.has(session.KindQuestionAsked, approval)
	b.does(askMsg{newBox(1, approval, false, func(session.Answer) { t.Error("answered to nobody") })})
	b.does(withdrawMsg{1})
	b.has(session.KindQuestionAnswered, session.Answer{ID: "q1", Outcome: session.OutcomePending})
	b.presses("2")
	if len(b.session.answers) != 1 || !b.session.answers[0].Chose("Always") || b.session.answers[0].ID != "q1" {
		t.Fatalf("answers %+v", b.session.answers)
	}
	b.has(session.KindQuestionAnswered, session.Answer{ID: "q1", Outcome: session.OutcomeAnswered, Choices: []string{"Always"}, Late: true})
	if len(b.boxes) != 0 || !strings.Contains(b.printed(), "? Run it? → Always") {
		t.Error("it is still asked")
	}
}

func TestQuestion_LeavingDeclines(t *testing.T) {
	t.Parallel()
	var outcomes []session.Outcome
	b := newBench(t, 60, 24)
	for i := range 3 {
		b.does(askMsg{newBox(int64(i), approval, false, func(a session.Answer) { outcomes = append(outcomes, a.Outcome) })})
	}
	b.does(quitMsg{})
	if len(outcomes) != 3 || outcomes[0] != session.OutcomeDeclined {
		t.Errorf("%v", outcomes)
	}
}
