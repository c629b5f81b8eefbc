package agent

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// recovery is what a step has done about requests that were too long: one smaller
// output cap, one compaction.
type recovery struct{ lowered, compacted bool }

// overflowed tells whether a request that the endpoint refused as too long is made
// again: with a smaller output cap where the window is a smaller one than was thought,
// else with a smaller surface. The same body is never sent twice (C10).
func (a *Agent) overflowed(ctx context.Context, err error, sent llm.Request, r *recovery) (bool, error) {
	var failure *llm.Error
	if !errors.As(err, &failure) || failure.Code != llm.CodeOverflow || r.compacted {
		return false, nil
	}
	before := a.budget().Window
	if err := a.learn(ctx, failure); err != nil {
		return false, err
	}
	input := max(a.measured(), failure.Requested)
	if next := a.request(); !r.lowered && a.budget().Window != before && next.MaxOutputTokens < sent.MaxOutputTokens && input+next.MaxOutputTokens <= a.budget().Window {
		r.lowered = true
		return true, nil
	}
	r.compacted = true
	smaller, err := a.relieveOverflow(ctx, failure)
	return smaller && !sameBody(sent, a.request()), err
}

// sameBody tells whether two requests of a step send the same.
func sameBody(x, y llm.Request) bool {
	return x.MaxOutputTokens == y.MaxOutputTokens && reflect.DeepEqual(x.Messages, y.Messages)
}

// relieveOverflow asks the strategy after a request was too long; true means that the
// surface changed. A strategy that only cuts results is asked once more for the rest.
func (a *Agent) relieveOverflow(ctx context.Context, failure *llm.Error) (bool, error) {
	if a.Strategy.Strategy == nil {
		return false, nil
	}
	if agreed, err := a.mayRecover(ctx, failure); err != nil || !agreed {
		return false, err
	}
	q := ask{trigger: session.TriggerOverflow, attempt: 1, counted: failure.Requested}
	out, err := a.compact(ctx, q)
	if err != nil || !out.applied {
		return false, err
	}
	if out.kind == compaction.KindTrim {
		q.attempt, q.more, q.counted = 2, true, failure.Requested-out.gain
		if _, err := a.compact(ctx, q); err != nil {
			return false, err
		}
	}
	p, err := a.assemble(ctx)
	if err != nil {
		return false, err
	}
	return true, a.rec.build(func(s *fold.State) ([]session.Event, error) {
		events := p.events(s, a.InHistory)
		for i := range events {
			events[i] = events[i].At(s.Turn.Ordinal, s.Turn.Step)
		}
		return events, nil
	})
}

// codeSilent warns of an answer to a request that was longer than the window.
const codeSilent = "SILENT_OVERFLOW"

// overran tells whether an answer is set aside because the endpoint counts more input
// than the window holds and yet said nothing, so that it has read a part only. Once a
// turn the surface is made smaller then. Where it cannot be the answer counts.
func (a *Agent) overran(ctx context.Context, answer *llm.Answer, attempt int, r *recovery) (bool, error) {
	at, prompt := a.where(), answer.Usage.Prompt()
	a.unlearn(prompt)
	window := a.budget().Window
	if window <= 0 || prompt <= window || r.compacted || a.overranIn == at.Turn {
		return false, nil
	}
	a.overranIn, r.compacted = at.Turn, true
	failure := &llm.Error{Code: llm.CodeOverflow, Requested: prompt,
		Message: fmt.Sprintf("the endpoint counts %d tokens of input and its window holds %d, but it refused nothing", prompt, window)}
	smaller, err := a.relieveOverflow(ctx, failure)
	if err != nil {
		return false, err
	}
	if smaller {
		return true, a.rec.commit(ctx, session.New(session.KindAttempt, session.Attempt{Code: string(failure.Code), Message: failure.Message, Attempt: attempt,
			Partial: partialMessage(answer.Message.Text(), answer.Message.Reasoning()), Usage: answer.Usage}).At(at.Turn, at.Step))
	}
	return false, a.rec.stage(session.New(session.KindWarning, session.Warning{Code: codeSilent,
		Message: failure.Message + "; nothing made the conversation shorter, so the answer counts, though the model may not have seen all of it",
		Hint:    "set the true context_window under [model], or compact the session"}).At(at.Turn, at.Step))
}

// measured is the tokens in use.
func (a *Agent) measured() (tokens int) {
	a.rec.view(func(s *fold.State) { tokens, _ = s.Measure() })
	return tokens
}
