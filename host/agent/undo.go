package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// Undo takes the newest compaction back, and has automatic compaction rest. It must
// not run beside Run. The error is a *fold.NoUndo where there is nothing to take
// back any more; any other error beside a CompactionUndone that names one means that
// it was taken back and that the strategy is not ready for it yet, which the next
// step tries again.
func (a *Agent) Undo(ctx context.Context, from string) (session.CompactionUndone, error) {
	if err := a.rec.flush(ctx); err != nil {
		return session.CompactionUndone{}, err
	}
	var undo session.Event
	var again []fold.Again
	var err error
	a.rec.view(func(s *fold.State) { undo, again, err = s.Undo(from) })
	if err != nil {
		return session.CompactionUndone{}, err
	}
	events := []session.Event{undo}
	for _, r := range again {
		e, err := a.recordAgain(ctx, r)
		if err != nil {
			return session.CompactionUndone{}, fmt.Errorf("read what the compaction replaced: %w", err)
		}
		events = append(events, e)
	}
	a.rec.snapshot()
	err = a.rec.build(func(s *fold.State) ([]session.Event, error) {
		before, err := s.Undoable() // what came meanwhile may have changed that
		if err != nil {
			return nil, err
		}
		return append(events, a.unsaid(s, before.Ended)...), nil
	})
	if err == nil {
		err = a.rec.flush(ctx)
	}
	if err != nil {
		return session.CompactionUndone{}, err
	}
	a.learnCallIDs()
	a.mu.Lock()
	a.shared, a.before = a.before, nil
	a.mu.Unlock()
	a.unopened = a.Strategy.Strategy != nil
	undone, _ := session.Decode[session.CompactionUndone](undo)
	return undone, a.reopen(ctx)
}

// unsaid takes out of the inbox what the strategy had to say after a compaction that
// is undone, and no step has shown.
func (a *Agent) unsaid(s *fold.State, ended int64) []session.Event {
	var claimed session.InboxClaimed
	for _, it := range s.Inbox {
		if it.Seq > ended && it.Source == session.SourceHost && it.From != "" && it.From == a.Strategy.Plugin {
			claimed.Items = append(claimed.Items, it.Seq)
		}
	}
	if len(claimed.Items) == 0 {
		return nil
	}
	return []session.Event{session.New(session.KindInboxClaimed, claimed)}
}

// recordAgain is the record that an undo writes again.
func (a *Agent) recordAgain(ctx context.Context, again fold.Again) (session.Event, error) {
	for e, err := range a.rec.log.Read(ctx, session.Query{After: again.Seq - 1, Before: again.Seq + 1}) {
		if err != nil {
			return e, err
		}
		r, err := session.Decode[session.Record](e)
		if again.None {
			r.Data = json.RawMessage("null")
		}
		return session.New(session.KindRecord, r), err
	}
	return session.Event{}, fmt.Errorf("event %d is not in the log", again.Seq)
}

// undoAsked does what a person asked for from outside, once, or says why not.
func (a *Agent) undoAsked(ctx context.Context) error {
	var asked *session.UndoAsked
	a.rec.view(func(s *fold.State) { asked = s.Compaction.UndoAsked })
	if asked == nil {
		return nil
	}
	undone, err := a.Undo(ctx, asked.From)
	var no *fold.NoUndo
	switch {
	case err == nil:
		return nil
	case undone.Seq > 0:
		return a.rec.commit(ctx, session.New(session.KindWarning, session.Warning{Code: "STRATEGY_NOT_OPEN",
			Message: fmt.Sprintf("compaction %d was taken back, but the strategy does not know of it yet: %v", undone.Ordinal, err),
			Hint:    "the next step tries again; resume the session where that fails too"}))
	case errors.As(err, &no):
		return a.refuseUndo(ctx, no.Why, no.At)
	}
	return a.refuseUndo(ctx, err.Error(), 0)
}

func (a *Agent) refuseUndo(ctx context.Context, why string, at int64) error {
	refused := session.UndoRefused{Why: why, ForkAt: at}
	if at > 0 {
		refused.Hint = fmt.Sprintf("tureen session fork %s --at %d makes a session that goes on from before the compaction", a.rec.log.ID(), at)
	}
	return a.rec.commit(ctx, session.New(session.KindUndoRefused, refused))
}
