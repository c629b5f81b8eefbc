package sqlitelog_test

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

func TestNewerStoreIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	create(t, s, "a").Close()
	create(t, s, "b").Close()
	runSQL(t, path(dir, "a"), `PRAGMA user_version = 99`)
	for range 2 {
		_, err := s.Open(t.Context(), "a")
		_, err2 := s.View(t.Context(), "a")
		for _, err := range []error{err, err2} {
			if !errors.Is(err, session.ErrNewer) || !strings.Contains(err.Error(), "99") || !strings.Contains(err.Error(), "newer tureen") {
				t.Errorf("error is %v", err)
			}
		}
		if got := statuses(t, s); got["a"] != "newer" || got["b"] != "idle" {
			t.Errorf("statuses are %v", got)
		}
	}
	noLocks(t, dir)
}

// The next schema, as a newer version would bring it.
func nextSteps(t *testing.T) fs.FS {
	t.Helper()
	next := sqlitelog.Version + 1
	steps := fstest.MapFS{fmt.Sprintf("%05d_next.sql", next): {Data: fmt.Appendf(nil,
		"-- +goose Up\nALTER TABLE events ADD COLUMN extra TEXT;\nPRAGMA user_version = %d;\n", next)}}
	names, err := fs.Glob(sqlitelog.Steps, "*.sql")
	if err != nil || len(names) != sqlitelog.Version {
		t.Fatalf("the steps %v lead to version %d (%v)", names, sqlitelog.Version, err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(sqlitelog.Steps, name)
		if err != nil {
			t.Fatal(err)
		}
		steps[name] = &fstest.MapFile{Data: data}
	}
	return steps
}

func TestOlderFileIsMigratedByItsNextOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := open(t, dir)
	log := create(t, old, "a")
	appendTo(t, log, 5)
	log.Close()

	next, err := sqlitelog.OpenWith(dir, nextSteps(t), sqlitelog.Version+1)
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	view, err := next.View(t.Context(), "a")
	if err != nil {
		t.Fatalf("a newer version does not read an older file: %v", err)
	}
	view.Close()
	if v := userVersion(t, path(dir, "a")); v != sqlitelog.Version {
		t.Errorf("a view changed the schema to %d", v)
	}
	log, err = next.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, log, 1)
	if head, err := log.Head(t.Context()); head != 7 || err != nil {
		t.Errorf("head is %d (%v), want 7", head, err)
	}
	log.Close()
	if v := userVersion(t, path(dir, "a")); v != sqlitelog.Version+1 {
		t.Errorf("schema is %d", v)
	}
	if _, err := old.Open(t.Context(), "a"); !errors.Is(err, session.ErrNewer) {
		t.Errorf("the older version opens it: %v", err)
	}
}

func TestFailedCreateLeavesNoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bad := fstest.MapFS{"00001_bad.sql": {Data: []byte("-- +goose Up\nCREATE SOUP;\n")}}
	s, err := sqlitelog.OpenWith(dir, bad, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Create(t.Context(), session.Created{ID: "a"}); err == nil {
		t.Fatal("a session without a schema was created")
	}
	if names := files(t, dir); len(names) != 0 {
		t.Errorf("files left over: %v", names)
	}
	if err := os.WriteFile(dir+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlitelog.Open(dir + "/file"); err == nil {
		t.Error("a file is taken for a directory")
	}
}

func TestPrepareWritesNothingAndLeavesErrorsToCreate(t *testing.T) {
	t.Parallel()
	bad := fstest.MapFS{"00001_bad.sql": {Data: []byte("-- +goose Up\nCREATE SOUP;\n")}}
	for _, steps := range []fs.FS{sqlitelog.Steps, bad} {
		dir := t.TempDir()
		s, err := sqlitelog.OpenWith(dir, steps, sqlitelog.Version)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.Prepare()
		s.Prepare()
		for _, id := range []string{"a", "b"} { // each is made of the same beginning
			log, err := s.Create(t.Context(), session.Created{ID: id, Title: "of " + id})
			if _, isBad := steps.(fstest.MapFS); isBad == (err == nil) {
				t.Fatalf("create: %v", err)
			}
			if err != nil {
				continue
			}
			defer log.Close()
			for e, err := range log.Read(t.Context(), session.Query{}) {
				if c, _ := session.Decode[session.Created](e); err != nil || e.Seq != 1 || c.Title != "of "+id {
					t.Errorf("session %s has event %d of %q (%v)", id, e.Seq, c.Title, err)
				}
			}
		}
		if _, isBad := steps.(fstest.MapFS); isBad && len(files(t, dir)) != 0 {
			t.Errorf("files left over: %v", files(t, dir))
		}
	}
}

func userVersion(t *testing.T, path string) (v int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow(`PRAGMA user_version`).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
