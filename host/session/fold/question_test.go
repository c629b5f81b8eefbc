package fold_test

import (
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// A crash closes the question that somebody waited for; one that is pending stays,
// for its answer is still welcome (T18, R1).
func TestR1_T18_RepairClosesQuestionsThatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	s := fold.New()
	apply := func(e session.Event) {
		e.Seq = s.Head + 1
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	apply(session.New(session.KindSessionCreated, session.Created{ID: "s", Workspace: "/w"}))
	apply(session.New(session.KindQuestionAsked, session.Question{ID: "q2"}))
	apply(session.New(session.KindQuestionAnswered, session.Answer{ID: "q2", Outcome: session.OutcomePending}))
	apply(session.New(session.KindQuestionAsked, session.Question{ID: "q4"}))
	closers := fold.Repair(s)
	if len(closers) != 1 {
		t.Fatalf("%d closing events", len(closers))
	}
	apply(closers[0])
	if len(s.Questions) != 1 || s.Questions[0].ID != "q2" || !s.Questions[0].Pending {
		t.Errorf("open are %+v", s.Questions)
	}
	if again := fold.Repair(s); len(again) != 0 {
		t.Errorf("a second repair adds %v", again)
	}
}
