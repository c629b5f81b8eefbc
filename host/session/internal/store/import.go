package store

import (
	"errors"
	"fmt"
	"iter"

	"github.com/tureen-host/tureen/host/session"
)

// Imported yields events ready to be stored, as they are. It refuses what no store
// could hold: a seq that does not follow, another first event than session.created,
// a time that cannot be kept, a payload of a newer schema, no event at all. An error
// is yielded last.
func Imported(id string, events iter.Seq2[session.Event, error]) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		seq := int64(0)
		for e, err := range events {
			if err == nil {
				e, err = imported(id, e, seq)
			}
			if err != nil {
				yield(session.Event{}, err)
				return
			}
			seq = e.Seq
			if !yield(e, nil) {
				return
			}
		}
		if seq == 0 {
			yield(session.Event{}, errors.New("there is no event; a log has at least the first"))
		}
	}
}

func imported(id string, e session.Event, before int64) (session.Event, error) {
	switch {
	case e.Seq != before+1:
		return e, fmt.Errorf("event %d follows event %d; a log has no gaps", e.Seq, before)
	case e.Seq == 1 && e.Kind != session.KindSessionCreated:
		return e, fmt.Errorf("event 1 is %s; a log begins with %s", e.Kind, session.KindSessionCreated)
	}
	if err := CheckSchema(id, e.V); err != nil {
		return e, fmt.Errorf("event %d: %w", e.Seq, err)
	}
	e, err := stored(e)
	if err != nil {
		return e, fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
	}
	return e, nil
}
