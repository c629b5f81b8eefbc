package memlog

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// Import implements session.Importer.
func (s *Store) Import(ctx context.Context, id string, events iter.Seq2[session.Event, error], snapshot func() []byte) error {
	if err := s.unused(ctx, id); err != nil {
		return err
	}
	r := &record{row: session.Summary{ID: id}}
	for e, err := range store.Imported(id, events) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("session %s: import: %w", id, err)
		}
		r.add(e)
	}
	if snapshot != nil {
		r.snapshot = bytes.Clone(snapshot())
	}
	if r.snapshot != nil {
		r.snapHead = int64(len(r.events))
	}
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if err := s.free(id); err != nil { // not any more
		return err
	}
	s.sessions[id] = r
	return nil
}

// unused refuses an id that cannot be given to a new session.
func (s *Store) unused(ctx context.Context, id string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	return s.free(id)
}

// free is unused for a caller that has locked the store.
func (s *Store) free(id string) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	if s.sessions[id] != nil {
		return store.Exists(id)
	}
	return nil
}

// Salvage implements session.Salvager. Memory does not decay: it reads all.
func (s *Store) Salvage(ctx context.Context, id string) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		r, err := s.get(ctx, id)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		for e, err := range (&reader{record: r}).Read(ctx, session.Query{}) {
			if !yield(e, err) {
				return
			}
		}
	}
}
