package lab

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/tureen-host/tureen/cmd/bench/internal/grow"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// Grow puts a session with a longer log in the place of one that ran in this sandbox
// under notesoup, and returns its id.
func (s *Sandbox) Grow(ctx context.Context, ran string, log grow.Log) (id string, err error) {
	store, err := sqlitelog.Open(s.Path("data"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	opening, err := read(ctx, store, ran)
	if err != nil {
		return "", fmt.Errorf("read the session that is to grow: %w", err)
	}
	id = strings.ToLower(ulid.Make().String())
	grown := log.From(opening)
	if err := store.Import(ctx, id, grown.Events(), grown.Snapshot); err != nil {
		return "", err
	}
	return id, store.Remove(ctx, ran)
}

func read(ctx context.Context, store session.Store, id string) (events []session.Event, err error) {
	r, err := store.View(ctx, id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for e, err := range r.Read(ctx, session.Query{}) {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	return events, nil
}
