package compactiontest

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Events implements session.Access.
func (s *Session) Events(_ context.Context, q session.Query) iter.Seq2[session.Event, error] {
	s.mu.Lock()
	events, refuse := slices.Clone(s.events), s.Refuse
	s.mu.Unlock()
	if q.Reverse {
		slices.Reverse(events)
	}
	return func(yield func(session.Event, error) bool) {
		if refuse != nil {
			yield(session.Event{}, refuse)
			return
		}
		n := 0
		for _, e := range events {
			if e.Seq <= q.After || q.Before > 0 && e.Seq >= q.Before || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind) {
				continue
			}
			if n++; q.Limit > 0 && n > q.Limit || !yield(e, nil) {
				return
			}
		}
	}
}

// Outline implements session.Access.
func (s *Session) Outline(ctx context.Context) (session.Outline, error) {
	if s.paused != nil {
		s.paused(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return session.Outline{Revision: int64(len(s.events)), Nodes: s.nodes()}, s.away
}

// Meter implements session.Access.
func (s *Session) Meter(context.Context) (session.Meter, error) {
	in := s.Input(session.TriggerPressure)
	return session.Meter{Window: s.Budget.Window, Measured: in.Measured, Source: in.Source, ResetAt: s.Budget.ResetAt,
		Reserve: s.Budget.Reserve, Fixed: llm.EstimateText(s.base), Ordinal: s.resets + 1}, s.away
}

// Steer implements session.Access.
func (s *Session) Steer(_ context.Context, text, key string, wake bool) error {
	s.Append(session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextStep, Source: session.SourcePlugin,
		From: s.plugin, Text: text, Key: key, Wake: wake}))
	return nil
}

// PutRecord implements session.Access.
func (s *Session) PutRecord(_ context.Context, kind, key string, data json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(compaction.Record{Kind: kind, Key: key, Data: data})
	return nil
}
