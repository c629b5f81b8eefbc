// Package memlog keeps sessions in memory: a session.Store for tests and tools
// that need no file. It makes every promise of the store but durability; the
// sessions are gone with the Store value.
package memlog

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// Store is a session.Store of one process. Logs that are open when it is closed
// stay usable.
type Store struct {
	mu       sync.Mutex
	sessions map[string]*record
	closed   bool
}

// New makes an empty store.
func New() *Store { return &Store{sessions: map[string]*record{}} }

// Create implements session.Store.
func (s *Store) Create(ctx context.Context, created session.Created) (session.Log, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if err := s.free(created.ID); err != nil {
		return nil, err
	}
	now := time.Now()
	r := &record{row: session.Summary{ID: created.ID}, owned: true}
	events := []session.Event{store.First(created, now)}
	if _, err := r.append(session.Batch{Events: events}, now); err != nil {
		return nil, err
	}
	s.sessions[created.ID] = r
	return &log{reader{record: r}}, nil
}

// Open implements session.Store.
func (s *Store) Open(ctx context.Context, id string) (session.Log, error) {
	r, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := r.take(); err != nil {
		return nil, err
	}
	return &log{reader{record: r}}, nil
}

// View implements session.Store.
func (s *Store) View(ctx context.Context, id string) (session.Reader, error) {
	r, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	return &reader{record: r}, nil
}

// Remove implements session.Remover.
func (s *Store) Remove(ctx context.Context, id string) error {
	r, err := s.get(ctx, id)
	if err != nil {
		return err
	}
	if err := r.take(); err != nil {
		return err
	}
	r.mu.Lock()
	r.removed = true
	r.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
	return nil
}

// get returns the session of that id.
func (s *Store) get(ctx context.Context, id string) (*record, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	if r := s.sessions[id]; r != nil {
		return r, nil
	}
	return nil, store.NotFound(id)
}

// find returns a session that this version can read.
func (s *Store) find(ctx context.Context, id string) (*record, error) {
	r, err := s.get(ctx, id)
	if err != nil {
		return nil, err
	}
	events := r.view()
	return r, store.CheckSchema(id, events[len(events)-1].V)
}

// List implements session.Store.
func (s *Store) List(ctx context.Context) ([]session.Summary, error) {
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	list := make([]session.Summary, 0, len(s.sessions))
	for _, r := range s.sessions {
		list = append(list, r.summary())
	}
	store.Sort(list)
	return list, nil
}

// Resolve implements session.Store.
func (s *Store) Resolve(ctx context.Context, prefix string) (string, error) {
	list, err := s.List(ctx)
	if err != nil {
		return "", err
	}
	return store.Resolve(list, prefix)
}

// Close implements session.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// begin locks the store, unless the call cannot go on.
func (s *Store) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return fmt.Errorf("session store in memory: %w", os.ErrClosed)
	}
	return nil
}
