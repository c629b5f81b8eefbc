package sqlitelog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/tureen-host/tureen/host/session"
)

// Salvage implements session.Salvager. Of a session at work it asks SQLite, as long
// as that answers. Any other, and what SQLite does not give, it reads from the bytes
// of the files and leaves them as they are: SQLite would bring what it takes for valid
// from the write-ahead log into the database and throw away the rest.
//
// It keeps sixteen bytes or so in memory for an event, and one event.
func (s *Store) Salvage(ctx context.Context, id string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		if err := s.find(ctx, id); err != nil {
			yield(session.Event{}, err)
			return
		}
		sv := &salvage{yield: yield}
		path := s.path(id)
		owner, _ := s.Owner(ctx, id)
		if owner != "" || leftover(path, "-journal") {
			if r, err := s.openReader(ctx, id, forReading); err == nil {
				defer r.Close()
				if sv.ask(ctx, r) {
					return
				}
			}
		}
		m, done, err := openImage(path)
		if err == nil {
			defer done()
			err = sv.dig(ctx, m, s.expected(ctx, id))
		}
		if err != nil {
			yield(session.Event{}, fmt.Errorf("session %s: salvage: %w", id, err))
		}
	}
}

// expected is how many events the catalogue knows of, 0 where it does not say.
func (s *Store) expected(ctx context.Context, id string) int64 {
	if !exists(s.catalogue.path) {
		return 0
	}
	events, _ := s.catalogue.events(ctx, id)
	return events
}

// salvage is one that is going on.
type salvage struct {
	yield func(session.Event, error) bool
	last  int64 // seq of what was yielded last, be it event or damage
	head  int64 // no event behind it is wanted; 0 = not known
}

// ask yields what SQLite reads. It tells whether that was all.
func (sv *salvage) ask(ctx context.Context, r *reader) (done bool) {
	head, err := r.Head(ctx)
	if err != nil {
		return false
	}
	sv.head = head
	for scan := newScan(session.Query{}, head); !scan.over(); {
		events, err := r.page(ctx, scan)
		for _, e := range events {
			if sv.last = e.Seq; !sv.yield(e, nil) {
				return true
			}
		}
		var damage *session.Damage
		switch {
		case err == nil:
		case errors.As(err, &damage):
			if sv.last = damage.To; !sv.yield(session.Event{}, damage) {
				return true
			}
			scan.after = damage.To
		case errors.Is(err, session.ErrDamaged):
			return false
		default:
			sv.yield(session.Event{}, err)
			return true
		}
	}
	return sv.last >= head
}

// dig yields what the bytes of the files hold, behind last.
func (sv *salvage) dig(ctx context.Context, m *image, expected int64) error {
	if err := m.search(ctx.Err); err != nil {
		return err
	}
	why, unread := "", int64(0)
	for _, p := range m.found {
		if p.seq <= sv.last || sv.head > 0 && p.seq > sv.head {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		e, err := m.event(p)
		if err != nil {
			why = err.Error()
			if p.seq <= sv.last+int64(len(m.found)) {
				unread = p.seq
			}
			continue
		}
		if !sv.lost(e.Seq-1, why) || !sv.yield(e, nil) {
			return nil
		}
		sv.last, why = e.Seq, ""
	}
	sv.tail(m, max(unread, expected, sv.head), why)
	return nil
}

// lost yields the damage between what was yielded last and a seq, where there is any.
func (sv *salvage) lost(to int64, why string) bool {
	if to <= sv.last {
		return true
	}
	damage := &session.Damage{From: sv.last + 1, To: to, What: cmp.Or(why, "nothing is there")}
	sv.last = to
	return sv.yield(session.Event{}, damage)
}

// tail yields the damage at the end of the log, of which known events were there.
func (sv *salvage) tail(m *image, known int64, why string) {
	switch {
	case known > sv.last:
		sv.lost(known, why)
	case sv.last == 0:
		sv.yield(session.Event{}, &session.Damage{From: 1, What: "there is no event in the file"})
	case m.short():
		sv.yield(session.Event{}, &session.Damage{From: sv.last + 1, What: "the file ends before it should"})
	}
}
