package memlog

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// record is a session. Its events are only ever appended to, so that a slice of
// them that was taken under mu stays good without it.
type record struct {
	mu       sync.RWMutex
	row      session.Summary
	events   []session.Event
	snapshot []byte
	snapHead int64
	mail     []session.Mail // what waits
	posted   int64          // id of the newest mail there ever was
	owned    bool
	removed  bool
}

// append writes b, all or nothing.
func (r *record) append(b session.Batch, now time.Time) (int64, error) {
	events, err := store.Stamp(b, now)
	if err != nil {
		return 0, fmt.Errorf("session %s: append: %w", r.row.ID, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	head := int64(len(r.events))
	if b.Head != head {
		return 0, store.Conflict(r.row.ID, b.Head, head)
	}
	mail, err := r.without(b.Taken)
	if err != nil {
		return 0, fmt.Errorf("session %s: append: %w", r.row.ID, err)
	}
	r.mail = mail
	for _, e := range events {
		r.add(e)
	}
	head += int64(len(events))
	if b.Snapshot != nil {
		r.snapshot, r.snapHead = bytes.Clone(b.Snapshot), head
	}
	return head, nil
}

// add puts an event behind the others.
func (r *record) add(e session.Event) {
	r.events = append(r.events, e)
	store.Fold(&r.row, e)
	r.row.Bytes += int64(len(e.Data))
}

// view returns the log as it stands.
func (r *record) view() []session.Event {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.events
}

func (r *record) summary() session.Summary {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.row
}

// take makes the caller the owner.
func (r *record) take() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.removed:
		return store.NotFound(r.row.ID)
	case r.owned:
		return &session.LockedError{ID: r.row.ID, Owner: store.Process()}
	}
	r.owned = true
	return nil
}

func (r *record) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owned = false
}

// reader is a session.Reader.
type reader struct {
	record *record
	closed atomic.Bool
}

func (r *reader) ID() string { return r.record.row.ID }

func (r *reader) check(ctx context.Context) error {
	if r.closed.Load() {
		return store.Closed(r.ID())
	}
	return ctx.Err()
}

func (r *reader) Head(ctx context.Context) (int64, error) {
	return int64(len(r.record.view())), r.check(ctx)
}

func (r *reader) Snapshot(ctx context.Context) ([]byte, int64, error) {
	if err := r.check(ctx); err != nil {
		return nil, 0, err
	}
	r.record.mu.RLock()
	defer r.record.mu.RUnlock()
	return bytes.Clone(r.record.snapshot), r.record.snapHead, nil
}

func (r *reader) Close() error {
	r.closed.Store(true)
	return nil
}

// Read implements session.Reader. The events share their data with the log: they
// must not be changed.
func (r *reader) Read(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		left := q.Limit
		for e := range between(r.record.view(), q) {
			if err := r.check(ctx); err != nil {
				yield(session.Event{}, err)
				return
			}
			if len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind) {
				continue
			}
			if !yield(e, nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
		if err := r.check(ctx); err != nil {
			yield(session.Event{}, err)
		}
	}
}

// between yields the events of q's range in q's order.
func between(events []session.Event, q session.Query) iter.Seq[session.Event] {
	end := int64(len(events))
	if q.Before > 0 {
		end = min(end, q.Before-1)
	}
	events = events[min(max(q.After, 0), end):end]
	return func(yield func(session.Event) bool) {
		for i := range events {
			if q.Reverse {
				i = len(events) - 1 - i
			}
			if !yield(events[i]) {
				return
			}
		}
	}
}

// log is a session.Log.
type log struct{ reader }

func (l *log) Append(ctx context.Context, b session.Batch) (int64, error) {
	if err := l.check(ctx); err != nil {
		return 0, err
	}
	return l.record.append(b, time.Now())
}

func (l *log) Close() error {
	if !l.closed.Swap(true) {
		l.record.release()
	}
	return nil
}
