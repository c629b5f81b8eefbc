package agent

import (
	"context"
	"fmt"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// What a person is asked whose words would go past the line while automatic
// compaction rests.
const (
	textConsent  = "The context is past its line, and compaction rests since the last one was undone. Compact now?"
	optionYes    = "Compact now"
	optionNo     = "Leave it"
	describeYes  = "the conversation gives way to what the strategy makes of it; compaction acts by itself again"
	describeNo   = "go on with all of it; nothing is compacted by itself"
	whyConsent   = "the person agreed to a compaction"
	whyByPerson  = "a person asked for a compaction"
	hintRests    = "tureen compact makes room now; it ends the rest"
	codeRests    = "COMPACTION_RESTS"
	reasonNobody = "nobody can be asked, so the request is sent as it is"
)

// consent asks the person, who has just spoken, whether the rest after an undo is
// over, where their words are past the line. A yes ends it. Whom it cannot ask it
// warns, once a turn. After a no it asks again when half of the room that was left
// is used.
func (a *Agent) consent(ctx context.Context, pending int) error {
	measured, past := 0, false
	a.rec.view(func(s *fold.State) {
		measured, _ = s.Measure()
		measured += pending
		past = s.Compaction.Rest && !s.Compaction.Breaker && a.Strategy.Auto && !a.below(measured)
	})
	if !past || measured < a.askAgain {
		return nil
	}
	numbers := fmt.Sprintf("%d of %d tokens are in use and the line is at %d", measured, a.Budget.Window, a.Budget.ResetAt)
	answer := session.Answer{Outcome: session.OutcomeUnavailable}
	if a.Asker != nil {
		var err error
		if answer, err = a.question(ctx, session.Question{Kind: session.QuestionOpen, Text: textConsent, Detail: numbers, Options: []session.Option{
			{Label: optionYes, Description: describeYes}, {Label: optionNo, Description: describeNo}}}, 0); err != nil {
			return err
		}
	}
	at := a.where()
	switch {
	case answer.Chose(optionYes):
		return a.rec.stage(session.New(session.KindCompactionRest, session.CompactionRest{Why: whyConsent}).At(at.Turn, at.Step))
	case answer.Outcome == session.OutcomeUnavailable:
		return a.rec.stage(session.New(session.KindWarning, session.Warning{Code: codeRests,
			Message: "compaction rests since the last one was undone: " + numbers + "; " + reasonNobody, Hint: hintRests}).At(at.Turn, at.Step))
	}
	a.askAgain = measured + max(1, (a.Budget.Window-measured)/2)
	return nil
}

// saidByPerson tells whether a person's words are among the items.
func saidByPerson(items []fold.Item) bool {
	for _, it := range items {
		if it.Source == session.SourceOwner || it.Source == session.SourceSteer {
			return true
		}
	}
	return false
}

// changed says which of the things is another one than it was, "" for none, after
// whose change automatic compaction acts again.
func changed(s *fold.State, o Options) string {
	other := func(before, now string) bool { return before != "" && now != "" && before != now }
	switch h := s.Header; {
	case h != nil && h.Model != o.Info.Name:
		return "the model is another one"
	case h != nil && h.ContextWindow != o.Info.ContextWindow:
		return "the context window is another one"
	case other(s.Profile, o.Opened.Profile):
		return "the profile is another one"
	case other(s.Strategy, o.Opened.Strategy):
		return "the strategy is another one"
	}
	return ""
}

// actAgain ends what keeps automatic compaction from acting.
func (a *Agent) actAgain(ctx context.Context, why string) error {
	var events []session.Event
	a.rec.view(func(s *fold.State) {
		if s.Compaction.Rest {
			events = append(events, session.New(session.KindCompactionRest, session.CompactionRest{Why: why}))
		}
		if s.Compaction.Breaker {
			events = append(events, session.New(session.KindBreaker, session.Breaker{Why: why}))
		}
	})
	return a.rec.commit(ctx, events...)
}
