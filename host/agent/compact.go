package agent

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// Bounds of automatic compaction.
const (
	maxAttempts = 2 // a step; a trim counts as none
	maxFailures = 3 // in a row, then the breaker opens
)

// ask is one question to the strategy.
type ask struct {
	trigger      session.Trigger
	attempt      int
	pending      int // tokens of input that is not on the surface yet
	instructions string
	note         string
}

// relieve makes room before a request: it fires an armed request, and asks the
// strategy while the measure, pending input included, is past the line (C4). It
// returns the prompt to send, assembled anew after each applied proposal. What
// cannot be relieved is sent all the same. spoken tells that a person has just said
// something and may be asked.
func (a *Agent) relieve(ctx context.Context, p assembled, messages []session.Event, spoken bool) (assembled, error) {
	if a.Strategy.Strategy == nil {
		return p, nil
	}
	did, err := a.compactAsked(ctx, a.pending(p, messages))
	if p, err = a.reassemble(ctx, p, did, err); err != nil {
		return p, err
	}
	if armed := a.armed(); armed != nil {
		out, err := a.compact(ctx, ask{trigger: session.TriggerRequested, attempt: 1, pending: a.pending(p, messages), note: armed.Note})
		if p, err = a.reassemble(ctx, p, out.applied, err); err != nil {
			return p, err
		}
	}
	if spoken {
		if err := a.consent(ctx, a.pending(p, messages)); err != nil {
			return p, err
		}
	}
	for attempt := 1; attempt <= maxAttempts && a.due(a.pending(p, messages)); attempt++ {
		out, err := a.compact(ctx, ask{trigger: session.TriggerPressure, attempt: attempt, pending: a.pending(p, messages)})
		if err != nil {
			return p, err
		}
		if !out.applied {
			break
		}
		if p, err = a.assemble(ctx); err != nil {
			return p, err
		}
		if out.kind == compaction.KindTrim && out.gain > 0 {
			attempt--
		} else if out.gain <= 0 {
			break // never twice on the same surface without gain
		}
	}
	return p, err
}

// reassemble returns the prompt to send after a compaction: p as it was where none
// was applied.
func (a *Agent) reassemble(ctx context.Context, p assembled, applied bool, err error) (assembled, error) {
	if err != nil || !applied {
		return p, err
	}
	return a.assemble(ctx)
}

// relieveStopping asks the strategy when a turn ended well past the line; true
// means that the turn goes on (N15).
func (a *Agent) relieveStopping(ctx context.Context) (bool, error) {
	if a.Strategy.Strategy == nil || !a.due(0) {
		return false, nil
	}
	out, err := a.compact(ctx, ask{trigger: session.TriggerStopping, attempt: 1})
	return out.applied && out.goOn, err
}

