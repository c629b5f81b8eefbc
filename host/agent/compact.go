package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// Bounds of automatic compaction.
const (
	maxAttempts = 2 // a step; a trim counts as none
	maxFailures = 3 // in a row, then the breaker opens
)

var inARow = fmt.Sprintf("%d compactions in a row brought no relief", maxFailures)

// ask is one question to the strategy.
type ask struct {
	trigger      session.Trigger
	attempt      int
	pending      int  // tokens of input that is not on the surface yet
	counted      int  // tokens in use as the endpoint counted them, 0 = it did not
	more         bool // there may be nothing left to do
	instructions string
	note         string

	tokens int // in use
	began  time.Time
	bills  bill                 // when it began
	agree  func() (bool, error) // nil, or whether what was proposed may be done
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
	step, owed := a.postponed(a.pending(p, messages))
	if step {
		return p, nil
	}
	agreed := owed != "" // when it was put off
	if !agreed {
		if agreed, err = a.consent(ctx, a.pending(p, messages), spoken); err != nil {
			return p, err
		}
	}
	for attempt := 1; attempt <= maxAttempts && agreed && (owed != "" || a.due(a.pending(p, messages))); attempt++ {
		trigger := cmp.Or(owed, session.TriggerPressure)
		owed = ""
		out, err := a.compact(ctx, ask{trigger: trigger, attempt: attempt, pending: a.pending(p, messages)})
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
// means that the turn goes on (N15). A person who is to decide is asked only where it
// proposes something.
func (a *Agent) relieveStopping(ctx context.Context) (bool, error) {
	if a.Strategy.Strategy == nil {
		return false, nil
	}
	q := ask{trigger: session.TriggerStopping, attempt: 1}
	if _, owed := a.postponed(0); owed == "" {
		if !a.due(0) || a.decided(0, false) {
			return false, nil
		}
		q.agree = func() (bool, error) { return a.consent(ctx, 0, false) }
	}
	out, err := a.compact(ctx, q)
	return (out.applied || out.postponed) && out.goOn, err
}

// below tells whether a measure lies below the line.
func (a *Agent) below(tokens int) bool {
	line := a.budget().ResetAt
	return line <= 0 || tokens < line
}

// due tells whether the line is crossed and automatic compaction may act: it neither
// rests after an undo nor has its breaker open. It closes the breaker once the measure
// is below the line again.
func (a *Agent) due(pending int) bool {
	line := a.budget().ResetAt
	if line <= 0 || !a.Strategy.Auto {
		return false
	}
	var past, open, rests bool
	a.rec.view(func(s *fold.State) {
		measured, _ := s.Measure()
		past, open, rests = measured+pending >= line, s.Compaction.Breaker, s.Compaction.Rest
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
	b := a.budget()
	if b.Window <= 0 || !a.Strategy.Auto || s.Compaction.Rest {
		return nil
	}
	measured, _ := s.Measure()
	for _, e := range messages {
		if m, err := session.Decode[session.Message](e); err == nil {
			measured += s.Scale(estimate(m))
		}
	}
	remaining := b.Window - measured
	if remaining <= b.Reserve {
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
			text := strings.ReplaceAll(m.Text, "{{room}}", strconv.Itoa(remaining-b.Reserve))
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
	at, spent := a.where(), a.bills().sub(q.bills)
	err := a.rec.build(func(s *fold.State) ([]session.Event, error) {
		events := []session.Event{session.New(session.KindCompactionFailed, session.CompactionFailed{
			Strategy: a.Strategy.Name, Trigger: q.trigger, Attempt: q.attempt, Error: cause.Error(), Tokens: q.tokens,
			ModelCalls: spent.calls, CostUSD: a.price(spent), Millis: a.Now().Sub(q.began).Milliseconds()}).At(at.Turn, at.Step)}
		if s.Compaction.Failures+1 >= maxFailures && !s.Compaction.Breaker {
			events = append(events, a.breaker(s, inARow)...)
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

// unrelieved opens the breaker where the first count of the endpoint after a
// compaction is past the line and about what it was before: what it counts there no
// compaction shrinks.
func (a *Agent) unrelieved(prompt int) error {
	before, line := a.pressed, a.budget().ResetAt
	a.pressed = 0
	if before == 0 || line <= 0 || prompt < line || 10*prompt < 9*before {
		return nil
	}
	return a.rec.build(func(s *fold.State) ([]session.Event, error) {
		if s.Compaction.Breaker {
			return nil, nil
		}
		return a.breaker(s, "the newest compaction brought no relief"), nil
	})
}

// tooFull says why no request can be made: what no compaction removes leaves no room.
func (a *Agent) tooFull(p assembled) error {
	window, system, tools := a.budget().Window, llm.Estimate(llm.Text(llm.RoleSystem, p.system)), llm.EstimateTools(p.header.Tools)
	answer := min(a.Info.MaxOutputTokens, leastAnswer)
	a.rec.view(func(s *fold.State) { system, tools = s.Scale(system), s.Scale(tools) })
	if window <= 0 || a.budget().Source == sourceLearned || system+tools+answer <= window { // what was learned may be wrong: the endpoint says it again
		return nil
	}
	return &llm.Error{Code: llm.CodeOverflow,
		Message: fmt.Sprintf("about %d tokens of system prompt, %d of tool declarations and %d for an answer are more than the context window of %d, so nothing was sent", system, tools, answer, window),
		Hint:    "raise model.context_window if the model has more, or declare fewer tools, or shorten the prompt's sections"}
}

// breaker opens the breaker with one warning that has the numbers.
func (a *Agent) breaker(s *fold.State, what string) []session.Event {
	b := a.budget()
	measured, source := s.Measure()
	why := fmt.Sprintf("%s: %d of %d tokens in use (%s), the line is at %d, %d are fixed",
		what, measured, b.Window, source, b.ResetAt, s.Fixed())
	return []session.Event{
		session.New(session.KindBreaker, session.Breaker{Open: true, Why: why}),
		session.New(session.KindWarning, session.Warning{Code: "COMPACTION_BREAKER", Message: why,
			Hint: "use a model with a larger window, fewer tools, or another compaction.strategy"}),
	}
}
