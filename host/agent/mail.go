package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// mailEvery is how often a running agent looks for commands of other processes.
const mailEvery = 150 * time.Millisecond

// ErrCancelAsked is the cause of a cancel that another process asked for.
var ErrCancelAsked = errors.New("cancelled by another process")

// watchMail executes mail while the agent runs; cancel ends the running step.
// The returned stop waits until the watch has ended.
func (a *Agent) watchMail(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	log, ok := a.Log.(session.MailLog)
	if !ok {
		return func() {}
	}
	ctx, end := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(mailEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if asked, err := a.takeMail(ctx, log); err != nil && ctx.Err() == nil {
				a.Logger.Warn("look for mail", "error", err)
			} else if asked {
				cancel(ErrCancelAsked)
			}
		}
	}()
	return func() { end(); <-done }
}

// collectMail executes what waits, once. A cancel finds nothing to end.
func (a *Agent) collectMail(ctx context.Context) error {
	if log, ok := a.Log.(session.MailLog); ok {
		_, err := a.takeMail(ctx, log)
		return err
	}
	return nil
}

// takeMail turns the waiting mail into events, each exactly once, and tells
// whether a cancel was among them.
func (a *Agent) takeMail(ctx context.Context, log session.MailLog) (cancel bool, err error) {
	a.mailing.Lock()
	defer a.mailing.Unlock()
	mail, err := log.Mail(ctx)
	if err != nil || len(mail) == 0 {
		return false, err
	}
	for _, m := range mail {
		cancel = cancel || m.Command == session.CommandCancel
		if m.Command == session.CommandSteer && (cancel || a.turning.aborted()) {
			m.Command = session.CommandPrompt // it was not meant for the turn that ends (L4)
		}
		if err := a.rec.take(m.ID, func(s *fold.State) ([]session.Event, error) { return a.mailEvents(s, m), nil }); err != nil {
			return cancel, err
		}
	}
	return cancel, a.rec.flush(ctx)
}

// mailEvents are what a mail comes to, at least one.
func (a *Agent) mailEvents(s *fold.State, m session.Mail) []session.Event {
	if m.Command != session.CommandAnswer {
		return []session.Event{mailEvent(m)}
	}
	var answer session.Answer
	err := json.Unmarshal([]byte(m.Text), &answer)
	if err == nil {
		var events []session.Event
		if events, err = a.answered(s, answer); err == nil {
			return events
		}
	}
	return []session.Event{session.New(session.KindWarning, session.Warning{Code: "ANSWER_IGNORED", Message: "another process left an answer that was not taken: " + tool.Clean(err.Error())})}
}

func mailEvent(m session.Mail) session.Event {
	item := session.InboxItem{Queue: session.NextTurn, Source: session.SourceOwner, Text: tool.Clean(m.Text), Wake: true}
	says := m.Command == session.CommandPrompt || m.Command == session.CommandSteer
	if says && strings.TrimSpace(item.Text) == "" {
		return session.New(session.KindWarning, session.Warning{Code: "EMPTY_MESSAGE", Message: "another process left a message without text; nothing was queued"})
	}
	switch m.Command {
	case session.CommandPrompt:
		return session.New(session.KindInboxQueued, item)
	case session.CommandSteer:
		item.Queue, item.Source = session.NextStep, session.SourceSteer
		return session.New(session.KindInboxQueued, item)
	case session.CommandCancel:
		return session.New(session.KindCancelAsked, session.CancelAsked{From: m.From})
	case session.CommandCompact:
		return session.New(session.KindCompactionAsked, session.CompactionAsked{Instructions: tool.Clean(m.Text), From: m.From})
	case session.CommandUndo:
		return session.New(session.KindUndoAsked, session.UndoAsked{From: m.From})
	case session.CommandArchive:
		return archiveMail(m)
	}
	return session.New(session.KindWarning, session.Warning{Code: "UNKNOWN_COMMAND", Message: "another process left the command " + string(m.Command) + ", which this version does not know"})
}

// errands does what persons asked for from outside that waits for a moment in which
// no turn is going on. It leaves them alone where ctx has ended.
func (a *Agent) errands(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	if _, err := a.compactAsked(ctx, 0); err != nil {
		return err
	}
	return a.undoAsked(ctx)
}

// hasErrand tells whether there is one.
func (a *Agent) hasErrand() bool {
	has := false
	a.rec.view(func(s *fold.State) { has = s.Compaction.Asked != nil || s.Compaction.UndoAsked != nil })
	return has
}

// asked returns a compaction that a person asked for from outside.
func (a *Agent) asked() *session.CompactionAsked {
	var asked *session.CompactionAsked
	a.rec.view(func(s *fold.State) { asked = s.Compaction.Asked })
	return asked
}

// compactAsked does what a person asked for from outside, once, whatever comes of
// it. It tells whether a compaction was applied.
func (a *Agent) compactAsked(ctx context.Context, pending int) (bool, error) {
	asked := a.asked()
	switch {
	case asked == nil:
		return false, nil
	case a.Strategy.Strategy == nil:
		return false, a.dropAsked(ctx, "this profile has no compaction strategy")
	case a.frozen() != "":
		return false, a.dropAsked(ctx, "the session is archived")
	}
	out, err := a.compact(ctx, ask{trigger: session.TriggerManual, attempt: 1, pending: pending, instructions: asked.Instructions})
	return out.applied, err
}

// dropAsked answers a person's request, if there is one, with a reason.
func (a *Agent) dropAsked(ctx context.Context, why string) error {
	if a.asked() == nil {
		return nil
	}
	at := a.where()
	return a.rec.commit(ctx, session.New(session.KindCompactionDropped, session.CompactionDropped{Why: why}).At(at.Turn, at.Step))
}