// relieveOverflow asks the strategy after the endpoint refused the request as
// too long; true means that the surface is smaller now (C10).
func (a *Agent) relieveOverflow(ctx context.Context) (bool, error) {
	if a.Strategy.Strategy == nil {
		return false, nil
	}
	out, err := a.compact(ctx, ask{trigger: session.TriggerOverflow, attempt: 1})
	if err != nil || !out.applied {
		return false, err
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

// below tells whether a measure lies below the line.
func (a *Agent) below(tokens int) bool { return a.Budget.ResetAt <= 0 || tokens < a.Budget.ResetAt }

// due tells whether the line is crossed and automatic compaction may act: it neither
// rests after an undo nor has its breaker open. It closes the breaker once the measure
// is below the line again.
func (a *Agent) due(pending int) bool {
	if a.Budget.ResetAt <= 0 || !a.Strategy.Auto {
		return false
	}
	var past, open, rests bool
	a.rec.view(func(s *fold.State) {
		measured, _ := s.Measure()
		past, open, rests = measured+pending >= a.Budget.ResetAt, s.Compaction.Breaker, s.Compaction.Rest
	})
	if !past && open {
		if err := a.rec.stage(session.New(session.KindBreaker, session.Breaker{Why: "use fell below the line"})); err != nil {
			a.Logger.Error("close the compaction breaker", "error", err)
		}
	}
	return past && !open && !rests
}

func (a *Agent) armed() *session.CompactionArmed {
	var armed *session.CompactionArmed
	a.rec.view(func(s *fold.State) { armed = s.Compaction.Armed })
	return armed
}

func (a *Agent) pending(p assembled, messages []session.Event) int {
	tokens := 0
	a.rec.view(func(s *fold.State) { tokens = s.Scale(p.pendingTokens(s, messages, a.InHistory)) })
	return tokens
}

// dueMarks returns the events of the marks that are due: the newest one's text
// is steered, the others count as shown, for they are stale (N14). Past the line
// none is.
func (a *Agent) dueMarks(s *fold.State, messages []session.Event) []session.Event {
	if a.Budget.Window <= 0 || !a.Strategy.Auto || s.Compaction.Rest {
		return nil
	}
	measured, _ := s.Measure()
	for _, e := range messages {
		if m, err := session.Decode[session.Message](e); err == nil {
			measured += s.Scale(estimate(m))
		}
	}
	remaining := a.Budget.Window - measured
	if remaining <= a.Budget.Reserve {
		return nil
	}
	a.mu.Lock()
	marks := slices.Clone(a.marks)
	a.mu.Unlock()
	slices.SortFunc(marks, func(x, y compaction.Mark) int { return x.Remaining - y.Remaining })
	var events []session.Event
	for _, m := range marks {
		if remaining > m.Remaining || s.Shown(m.ID) {
			continue
		}
		if len(events) == 0 && !laterShown(s, marks, m) {
			text := strings.ReplaceAll(m.Text, "{{room}}", strconv.Itoa(remaining-a.Budget.Reserve))
			events = append(events, userMessage(text, session.SourceHost, a.Strategy.Plugin, 0))
		}
		events = append(events, session.New(session.KindMarkShown, session.MarkShown{ID: m.ID}))
	}
	return events
}

// laterShown tells whether a mark nearer to the line was shown already.
func laterShown(s *fold.State, marks []compaction.Mark, m compaction.Mark) bool {
	return slices.ContainsFunc(marks, func(o compaction.Mark) bool { return o.Remaining < m.Remaining && s.Shown(o.ID) })
}

// fail books a compaction that did not come about, and opens the breaker after
// the third in a row. A request that the agent made itself is answered to it.
func (a *Agent) fail(ctx context.Context, q ask, cause error) error {
	at := a.where()
	err := a.rec.build(func(s *fold.State) ([]session.Event, error) {
		events := []session.Event{session.New(session.KindCompactionFailed, session.CompactionFailed{
			Strategy: a.Strategy.Name, Trigger: q.trigger, Attempt: q.attempt, Error: cause.Error()}).At(at.Turn, at.Step)}
		if s.Compaction.Failures+1 >= maxFailures && !s.Compaction.Breaker {
			events = append(events, a.breaker(s)...)
		}
		return events, nil
	})
	if err != nil {
		return err
	}
	if q.trigger == session.TriggerRequested {
		if err := a.queue(session.InboxItem{Queue: session.NextStep, Source: session.SourceHost,
			Text: "The reset you asked for failed and the conversation stays as it is: " + cause.Error()}); err != nil {
			return err
		}
	}
	return a.rec.flush(ctx)
}

// breaker opens the breaker with one warning that has the numbers.
func (a *Agent) breaker(s *fold.State) []session.Event {
	measured, source := s.Measure()
	why := fmt.Sprintf("%d compactions in a row brought no relief: %d of %d tokens in use (%s), the line is at %d, %d are fixed",
		maxFailures, measured, a.Budget.Window, source, a.Budget.ResetAt, s.Fixed())
	return []session.Event{
		session.New(session.KindBreaker, session.Breaker{Open: true, Why: why}),
		session.New(session.KindWarning, session.Warning{Code: "COMPACTION_BREAKER", Message: why,
			Hint: "use a model with a larger window, fewer tools, or another compaction.strategy"}),
	}
}
