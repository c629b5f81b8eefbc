package session

import (
	"context"
	"iter"
)

// Importer is a Store that makes sessions of events that exist already.
type Importer interface {
	// Import makes the session id, unused so far, of events: they are stored as they
	// are, seq and time included, and begin with session.created at seq 1, without
	// gaps. The id in that event's payload may be another: a session is called as its
	// store calls it. snapshot, where not nil, is asked once after the last event and
	// stored with that head. The session is there, durable and whole, when Import
	// returns nil, and otherwise not at all; nobody owns it then.
	Import(ctx context.Context, id string, events iter.Seq2[Event, error], snapshot func() []byte) error
}
