package lab

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

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

// Index has a session searched for what it does not hold until little of it has to be
// read for that. It returns how long the first search and all of them took.
func (s *Sandbox) Index(ctx context.Context, id string) (first, whole time.Duration, err error) {
	store, err := sqlitelog.Open(s.Path("data"))
	if err != nil {
		return 0, 0, err
	}
	r, err := store.View(ctx, id)
	if err != nil {
		return 0, 0, errors.Join(err, store.Close())
	}
	defer func() { err = errors.Join(err, r.Close(), store.Close()) }()
	const little, pause = 600, 5 * time.Millisecond
	began := time.Now()
	for came := little; came >= little; time.Sleep(pause) {
		came = 0
		for _, err := range r.Read(ctx, session.Query{Reverse: true, Limit: little, Text: "no such words, anywhere"}) {
			if err != nil {
				return 0, 0, err
			}
			came++
		}
		if whole = time.Since(began); first == 0 {
			first = whole
		}
	}
	return first, whole, nil
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
