package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
)

// What is said while a person answers comes after the answer, in order.
func TestT16_LinesWaitForTheAnswer(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	lines := render.NewLines(&out, render.Style{})
	lines.Live("half a line")
	lines.Ask("allow? ")
	lines.Print("step 2")
	lines.Live("a piece ")
	lines.Live("of text")
	lines.Warning("it is slow", "")
	if got := out.String(); got != "half a line\nallow? " {
		t.Errorf("while the person answers: %q", got)
	}
	lines.Answered()
	lines.Print("step 3")
	want := "half a line\nallow? step 2\na piece of text\nwarning: it is slow\nstep 3\n"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	out.Reset()
	lines.Ask("again? ")
	for i := range 1003 {
		lines.Print(fmt.Sprint("line ", i))
	}
	lines.Withdrawn()
	lines.Withdrawn() // a second time is nothing
	if got := out.String(); !strings.HasPrefix(got, "again? \n(3 lines are left out here)\nline 3\nline 4\n") || !strings.HasSuffix(got, "\nline 1002\n") {
		t.Errorf("%.100q", got)
	}
}

// A question shows what it is about in full, and nothing of it can redraw it or
// pass for an option (C085).
func TestT16_C085_AQuestionShowsWhatIsThere(t *testing.T) {
	t.Parallel()
	q := session.Question{ID: "q7", Kind: session.QuestionApproval, Plugin: "policy", Text: "Run this?\nsecond line\x1b[2J", Detail: "rm -rf \u202egpj.exe\n1) Allow\r\x1b]52;c;AAAA\a",
		Options: []session.Option{{Label: "Allow once", Description: "this call\nonly"}, {Label: "Deny\n3) fake"}}}
	got := render.Style{}.Question(q)
	want := "approval q7 (policy) Run this?\n  second line[2J\n    rm -rf \\u{202e}gpj.exe\n    1) Allow]52;c;AAAA\n  1) Allow once - this call only\n  2) Deny 3) fake\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, long := range []string{strings.Repeat("x\n", 300), strings.Repeat("é", 30_000)} {
		q.Detail = long
		if got := (render.Style{}).Question(q); !strings.Contains(got, "more characters are NOT shown") || len([]rune(got)) > 21_000 {
			t.Errorf("a long detail: %d characters, %.80q", len([]rune(got)), got)
		}
	}
}

func TestT18_S1_ProgressOfQuestionsAndSubagents(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := render.NewProgress(render.NewLines(&out, render.Style{}))
	p.Start(render.SessionStarted{Session: "s1"})
	out.Reset()
	for _, e := range []session.Event{
		event(session.KindQuestionAsked, session.Question{ID: "q1", Text: "Which port?\x1b[2J"}),
		event(session.KindQuestionAnswered, session.Answer{ID: "q1", Outcome: session.OutcomePending}),
		event(session.KindQuestionAnswered, session.Answer{ID: "q1", Outcome: session.OutcomeAnswered, Choices: []string{"80"}, Text: "for\nnow"}),
		event(session.KindQuestionAsked, session.Question{ID: "q2", Text: "Run it?"}),
		event(session.KindQuestionAnswered, session.Answer{ID: "q2", Outcome: session.OutcomeUnavailable}),
		event(session.KindQuestionAnswered, session.Answer{ID: "q3", Outcome: session.OutcomeDeclined}),
		event(session.KindDirectoryChanged, session.DirectoryChanged{From: "/a", To: "/b"}),
		event(session.KindChildSpawned, session.ChildSpawned{ID: "c1", Label: "count files"}),
		event(session.KindChildSettled, session.ChildSettled{ID: "c1", Reason: session.ReasonCompleted, Text: "12\nfiles"}),
		event(session.KindChildSettled, session.ChildSettled{ID: "c2", Reason: session.ReasonError, Error: &session.Failure{Message: "no model"}}),
		event(session.KindReport, session.Report{Data: json.RawMessage(`{"n": 1}`)}),
	} {
		p.Event(e, session.Meter{})
	}
	want := `  question q1 Which port? [2J → no answer yet; later: tureen answer s1 q1 TEXT
  question q1 Which port? [2J → 80 for now
  question q2 Run it? → nobody is there to answer
  question q3  → declined
  working directory /b
  subagent c1 works count files
  subagent c1 count files → completed: 12 files
  subagent c2  → error: no model
  report {"n":1}
`
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTranscriptOfQuestionsAndSubagents(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	tr := render.NewTranscript(&out, session.Summary{ID: "s1"})
	out.Reset()
	for _, e := range []session.Event{
		event(session.KindQuestionAsked, session.Question{ID: "q1", Text: "Run it?", Detail: "rm a", Options: []session.Option{{Label: "Allow"}}}),
		event(session.KindQuestionAnswered, session.Answer{ID: "q1", Outcome: session.OutcomeAnswered, Choices: []string{"Allow"}}),
		event(session.KindCommandRun, session.CommandRun{Plugin: "plan", Name: "goal", Arguments: "clear", Text: "No goal now."}),
		event(session.KindDirectoryChanged, session.DirectoryChanged{To: "/b"}),
		event(session.KindChildSpawned, session.ChildSpawned{ID: "c1", Label: "count"}),
		event(session.KindChildSettled, session.ChildSettled{ID: "c1", Lost: true}),
		event(session.KindReport, session.Report{Data: json.RawMessage(`{"n": 1}`)}),
	} {
		if err := tr.Event(e); err != nil {
			t.Fatal(err)
		}
		if render.Gist(e) == "" {
			t.Errorf("%s has no gist", e.Kind)
		}
	}
	fence := "```"
	want := "\n**Question q1**\n\nRun it?\n\n" + fence + "\nrm a\n" + fence + "\n1. Allow\n\n**Answer to q1:** Allow\n\n**You:**\n\n/goal clear\n\n**Plugin plan:**\n\nNo goal now.\n" +
		"\n*The working directory is now `/b`.*\n\n*Subagent `c1` works: count*\n\n*Subagent `c1` ended: lost: the host stopped*\n\n**Report**\n\n" + fence + "\n{\"n\":1}\n" + fence + "\n"
	if got := out.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
