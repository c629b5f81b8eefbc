package agent

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// near is how far apart records may lie that are read in one go.
const near = 256

// Records reads the events that the fold names.
func (x *access) Records(ctx context.Context, kind string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		var seqs []int64
		x.a.rec.view(func(s *fold.State) { seqs = s.RecordsOf(x.plugin, kind) })
		if err := x.a.rec.flush(ctx); err != nil { // what the fold knows is stored then
			yield(session.Event{}, err)
			return
		}
		for len(seqs) > 0 {
			n := 1
			for n < len(seqs) && seqs[n]-seqs[n-1] < near {
				n++
			}
			for e, err := range x.a.rec.log.Read(ctx, session.Query{After: seqs[0] - 1, Before: seqs[n-1] + 1, Kinds: []session.Kind{session.KindRecord}}) {
				if _, named := slices.BinarySearch(seqs[:n], e.Seq); err == nil && !named {
					continue
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
			seqs = seqs[n:]
		}
	}
}

func (x *access) PutRecord(ctx context.Context, kind, key string, data json.RawMessage) error {
	if kind == "" || strings.Contains(kind, "/") || !json.Valid(data) {
		return errors.New("a record needs a kind without a slash, and JSON data")
	}
	return x.a.rec.commit(ctx, session.New(session.KindRecord, session.Record{Plugin: x.plugin, Kind: kind, Key: key, Data: data}))
}
