package agent

import (
	"context"
	"fmt"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// What a person is asked before the line acts: where automatic compaction rests or is
// to be put to them, and where an endpoint refused a request.
const (
	textConsent   = "The context is past its line, and compaction rests since the last one was undone. Compact now?"
	textAsk       = "The context is past its line. Compact now?"
	textOverflow  = "The endpoint finds the conversation too long. Compact now? Else the turn ends here."
	optionYes     = "Compact now"
	optionNo      = "Leave it"
	describeYes   = "the conversation gives way to what the strategy makes of it"
	describeActs  = "; compaction acts by itself again"
	describeNo    = "go on with all of it; nothing is compacted by itself"
	whyConsent    = "the person agreed to a compaction"
	whyByPerson   = "a person asked for a compaction"
	hintRests     = "tureen compact makes room now; it ends the rest"
	hintUnasked   = `tureen compact makes room now; with -c compaction.on_trigger="auto" it happens by itself`
	codeRests     = "COMPACTION_RESTS"
	codeUnasked   = "COMPACTION_UNASKED"
	codeThoughOff = "COMPACTION_THOUGH_OFF"
	reasonNobody  = "nobody can be asked, so the request is sent as it is"
)

// consent tells whether the line may act. Where a person is to decide they are asked,
// once it is crossed; while compaction rests after an undo, only when they have just
// spoken, and a yes ends the rest. Whom it cannot ask it warns, once a turn. After an
// answer that brought no compaction it asks again when half of the room that was left
// is used.
func (a *Agent) consent(ctx context.Context, pending int, spoken bool) (bool, error) {
	measured, _, rests := a.standing(pending)
	switch {
	case !rests && !a.Strategy.Ask:
		return true, nil
	case a.decided(pending, spoken):
		return false, nil
	}
	at, b := a.where(), a.budget()
	numbers := fmt.Sprintf("%d of %d tokens are in use and the line is at %d", measured, b.Window, b.ResetAt)
	text, yes := textAsk, describeYes
	if rests {
		text, yes = textConsent, describeYes+describeActs
	}
	answer, err := a.askPerson(ctx, text, numbers, yes, describeNo)
	if err == nil && answer.Outcome != session.OutcomeUnavailable {
		a.askAgain = measured + max(1, b.Window/16, (b.Window-measured)/2)
	}
	switch {
	case err != nil:
		return false, err
	case answer.Chose(optionYes) && rests:
		return true, a.rec.stage(session.New(session.KindCompactionRest, session.CompactionRest{Why: whyConsent}).At(at.Turn, at.Step))
	case answer.Chose(optionYes):
		return true, nil
	case answer.Outcome != session.OutcomeUnavailable:
		return false, nil
	}
	a.unasked = at.Turn
	w := session.Warning{Code: codeUnasked, Message: "the context is past its line: " + numbers + "; " + reasonNobody, Hint: hintUnasked}
	if rests {
		w = session.Warning{Code: codeRests, Message: "compaction rests since the last one was undone: " + numbers + "; " + reasonNobody, Hint: hintRests}
	}
	return false, a.rec.stage(session.New(session.KindWarning, w).At(at.Turn, at.Step))
}

// standing is the tokens in use, whether they are past a line that acts, and whether
// compaction rests.
func (a *Agent) standing(pending int) (measured int, past, rests bool) {
	a.rec.view(func(s *fold.State) {
		measured, _ = s.Measure()
		measured, rests = measured+pending, s.Compaction.Rest
		past = !s.Compaction.Breaker && a.Strategy.Auto && !a.below(measured)
	})
	return measured, past, rests
}

// decided tells whether the line may not act where a person is to decide, without that
// they are asked once more.
func (a *Agent) decided(pending int, spoken bool) bool {
	measured, past, rests := a.standing(pending)
	return (rests || a.Strategy.Ask) && (!past || measured < a.askAgain || rests && !spoken || a.unasked == a.where().Turn)
}

// mayRecover tells whether the surface may be made smaller because a request was too
// long. A person who is to decide is asked. Where nobody can be it may, for else the
// run is over, and a warning says so; so it does where compaction is off.
func (a *Agent) mayRecover(ctx context.Context, failure *llm.Error) (bool, error) {
	at := a.where()
	if !a.Strategy.Auto {
		return true, a.rec.stage(session.New(session.KindWarning, session.Warning{Code: codeThoughOff,
			Message: "the endpoint finds the conversation too long, so it is compacted though compaction is off: " + failure.Message}).At(at.Turn, at.Step))
	}
	if !a.Strategy.Ask {
		return true, nil
	}
	answer, err := a.askPerson(ctx, textOverflow, failure.Message, describeYes, "the turn ends; the conversation stays as it is")
	if err != nil || answer.Outcome != session.OutcomeUnavailable {
		return answer.Chose(optionYes), err
	}
	return true, a.rec.stage(session.New(session.KindWarning, session.Warning{Code: codeUnasked,
		Message: "the endpoint finds the conversation too long and nobody can be asked, so it is compacted: " + failure.Message}).At(at.Turn, at.Step))
}

// askPerson puts yes or no to the person, where there is one.
func (a *Agent) askPerson(ctx context.Context, text, detail, yes, no string) (session.Answer, error) {
	if a.Asker == nil {
		return session.Answer{Outcome: session.OutcomeUnavailable}, nil
	}
	return a.question(ctx, session.Question{Kind: session.QuestionOpen, Text: text, Detail: detail, Options: []session.Option{
		{Label: optionYes, Description: yes}, {Label: optionNo, Description: no}}}, 0)
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
