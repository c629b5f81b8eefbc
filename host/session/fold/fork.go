package fold

import (
	"context"
	"errors"
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

func (e *CutError) Error() string { return fmt.Sprintf("event %d is no place for a cut", e.At) }

// Fork yields the log of a branch: the events of log up to at (0 = its head), the
// first with created as its payload, then what closes that which the cut left open
// (L9). state is the fold of what was yielded so far. It reads log as it yields.
func Fork(ctx context.Context, log session.Reader, created session.Created, at int64) (events iter.Seq2[session.Event, error], state *State, err error) {
	return nil, nil, errors.New("fold: Fork is not built yet")
}

// LastTurnEnd is the seq of the newest turn.ended of a log, 0 where there is none.
func LastTurnEnd(ctx context.Context, log session.Reader) (int64, error) {
	for e, err := range log.Read(ctx, session.Query{Kinds: []session.Kind{session.KindTurnEnded}, Reverse: true, Limit: 1}) {
		return e.Seq, err
	}
	return 0, nil
}
