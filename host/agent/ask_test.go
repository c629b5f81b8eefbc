package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// asking is a session whose strategy may act only where a person agrees; its first
// tool call brings it past the line, 1,000 tokens of 2,000.
func asking(t *testing.T, answers ...answerFunc) *setup {
	t.Helper()
	s := newSetup(t, append([]answerFunc{calls(`a big {}`)}, answers...)...)
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200)).add(tool.Spec{Name: "echo"}, echo)}
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Strategy.Ask = true
	return s
}

// chooses answers each question with its n-th option and counts them.
func chooses(n int, asked *[]session.Question) person {
	return func(_ context.Context, q session.Question) session.Answer {
		*asked = append(*asked, q)
		return session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{q.Options[n].Label}}
	}
}

func TestN21_C4_AskPutsItToThePersonInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	s := asking(t, says("done"))
	var asked []session.Question
	s.options.Asker = chooses(0, &asked)
	s.completed("task")
	if len(asked) != 1 || !strings.Contains(asked[0].Detail, "of 2000 tokens are in use and the line is at 1000") || s.count(session.KindCompactionEnded) != 1 {
		t.Fatalf("asked %+v: %s", asked, s.kinds())
	}
	if got := s.shown(1)[1]; got != "user: short" {
		t.Errorf("the next request shows %q", s.shown(1))
	}
}

func TestN21_C4_ANoLeavesItUntilHalfOfTheRoomIsUsed(t *testing.T) {
	t.Parallel()
	s := asking(t, calls(`b echo {}`), calls(`c big {}`), says("done"))
	var asked []session.Question
	s.options.Asker = chooses(1, &asked)
	s.completed("task")
	if len(asked) != 2 || s.count(session.KindCompactionEnded) != 0 || s.count(session.KindWarning) != 0 {
		t.Errorf("asked %d times: %s", len(asked), s.kinds())
	}
}

func TestN21_C4_AskWithoutAPersonSaysSoOnceATurn(t *testing.T) {
	t.Parallel()
	s := asking(t, calls(`b echo {}`), says("done"), says("more"))
	s.options.Strategy.Strategy = &strategy{propose: wipe("short"), opening: compaction.Opening{Marks: []compaction.Mark{{ID: "mark", Remaining: 2000, Text: "mark"}}}}
	s.completed("task")
	s.completed("and on")
	w, n := s.warned("COMPACTION_UNASKED")
	if n != 2 || !strings.Contains(w.Message, "of 2000 tokens are in use and the line is at 1000") || s.count(session.KindCompactionEnded) != 0 || s.count(session.KindCompactionFailed) != 0 {
		t.Errorf("%d warnings, %+v: %s", n, w, s.kinds())
	}
	if s.count(session.KindMarkShown) != 1 {
		t.Errorf("the mark was not shown: %s", s.kinds())
	}
}

func TestN21_C10_AnOverflowIsPutToThePersonWhereThereIsOne(t *testing.T) {
	t.Parallel()
	for choice, want := range []session.Reason{session.ReasonCompleted, session.ReasonError} {
		s := newSetup(t, tooLong(0, 0), says("done"))
		withStrategy(s, &strategy{propose: wipe("short")})
		s.options.Strategy.Ask, s.options.Budget = true, wide
		var asked []session.Question
		s.options.Asker = chooses(choice, &asked)
		if reason, _ := s.run("go"); reason != want || len(asked) != 1 || asked[0].Detail != "too long for me" || s.count(session.KindCompactionEnded) != 1-choice {
			t.Errorf("choice %d: ended %s, asked %+v", choice, reason, asked)
		}
	}
	s := newSetup(t, tooLong(0, 0), says("done"))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Strategy.Ask, s.options.Budget = true, wide
	s.completed("go")
	if w, n := s.warned("COMPACTION_UNASKED"); n != 1 || !strings.Contains(w.Message, "so it is compacted") || !slices.Equal(s.reasons(), []session.Trigger{session.TriggerOverflow}) {
		t.Errorf("%d warnings, %+v, %v", n, w, s.reasons())
	}
}

// reasons lists why compactions happened.
func (s *setup) reasons() (list []session.Trigger) {
	for _, e := range s.events() {
		if p, err := session.Decode[session.CompactionEnded](e); err == nil && e.Kind == session.KindCompactionEnded {
			list = append(list, p.Trigger)
		}
	}
	return list
}

func TestN21_C10_OffStillRecoversFromAnOverflow(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), tooLong(0, 0), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	withStrategy(s, &strategy{propose: wipe("short"), opening: compaction.Opening{Marks: []compaction.Mark{{ID: "m", Remaining: 2000, Text: "mark"}}}})
	s.options.Strategy.Auto = false
	s.completed("task")
	if !slices.Equal(s.reasons(), []session.Trigger{session.TriggerOverflow}) || s.count(session.KindMarkShown) != 0 {
		t.Errorf("%v: %s", s.reasons(), s.kinds())
	}
	if w, n := s.warned("COMPACTION_THOUGH_OFF"); n != 1 || s.count(session.KindWarning) != 1 || !strings.Contains(w.Message, "though compaction is off") {
		t.Errorf("%d warnings: %+v", n, w)
	}
}
