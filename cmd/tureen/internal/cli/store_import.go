package cli

import (
	"context"
	"errors"
	"iter"

	"github.com/tureen-host/tureen/host/session"
)

// Import implements session.Importer as far as the store does.
func (s *store) Import(ctx context.Context, id string, events iter.Seq2[session.Event, error], snapshot func() []byte) error {
	importer, ok := s.Store.(session.Importer)
	if !ok {
		return errors.New("this store takes no sessions from elsewhere")
	}
	return importer.Import(ctx, id, events, snapshot)
}

// Remove implements session.Remover as far as the store does.
func (s *store) Remove(ctx context.Context, id string) error {
	remover, ok := s.Store.(session.Remover)
	if !ok {
		return errors.New("this store removes no sessions")
	}
	return remover.Remove(ctx, id)
}
