package session

import (
	"context"
	"fmt"
	"iter"
)

// Damage is a stretch of a log that does not read. It is ErrDamaged.
type Damage struct {
	From int64  `json:"from"` // seqs, both included; To 0 = as far as the log went, which is not known
	To   int64  `json:"to"`
	What string `json:"what"` // what was found
}

func (d *Damage) Error() string {
	switch {
	case d.To == 0:
		return fmt.Sprintf("from event %d on: %s", d.From, d.What)
	case d.From == d.To:
		return fmt.Sprintf("event %d: %s", d.From, d.What)
	}
	return fmt.Sprintf("events %d to %d: %s", d.From, d.To, d.What)
}

// Is tells that damage is ErrDamaged.
func (d *Damage) Is(target error) bool { return target == ErrDamaged }

// Salvager is a Store that reads on behind damage.
type Salvager interface {
	// Salvage yields, in the order of their seqs, the events of a session that can
	// still be read whole, and in their place each stretch that cannot, as a *Damage.
	// It writes nothing to the session and needs no ownership; of a session at work it
	// yields what was durable when it began. Any other error is yielded last.
	// ErrNotFound where there is no such session.
	Salvage(ctx context.Context, id string) iter.Seq2[Event, error]
}

// Inspector is a Reader that can look at its storage itself: at what no event tells
// of, such as an index.
type Inspector interface {
	Reader
	// Inspect reads all of the storage once and says what is wrong with it, nothing
	// where it is sound.
	Inspect(ctx context.Context) ([]string, error)
}
