package fold

import (
	"context"
	"fmt"
	"iter"

	"github.com/tureen-host/tureen/host/session"
)

// CutError is an event at which no log can be cut.
type CutError struct {
	At, Head      int64
	Before, After int64  // the nearest places where it can, 0 = none
	Why           string // "" = there is no such event
}

func (e *CutError) Error() string {
	if e.Why == "" {
		return fmt.Sprintf("there is no event %d to cut at: the log has events 1 to %d", e.At, e.Head)
	}
	text := fmt.Sprintf("event %d is no place for a cut: %s", e.At, e.Why)
	switch {
	case e.Before > 0 && e.After > 0:
		return fmt.Sprintf("%s; cut at event %d or at event %d", text, e.Before, e.After)
	case e.Before > 0:
		return fmt.Sprintf("%s; cut at event %d", text, e.Before)
	case e.After > 0:
		return fmt.Sprintf("%s; cut at event %d", text, e.After)
	}
	return text
}

// branched words what closes the log of a branch.
var branched = closing{
	started: "Error: this conversation was branched off while the call was under way: it was started, and its result is not part of the branch. " +
		"The session it was branched from may have finished it since. Repeat it only if it merely reads or can safely be done twice; otherwise look at the actual state first, or ask the user.",
	waiting: "Error: this conversation was branched off before the call was seen to start, and its result is not part of the branch. " +
		"The session it was branched from may have made it since. Before you make it again, look at the actual state or ask the user, unless it merely reads or can safely be done twice.",
	question: "the question stays with the session that this one was branched from",
	batch:    "the batch was cut by the branch",
	failure:  session.Failure{Code: "FORKED", Message: "the branch begins in the middle of this turn"},
}

// Fork yields the log of a branch: the events of log up to at (0 = its head), the
// first with created as its payload, then what closes that which the cut left open
// (L9). What was asked of the other session, and what works for it, stays with it. state
// is the fold of what was yielded so far. It reads log as it yields.
func Fork(ctx context.Context, log session.Reader, created session.Created, at int64) (events iter.Seq2[session.Event, error], state *State, err error) {
	head, err := log.Head(ctx)
	if err != nil {
		return nil, nil, err
	}
	if at == 0 {
		at = head
	}
	if err := cuttable(ctx, log, at, head); err != nil {
		return nil, nil, err
	}
	state = New()
	return func(yield func(session.Event, error) bool) {
		*state = *New()
		put := func(e session.Event) bool {
			if err := state.Apply(e); err != nil {
				yield(session.Event{}, err)
				return false
			}
			return yield(e, nil)
		}
		for e, err := range log.Read(ctx, session.Query{Before: at + 1}) {
			if err == nil && e.Seq == 1 {
				e, err = born(e, created)
			}
			if err != nil {
				yield(session.Event{}, err)
				return
			}
			if !put(e) {
				return
			}
		}
		for _, e := range branchClosers(state) {
			e.Seq, e.Time = state.Head+1, created.Time
			if !put(e) {
				return
			}
		}
	}, state, nil
}

// born is the first event of a log that is made from another.
func born(e session.Event, created session.Created) (session.Event, error) {
	if e.Kind != session.KindSessionCreated {
		return e, fmt.Errorf("event 1: a log begins with %s, this one with %s", session.KindSessionCreated, e.Kind)
	}
	first := session.New(session.KindSessionCreated, created)
	first.Seq, first.Time = 1, created.Time
	return first, nil
}

// branchClosers close what the cut left open.
func branchClosers(s *State) []session.Event {
	var events []session.Event
	for _, q := range s.Questions {
		events = append(events, branched.declined(q))
	}
	for _, c := range s.Running() {
		events = append(events, session.New(session.KindChildSettled, session.ChildSettled{ID: c.ID, Reason: session.ReasonCancelled, Lost: true}))
	}
	if s.Compaction.Asked != nil {
		events = append(events, session.New(session.KindCompactionDropped, session.CompactionDropped{Why: "it was asked of the session that this one was branched from"}))
	}
	if s.Compaction.UndoAsked != nil {
		events = append(events, session.New(session.KindUndoRefused, session.UndoRefused{Why: "it was asked of the session that this one was branched from"}))
	}
	if s.Archived {
		events = append(events, session.New(session.KindSessionArchived, session.Archived{}))
	}
	return append(events, branched.turn(s)...)
}

// cuttable tells whether a log may be cut behind an event: not inside a compaction,
// nor between an undo and the records that it puts back.
func cuttable(ctx context.Context, log session.Reader, at, head int64) error {
	switch {
	case at < 1:
		return &CutError{At: at, Head: head, After: min(1, head)}
	case at > head:
		return &CutError{At: at, Head: head, Before: head}
	}
	if err := outsideCompaction(ctx, log, at, head); err != nil {
		return err
	}
	return outsideUndo(ctx, log, at, head)
}

func outsideCompaction(ctx context.Context, log session.Reader, at, head int64) error {
	edge, err := first(ctx, log, session.Query{Before: at + 1, Reverse: true, Limit: 1,
		Kinds: []session.Kind{session.KindCompactionStarted, session.KindCompactionEnded}})
	if err != nil || edge.Kind != session.KindCompactionStarted {
		return err
	}
	end, err := first(ctx, log, session.Query{After: at, Kinds: []session.Kind{session.KindCompactionEnded}, Limit: 1})
	if err != nil {
		return err
	}
	return &CutError{At: at, Head: head, Before: edge.Seq - 1, After: end.Seq, Why: fmt.Sprintf("it lies inside the compaction that begins at event %d", edge.Seq)}
}

// outsideUndo looks at the records on both sides of the cut.
func outsideUndo(ctx context.Context, log session.Reader, at, head int64) error {
	undone, last := int64(0), int64(0)
	for e, err := range log.Read(ctx, session.Query{Before: at + 1, Reverse: true}) {
		if err != nil {
			return err
		}
		if e.Kind == session.KindCompactionUndone {
			undone = e.Seq
		}
		if e.Kind != session.KindRecord {
			break
		}
	}
	if undone == 0 {
		return nil
	}
	for e, err := range log.Read(ctx, session.Query{After: at}) {
		if err != nil {
			return err
		}
		if e.Kind != session.KindRecord {
			break
		}
		last = e.Seq
	}
	if last == 0 {
		return nil
	}
	return &CutError{At: at, Head: head, Before: undone - 1, After: last, Why: fmt.Sprintf("it lies inside the undo at event %d", undone)}
}

// first returns the first event that q selects, the zero event where there is none.
func first(ctx context.Context, log session.Reader, q session.Query) (session.Event, error) {
	for e, err := range log.Read(ctx, q) {
		return e, err
	}
	return session.Event{}, nil
}

// LastTurnEnd is the seq of the newest turn.ended of a log, 0 where there is none.
func LastTurnEnd(ctx context.Context, log session.Reader) (int64, error) {
	e, err := first(ctx, log, session.Query{Kinds: []session.Kind{session.KindTurnEnded}, Reverse: true, Limit: 1})
	return e.Seq, err
}
