package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// record is the only place that appends to the log. Events are folded when they
// are staged and durable when commit or flush returns; whoever shows something
// to the model, a tool or a hook flushes first (L17).
type record struct {
	log     session.Log
	now     func() time.Time
	observe func(session.Event) // called when durable, in order
	secrets secrets             // taken out of every event

	writing sync.Mutex // one append at a time
	mu      sync.RWMutex
	state   *fold.State
	staged  []session.Event
	taken   []int64 // mails that the next append executes
	snap    bool    // the next append stores a snapshot
	durable int64
	broken  error // the first failed append; nothing is written after it
}

func newRecord(log session.Log, state *fold.State, now func() time.Time) *record {
	return &record{log: log, state: state, now: now, durable: state.Head, observe: func(session.Event) {}}
}

// view reads the state.
func (r *record) view(read func(*fold.State)) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	read(r.state)
}

// stage folds events that the next commit makes durable.
func (r *record) stage(events ...session.Event) error {
	return r.build(func(*fold.State) ([]session.Event, error) { return events, nil })
}

// build stages the events that make returns; it sees the state they follow and
// may name nodes by the seqs they will get: state.Head+1 and on.
func (r *record) build(make func(*fold.State) ([]session.Event, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.add(make)
}

// add is build for a caller that holds mu.
func (r *record) add(make func(*fold.State) ([]session.Event, error)) error {
	if r.broken != nil {
		return r.broken
	}
	events, err := make(r.state)
	if err != nil {
		return err
	}
	now := r.now().UTC()
	for _, e := range events {
		e.Seq, e.Time, e.Data = r.state.Head+1, now, r.secrets.json(e.Data)
		if err := r.state.Apply(e); err != nil {
			r.broken = fmt.Errorf("fold: %w", err)
			return r.broken
		}
		r.staged = append(r.staged, e)
	}
	return nil
}

// take stages what a mail comes to, at least one event that make returns, together
// with taking it: one append has both.
func (r *record) take(mail int64, make func(*fold.State) ([]session.Event, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.add(make); err != nil {
		return err
	}
	r.taken = append(r.taken, mail)
	return nil
}

// commit stages events and makes everything staged durable in one append.
func (r *record) commit(ctx context.Context, events ...session.Event) error {
	if err := r.stage(events...); err != nil {
		return err
	}
	return r.flush(ctx)
}

// snapshot lets the next append store a snapshot.
func (r *record) snapshot() {
	r.mu.Lock()
	r.snap = true
	r.mu.Unlock()
}

// flush makes everything staged durable. A cancel does not stop it.
func (r *record) flush(ctx context.Context) error {
	r.writing.Lock()
	defer r.writing.Unlock()
	r.mu.Lock()
	batch, taken, head, broken := r.staged, r.taken, r.durable, r.broken
	var snap []byte
	if r.snap && len(batch) > 0 {
		snap, r.snap = r.state.Snapshot(), false
	}
	r.staged, r.taken = nil, nil
	r.mu.Unlock()
	if broken != nil || len(batch) == 0 {
		return broken
	}
	last, err := r.log.Append(context.WithoutCancel(ctx), session.Batch{Head: head, Events: batch, Snapshot: snap, Taken: taken})
	r.mu.Lock()
	if err != nil {
		r.broken = fmt.Errorf("write the log of session %s: %w", r.log.ID(), err)
		broken = r.broken
	} else {
		r.durable = last
	}
	r.mu.Unlock()
	if broken != nil {
		return broken
	}
	for _, e := range batch {
		r.observe(e)
	}
	return nil
}
