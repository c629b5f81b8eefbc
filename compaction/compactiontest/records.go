package compactiontest

import (
	"bytes"
	"context"
	"iter"
	"maps"
	"slices"

	"github.com/tureen-host/tureen/host/session"
)

// Records is what session.Access.Records yields of a plugin's records in a log.
func Records(events []session.Event, plugin, kind string) iter.Seq2[session.Event, error] {
	newest := map[[2]string]session.Event{}
	for _, e := range events {
		r, err := session.Decode[session.Record](e)
		if e.Kind != session.KindRecord || err != nil || r.Plugin != plugin || kind != "" && r.Kind != kind {
			continue
		}
		newest[[2]string{r.Kind, r.Key}] = e
		if bytes.Equal(r.Data, []byte("null")) {
			delete(newest, [2]string{r.Kind, r.Key})
		}
	}
	list := slices.SortedFunc(maps.Values(newest), func(x, y session.Event) int { return int(x.Seq - y.Seq) })
	return func(yield func(session.Event, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// Records implements session.Access.
func (s *Session) Records(_ context.Context, kind string) iter.Seq2[session.Event, error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Refuse != nil {
		refuse := s.Refuse
		return func(yield func(session.Event, error) bool) { yield(session.Event{}, refuse) }
	}
	return Records(slices.Clone(s.events), s.plugin, kind)
}
