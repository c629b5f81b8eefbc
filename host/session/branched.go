package session

import (
	"context"
	"iter"
)

// Branched tells where the own part of a branch begins: the seq of the last event
// that it took over from the session it was made from (L9). It is 0 for any other
// session. What was begun up to there for something outside of the log, a clock or a
// process, belongs to that other session.
func Branched(ctx context.Context, log interface {
	Events(context.Context, Query) iter.Seq2[Event, error]
}) (int64, error) {
	for e, err := range log.Events(ctx, Query{Before: 2, Kinds: []Kind{KindSessionCreated}, Limit: 1}) {
		if err != nil || e.Kind != KindSessionCreated {
			return 0, err
		}
		created, err := Decode[Created](e)
		if err != nil || created.Origin == nil || created.Origin.How != HowFork {
			return 0, err
		}
		return created.Origin.Seq, nil
	}
	return 0, nil
}
