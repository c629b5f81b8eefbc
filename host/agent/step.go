package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// outcome is what a step leaves.
type outcome int

const (
	outcomeDone outcome = iota // the step ended the turn
	outcomeOwed                // tool results await an answer
	outcomeMaxTokens
)

// admit prepares a step: it claims input, lets hooks have their say, makes room
// where the context is short, and commits what the request will show. It tells
// whether there is a step to take.
func (a *Agent) admit(ctx context.Context, first bool) (bool, error) {
	if err := a.thawed(); err != nil {
		return false, err
	}
	if err := a.reopen(ctx); err != nil {
		return false, err
	}
	// 1 claim
	items := a.claim(first)
	// 2 hooks
	injected, err := a.beforeStep(ctx, items)
	if err != nil {
		return false, err
	}
	messages := a.admitted(items, injected)
	if first && len(messages) == 0 {
		return false, nil
	}
	// 3 assemble, 4 pressure: an applied proposal changes the prompt, so that it
	// is assembled after the last one
	p, err := a.assemble(ctx)
	if err != nil {
		return false, err
	}
	if err := a.tooFull(p); err != nil {
		return false, err
	}
	if p, err = a.relieve(ctx, p, messages, first && saidByPerson(items)); err != nil {
		return false, err
	}
	// what arrived while room was made does not wait for another step
	if late := a.late(first, items); len(late) > 0 {
		if injected, err = a.beforeStep(ctx, late); err != nil {
			return false, err
		}
		items, messages = append(items, late...), append(messages, a.admitted(late, injected)...)
	}
	// 5 commit
	return true, a.commitStep(ctx, p, items, messages)
}

// late picks what the step would claim by now, but for what it has claimed.
func (a *Agent) late(first bool, claimed []fold.Item) []fold.Item {
	return slices.DeleteFunc(a.claim(first), func(it fold.Item) bool {
		return slices.ContainsFunc(claimed, func(c fold.Item) bool { return c.Seq == it.Seq })
	})
}

// beforeStep lets hooks have their say. Input that one rejects is taken out of the
// inbox all the same: left there it would be rejected for ever.
func (a *Agent) beforeStep(ctx context.Context, items []fold.Item) ([]hook.Message, error) {
	if !a.Hooks.Declared(hook.BeforeStep) {
		return nil, nil
	}
	if err := a.rec.flush(ctx); err != nil {
		return nil, err
	}
	pending := make([]hook.Pending, len(items))
	for i, it := range items {
		pending[i] = hook.Pending{Text: it.Text, Source: it.Source, From: it.From, Key: it.Key}
	}
	injected, reject, err := a.Hooks.BeforeStep(ctx, a.where(), pending)
	if err != nil || reject == "" {
		return injected, err
	}
	if len(items) > 0 {
		err = a.rec.stage(session.New(session.KindInboxClaimed, claimOf(items)))
	}
	return nil, errors.Join(err, &blockedError{"BLOCKED", reject})
}

func claimOf(items []fold.Item) session.InboxClaimed {
	var claimed session.InboxClaimed
	for _, it := range items {
		claimed.Items = append(claimed.Items, it.Seq)
	}
	return claimed
}

// admitted turns claimed items and injections into the step's messages.
func (a *Agent) admitted(items []fold.Item, injected []hook.Message) []session.Event {
	var messages []session.Event
	for _, it := range items {
		messages = append(messages, userMessage(it.Text, it.Source, it.From, it.Seq))
	}
	for _, m := range injected {
		messages = append(messages, userMessage(m.Text, session.SourcePlugin, m.Plugin, 0))
	}
	return messages
}

// commitStep makes the step's beginning durable: one append.
func (a *Agent) commitStep(ctx context.Context, p assembled, items []fold.Item, messages []session.Event) error {
	a.stepCount++
	err := a.rec.build(func(s *fold.State) ([]session.Event, error) {
		turn, step := s.Turn.Ordinal, s.Turn.Step+1
		var events []session.Event
		if len(items) > 0 {
			events = append(events, session.New(session.KindInboxClaimed, claimOf(items)))
		}
		events = append(events, session.New(session.KindStepStarted, session.StepStarted{}))
		events = append(events, p.events(s, a.InHistory)...)
		events = append(events, messages...)
		events = append(events, lastWords(s)...)
		events = append(events, a.dueMarks(s, messages)...)
		for i := range events {
			events[i] = events[i].At(turn, step)
		}
		return events, nil
	})
	if err != nil {
		return err
	}
	return a.rec.flush(ctx)
}

// step makes one request and runs the tool calls of its answer.
func (a *Agent) step(ctx context.Context) (outcome, error) {
	// 6 request, 7 stream
	answer, attempt, took, err := a.ask(ctx)
	if err != nil {
		return 0, err
	}
	a.uniqueCallIDs(answer.Message)
	at := a.where()
	assistant := session.New(session.KindMessageAssistant, session.Assistant{
		Message: answer.Message, Usage: answer.Usage, Stop: answer.Stop, Model: answer.Model, Attempt: attempt, Millis: took.Milliseconds(), Purpose: a.purpose(),
	}).At(at.Turn, at.Step).On(session.Op{Kind: session.OpAppend})
	cut := a.cutsPrompt()
	if err := errors.Join(a.rec.stage(assistant), a.warnCut(cut), a.unrelieved(answer.Usage.Prompt())); err != nil {
		return 0, err
	}
	calls := answer.Message.Calls()
	out := outcomeDone
	switch {
	case answer.Stop == llm.StopMaxTokens:
		out = outcomeMaxTokens
	case len(calls) > 0: // only the presence of a call decides (L2)
		out = outcomeOwed
		// 8 tools
		conclude, err := a.runTools(ctx, at, calls)
		if err != nil {
			return 0, err
		}
		if conclude {
			out = outcomeDone
		}
	}
	return out, a.rec.stage(session.New(session.KindStepEnded, session.StepEnded{}).At(at.Turn, at.Step))
}
