package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// Moved is a session that was made of another log.
type Moved struct {
	Session string `json:"session"`        // its id
	From    string `json:"from,omitempty"` // the session it was made of
	At      int64  `json:"at,omitempty"`   // the last event taken over
	Events  int64  `json:"events"`         // of the new session
	Title   string `json:"title,omitempty"`
	Open    bool   `json:"open,omitempty"` // its last turn has no end; a resume ends it
}

// Fork makes a session that begins with the log of another up to an event, 0 for
// all of it. Notes of the session stay with the other. The error is a
// *fold.CutError where it cannot be cut there.
func Fork(ctx context.Context, store session.Store, from string, at int64, progress func(events int64)) (Moved, error) {
	log, err := store.View(ctx, from)
	if err != nil {
		return Moved{}, err
	}
	defer log.Close()
	created, err := createdOf(ctx, log)
	if err != nil {
		return Moved{}, err
	}
	if at == 0 {
		if at, err = log.Head(ctx); err != nil {
			return Moved{}, err
		}
	}
	created.ID, created.Time = newID(), time.Now().UTC()
	created.Parent, created.Depth, created.Spawn = "", 0, nil // a branch of a subagent is the person's own
	events, state, err := branched(ctx, log, &created, at)
	if err != nil {
		return Moved{}, err
	}
	if err := bring(ctx, store, created.ID, counted(events, progress), state.Snapshot); err != nil {
		return Moved{}, err
	}
	return Moved{Session: created.ID, From: from, At: at, Events: state.Head, Title: created.Title}, nil
}

// Import makes a session of JSON lines, event for event. It takes the id that the
// log was made with where that is free in the store, and a new one elsewhere. A log
// that breaks a rule is refused with the line, a *RuleError inside a LineError: a
// session could go on wrongly with it, or not at all.
func Import(ctx context.Context, store session.Store, r io.Reader, progress func(events int64)) (Moved, error) {
	next, stop := iter.Pull2(session.ReadLines(r))
	defer stop()
	first, err, _ := next()
	if err != nil {
		return Moved{}, err
	}
	created, err := session.Decode[session.Created](first)
	if err != nil {
		return Moved{}, &session.LineError{Line: 1, Err: err}
	}
	checker := fold.NewChecker()
	events := func(yield func(session.Event, error) bool) {
		for e, err, ok := first, error(nil), true; ok; e, err, ok = next() {
			if err == nil {
				checker.Event(e)
				err = broken(checker)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
		checker.End()
		if err := broken(checker); err != nil {
			yield(session.Event{}, err)
		}
	}
	id := created.ID
	if free, err := unused(ctx, store, id); err != nil {
		return Moved{}, err
	} else if !free {
		id = newID()
	}
	if err := bring(ctx, store, id, counted(events, progress), checker.State().Snapshot); err != nil {
		return Moved{}, err
	}
	state := checker.State()
	return Moved{Session: id, From: created.ID, Events: state.Head, Title: created.Title, Open: state.Turn.Open}, nil
}

// RuleError is a rule that a log breaks.
type RuleError fold.Violation

func (e *RuleError) Error() string {
	return fmt.Sprintf("event %d breaks the rule %q: %s", e.Seq, e.Rule, e.Text)
}

// broken is the first rule that was broken. A line has one event.
func broken(c *fold.Checker) error {
	if v := c.Violations(); len(v) > 0 {
		first := RuleError(v[0])
		return &session.LineError{Line: int(first.Seq), Err: &first}
	}
	return nil
}

// Salvage makes a new session of what still reads of a damaged one, which stays as
// it is.
func Salvage(ctx context.Context, store session.Store, from string, known session.Summary, progress func(events int64)) (Moved, *fold.Salvaged, error) {
	salvager, ok := store.(session.Salvager)
	if !ok {
		return Moved{}, nil, errors.New("this store cannot read behind damage")
	}
	created := session.Created{ID: newID(), Workspace: known.Workspace, Profile: known.Profile, Strategy: known.Strategy,
		Title: known.Title, Time: time.Now().UTC(), Origin: &session.Origin{Session: from, How: session.HowSalvage}}
	events, state, result := fold.Salvage(salvager.Salvage(ctx, from), created)
	if err := bring(ctx, store, created.ID, counted(events, progress), state.Snapshot); err != nil {
		return Moved{}, nil, err
	}
	return Moved{Session: created.ID, From: from, Events: state.Head, Title: state.Created.Title}, result, nil
}

// bring imports events where the store can.
func bring(ctx context.Context, store session.Store, id string, events iter.Seq2[session.Event, error], snapshot func() []byte) error {
	importer, ok := store.(session.Importer)
	if !ok {
		return errors.New("this store takes no sessions from elsewhere")
	}
	return importer.Import(ctx, id, events, snapshot)
}

// counted tells progress of every thousandth event.
func counted(events iter.Seq2[session.Event, error], progress func(int64)) iter.Seq2[session.Event, error] {
	if progress == nil {
		return events
	}
	return func(yield func(session.Event, error) bool) {
		for e, err := range events {
			if err == nil && e.Seq%1000 == 0 {
				progress(e.Seq)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// unused tells whether no session of the store has that id; one that newID cannot
// have made counts as used.
func unused(ctx context.Context, store session.Store, id string) (bool, error) {
	if _, err := ulid.ParseStrict(id); err != nil || id != strings.ToLower(id) {
		return false, nil
	}
	r, err := store.View(ctx, id)
	if err == nil {
		return false, r.Close()
	}
	if errors.Is(err, session.ErrNotFound) {
		return true, nil
	}
	return false, ctx.Err()
}

func createdOf(ctx context.Context, log session.Reader) (session.Created, error) {
	for e, err := range log.Read(ctx, session.Query{Limit: 1}) {
		if err != nil {
			return session.Created{}, err
		}
		return session.Decode[session.Created](e)
	}
	return session.Created{}, fmt.Errorf("session %s has no event", log.ID())
}
