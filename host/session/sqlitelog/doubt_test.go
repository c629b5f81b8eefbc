package sqlitelog_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// TestD1_C102_WhatNoEventTells: events at the end that are gone, a snapshot and sums that are not
// what was stored are named, and nothing of a log that is whole.
func TestD1_C102_WhatNoEventTells(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ change, want string }{
		{`SELECT 1`, ""},
		{`DELETE FROM events WHERE seq > 7`, "the log ends at event 7, and the catalogue knew of 11 events"},
		{`UPDATE snapshot SET data = x'7b7d'`, "the snapshot is not what was stored"},
		{`UPDATE events SET crc = NULL WHERE seq = 5`, "event 5 has no checksum, and one before it has"},
	} {
		dir := t.TempDir()
		s := open(t, dir)
		log := create(t, s, "a")
		b := session.Batch{Head: 1, Snapshot: []byte(`{"a":1}`)}
		for range 10 {
			b.Events = append(b.Events, session.New(session.KindToolResult, "text"))
		}
		if _, err := log.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		log.Close()
		execute(t, path(dir, "a"), c.change)
		r, err := s.View(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		found, err := r.(session.Inspector).Inspect(t.Context())
		r.Close()
		if err != nil || c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || !strings.Contains(found[0], c.want)) {
			t.Errorf("%s: %q, %v", c.change, found, err)
		}
	}
}

// execute changes a session's file beside the store.
func execute(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

// TestD1_C102_AnEventWithoutASumIsNotBelieved: one that was put there beside the store,
// however far on.
func TestD1_C102_AnEventWithoutASumIsNotBelieved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	log := create(t, s, "a")
	appendTo(t, log, 10)
	log.Close()
	execute(t, path(dir, "a"), `INSERT INTO events SELECT 30000, v, time, kind, turn, step, op, op_from, op_to, op_after, data, NULL FROM events WHERE seq = 5`)
	n := 0
	for e, err := range s.Salvage(t.Context(), "a") {
		var damage *session.Damage
		if err != nil && !errors.As(err, &damage) || e.Seq > 11 || damage != nil && damage.To > 100 {
			t.Fatalf("event %d, %v", e.Seq, err)
		}
		if err == nil {
			n++
		}
	}
	if n != 11 {
		t.Errorf("%d events", n)
	}
}

// TestL17_C100_AFullDiskIsReadAndRemoved: where not a byte can be written, a session that
// nobody works in is read and inspected, its lock taken, and removed.
func TestL17_C100_AFullDiskIsReadAndRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := create(t, open(t, dir), "a")
	appendTo(t, log, 10)
	log.Close()
	c := start(t, "full", dir, 0)
	for c.lines.Scan() {
		t.Error(c.lines.Text())
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path(dir, "a")); err == nil {
		t.Error("it is still there")
	}
	noLocks(t, dir)
}

// childFull reads and removes session a where nothing can be written. It prints what
// went wrong.
func childFull(dir string) error {
	ctx := context.Background()
	signal.Ignore(syscall.SIGXFSZ)
	if err := limitFiles(0); err != nil {
		return err
	}
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	r, err := store.View(ctx, "a")
	if err != nil {
		return err
	}
	n := 0
	for _, err := range r.Read(ctx, session.Query{}) {
		if n++; err != nil {
			return err
		}
	}
	if found, err := r.(session.Inspector).Inspect(ctx); n != 11 || len(found) > 0 || err != nil {
		fmt.Println(n, "events,", found, err)
	}
	if untaken, err := r.(session.MailCounter).Untaken(ctx); untaken != 0 || err != nil {
		fmt.Println(untaken, "mails,", err)
	}
	if err := r.Close(); err != nil {
		return err
	}
	if _, err := store.Open(ctx, "a"); err == nil || errors.Is(err, session.ErrDamaged) {
		fmt.Println("open:", err)
	}
	return store.Remove(ctx, "a")
}
