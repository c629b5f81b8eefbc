package sqlitelog_test

import (
	"database/sql"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

func create(t testing.TB, s *sqlitelog.Store, id string) session.Log {
	t.Helper()
	log, err := s.Create(t.Context(), session.Created{ID: id, Title: "title of " + id})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}

// appendTo adds n events of an ordinary step.
func appendTo(t testing.TB, log session.Log, n int) {
	t.Helper()
	head, err := log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var events []session.Event
	for range n {
		events = append(events, session.New(session.KindToolResult, strings.Repeat("text ", 50)))
	}
	if _, err := log.Append(t.Context(), session.Batch{Head: head, Events: events}); err != nil {
		t.Fatal(err)
	}
}

// statuses lists the sessions as "id status".
func statuses(t *testing.T, s *sqlitelog.Store) map[string]string {
	t.Helper()
	list, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, sum := range list {
		m[sum.ID] = sum.Status
	}
	return m
}

func path(dir, id string) string { return filepath.Join(dir, "sessions", id+".db") }

// files are the names of the files under dir.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, e.Name())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// occupy holds the write lock of a database until release.
func occupy(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func noLocks(t *testing.T, dir string) {
	t.Helper()
	for _, name := range files(t, dir) {
		if strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".new") {
			t.Errorf("%s is left over", name)
		}
	}
}
