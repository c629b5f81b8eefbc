package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// Prompt queues the person's words for the next turn and returns when they are
// durable (L4: followup).
func (a *Agent) Prompt(ctx context.Context, text string) error {
	return a.push(ctx, session.InboxItem{Queue: session.NextTurn, Source: session.SourceOwner, Text: text, Wake: true})
}

// Steer queues the person's words for the next step of the running turn; where
// none runs it opens one (L4).
func (a *Agent) Steer(ctx context.Context, text string) error {
	return a.push(ctx, session.InboxItem{Queue: session.NextStep, Source: session.SourceSteer, Text: text, Wake: true})
}

// textContinue is the host's word to a turn that broke off.
const textContinue = "The run was interrupted and goes on now. Continue the task where it stopped. " +
	"Where the outcome of a call is unknown, look at the actual state before you repeat it."

// Continue queues the host's word to go on with a task whose turn did not
// complete, or for which something waits that opens no turn by itself, and tells
// whether there was one. Where input waits already, mail included, that opens the
// turn, and nothing is added.
func (a *Agent) Continue(ctx context.Context) (bool, error) {
	if err := a.collectMail(ctx); err != nil {
		return false, err
	}
	if a.owed() {
		return true, nil
	}
	var broke bool
	a.rec.view(func(s *fold.State) {
		broke = s.Turn.Ordinal > 0 && s.Turn.Last != session.ReasonCompleted || s.Pending(session.NextStep)
	})
	if !broke {
		return false, nil
	}
	return true, a.push(ctx, session.InboxItem{Queue: session.NextTurn, Source: session.SourceHost, Text: textContinue, Wake: true})
}

func (a *Agent) push(ctx context.Context, item session.InboxItem) error {
	if err := a.queue(item); err != nil {
		return err
	}
	return a.rec.flush(ctx)
}

// hear stages what a plugin says to the model; a blank text is nothing.
func (a *Agent) hear(queue session.Queue, m hook.Message) error {
	if strings.TrimSpace(m.Text) == "" {
		return nil
	}
	return a.queue(session.InboxItem{Queue: queue, Source: session.SourcePlugin, From: m.Plugin, Text: m.Text, Wake: queue == session.NextTurn})
}

// queue stages an item. A second item of the same key is not queued while the
// first waits. One that wakes and comes after a cancel was not meant for the turn
// that ends: it opens one of its own (L4).
func (a *Agent) queue(item session.InboxItem) error {
	if item.Wake && a.turning.aborted() {
		item.Queue = session.NextTurn
	}
	item.Text = tool.Clean(item.Text)
	if strings.TrimSpace(item.Text) == "" {
		return errors.New("the message is empty; nothing was queued")
	}
	return a.rec.build(func(s *fold.State) ([]session.Event, error) {
		for _, it := range s.Inbox {
			if item.Key != "" && it.Key == item.Key && it.From == item.From {
				return nil, nil
			}
		}
		return []session.Event{session.New(session.KindInboxQueued, item)}, nil
	})
}

// claim picks what the next step takes: all of next-step and, at the start of a
// turn, one prompt. The items leave the inbox with the commit of the step.
func (a *Agent) claim(first bool) []fold.Item {
	var items []fold.Item
	a.rec.view(func(s *fold.State) {
		prompted := !first
		for _, it := range s.Inbox {
			switch {
			case it.Queue == session.NextStep:
				items = append(items, it)
			case !prompted:
				items, prompted = append(items, it), true
			}
		}
	})
	return items
}

// waiting tells whether the next step has input.
func (a *Agent) waiting() bool {
	waiting := false
	a.rec.view(func(s *fold.State) { waiting = s.Pending(session.NextStep) })
	return waiting
}

// userMessage makes the surface event for a text of some source.
func userMessage(text string, source session.Source, from string, item int64) session.Event {
	return session.New(session.KindMessageUser, session.Message{
		Message: llm.Text(llm.RoleUser, tool.Clean(text)), Source: source, From: from, Item: item,
	}).On(session.Op{Kind: session.OpAppend})
}
