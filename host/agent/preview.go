package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// Preview is what a compaction would come to now.
type Preview struct {
	Strategy     string          `json:"strategy"`
	Kind         compaction.Kind `json:"kind"` // "" = nothing to do
	TokensBefore int             `json:"tokens_before"`
	TokensAfter  int             `json:"tokens_after"`
	ResetAt      int             `json:"reset_at"`
	Relieved     bool            `json:"relieved"` // the new surface lies below the line
	ModelCalls   int             `json:"model_calls"`
	CostUSD      *float64        `json:"cost_usd"` // of these calls; null = unpriced
	Millis       int64           `json:"ms"`
	Trimmed      int             `json:"trimmed"`         // results that are cut
	Dropped      int             `json:"dropped"`         // nodes that leave the surface
	Kept         int             `json:"kept"`            // messages that stand as they stood
	Added        []string        `json:"added,omitempty"` // texts that take their place
	Boot         string          `json:"boot,omitempty"`
	Refused      string          `json:"refused,omitempty"` // why the host would not apply it
}

// Preview asks the strategy what it would do now and applies nothing; model calls
// that it makes are booked. It must not run beside Run.
func (a *Agent) Preview(ctx context.Context, instructions string) (Preview, error) {
	out := Preview{Strategy: a.Strategy.Name, ResetAt: a.budget().ResetAt}
	if a.Strategy.Strategy == nil {
		return out, errNoStrategy
	}
	if err := a.reopen(ctx); err != nil {
		return out, err
	}
	if err := a.rec.flush(ctx); err != nil {
		return out, err
	}
	q := ask{trigger: session.TriggerManual, attempt: 1, instructions: instructions}
	began, bills := a.Now(), a.bills()
	in, generation := a.input(q)
	p, err := a.Strategy.Propose(ctx, in)
	out.TokensBefore, out.TokensAfter = in.Measured, in.Measured
	spent := a.bills().sub(bills)
	out.ModelCalls, out.CostUSD, out.Millis = spent.calls, a.price(spent), a.Now().Sub(began).Milliseconds()
	switch {
	case ctx.Err() != nil:
		return out, context.Cause(ctx)
	case err != nil:
		return out, fmt.Errorf("strategy %q made no proposal: %w", a.Strategy.Name, err)
	case p.IsZero():
		out.Relieved = a.below(in.Measured)
		return out, nil
	}
	ended, err := a.try(ctx, q, in, generation, p)
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		out.Refused = a.rec.secrets.text(refused.Error())
	case err != nil:
		return out, err
	default:
		out.TokensAfter, out.Relieved, out.Kept = ended.TokensAfter, ended.Relieved, ended.Kept
	}
	a.describe(&out, p)
	return out, nil
}

// try makes what a proposal would come to, and stages none of it.
func (a *Agent) try(ctx context.Context, q ask, in compaction.Input, generation int, p compaction.Proposal) (ended session.CompactionEnded, err error) {
	next, err := a.promptAfter(ctx, p)
	if err != nil {
		return ended, err
	}
	a.rec.view(func(s *fold.State) {
		_, err = a.trial(s, q, in, generation, p, next.system, &ended, func() int64 { return 0 })
	})
	return ended, err
}

// describe says what a proposal does to the surface.
func (a *Agent) describe(out *Preview, p compaction.Proposal) {
	out.Kind, out.Boot = p.Kind, a.rec.secrets.text(p.Boot)
	a.rec.view(func(s *fold.State) {
		for _, e := range p.Edits {
			switch {
			case e.Trim != nil:
				out.Trimmed++
			case e.Drop != nil:
				out.Dropped += spanned(&s.Surface, *e.Drop)
			case e.Replace != nil:
				out.Dropped += spanned(&s.Surface, e.Replace.Span)
				for _, m := range e.Replace.Messages {
					out.Added = append(out.Added, a.rec.secrets.text(textOf(m)))
				}
			}
		}
	})
}

// spanned counts the nodes of a span; one that is not on the surface has none.
func spanned(s *fold.Surface, span compaction.Span) int {
	from, to := s.Index(span.From), s.Index(span.To)
	if from < 0 || to < from {
		return 0
	}
	return to - from + 1
}

// textOf is the text of a message that a strategy made and nobody has checked.
func textOf(m *llm.Message) string {
	if m == nil {
		return ""
	}
	return m.Text()
}
