package sqlitelog_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

func catalogue(dir string) string { return filepath.Join(dir, "catalogue-2.db") }

// spoil makes a session file unreadable without a sign that stat could see, and
// returns what undoes it.
func spoil(t *testing.T, path string) (undo func()) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	put := func(data []byte) {
		write(t, path, data)
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
	}
	put(make([]byte, len(data)))
	return func() { put(data) }
}

func TestListOpensOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	for _, id := range []string{"a", "b"} {
		log := create(t, s, id)
		head, err := log.Append(t.Context(), session.Batch{Head: 1, Events: []session.Event{
			session.New(session.KindTurnStarted, nil), session.New(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonLimit})}})
		if err != nil || head != 3 {
			t.Fatal(head, err)
		}
		log.Close()
	}
	spoil(t, path(dir, "a"))
	if got := statuses(t, open(t, dir)); got["a"] != "limit" || got["b"] != "limit" {
		t.Errorf("statuses are %v: a file that did not change was read", got)
	}
}

func TestCatalogueIsRebuilt(t *testing.T) {
	t.Parallel()
	for name, hurt := range map[string]func(t *testing.T, path string){
		"deleted": func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		},
		"garbage":     func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("soup", 5000))) },
		"empty":       func(t *testing.T, path string) { write(t, path, nil) },
		"cut":         func(t *testing.T, path string) { cut(t, path, 2) },
		"other table": func(t *testing.T, path string) { runSQL(t, path, `DROP TABLE sessions; CREATE TABLE sessions (x)`) },
		"bad rows":    func(t *testing.T, path string) { runSQL(t, path, `UPDATE sessions SET summary = x'00'`) },
		"old rows":    func(t *testing.T, path string) { runSQL(t, path, `UPDATE sessions SET mark = ''`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, dir)
			for i := range 20 {
				create(t, s, fmt.Sprintf("s%02d", i)).Close()
			}
			want := statuses(t, s)
			s.Close()
			hurt(t, catalogue(dir))
			s = open(t, dir)
			for range 2 {
				if got := statuses(t, s); !maps.Equal(got, want) {
					t.Errorf("statuses are %v", got)
				}
			}
			// The new catalogue is in use, and not only a way round the old one.
			undo := spoil(t, path(dir, "s07"))
			if got := statuses(t, open(t, dir)); !maps.Equal(got, want) {
				t.Errorf("with a new catalogue statuses are %v", got)
			}
			undo()
			noLocks(t, dir)
		})
	}
}

func TestCatalogueLearnsWhatOthersDid(t *testing.T) {
	t.Parallel()
	here, there := t.TempDir(), t.TempDir()
	s := open(t, here)
	create(t, s, "a").Close()
	create(t, s, "gone").Close()
	create(t, open(t, there), "b").Close()
	statuses(t, s)

	data, err := os.ReadFile(path(there, "b"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, path(here, "b"), data)
	if err := os.Remove(path(here, "gone")); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(statuses(t, s)); got != "map[a:idle b:idle]" {
		t.Errorf("statuses are %s", got)
	}
}

func TestRemainsOfOldFilesAreCleared(t *testing.T) {
	t.Parallel()
	here, there := t.TempDir(), t.TempDir()
	log := create(t, open(t, there), "a")
	appendTo(t, log, 20)
	wal, err := os.ReadFile(path(there, "a") + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, here)
	create(t, s, "b").Close()
	write(t, path(here, "a")+"-wal", wal) // a session that was removed, but for this
	dead, young := path(here, "c")+".new", path(here, "d")+".new"
	write(t, dead, nil)
	write(t, young, nil)
	old := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(dead, old, old); err != nil {
		t.Fatal(err)
	}

	if head, err := create(t, s, "a").Head(t.Context()); head != 1 || err != nil {
		t.Errorf("a new session has head %d (%v)", head, err)
	}
	if got := fmt.Sprint(statuses(t, s)); got != "map[a:idle b:idle]" {
		t.Errorf("statuses are %s", got)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("what a killed Create left is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("what may be in the making was removed")
	}
}

func TestOrdinaryStepsLeaveTheCatalogueAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	log := create(t, s, "a")
	stamp := func() string {
		var b strings.Builder
		for _, suffix := range []string{"", "-wal"} {
			info, err := os.Stat(catalogue(dir) + suffix)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, info.Size(), info.ModTime().UnixNano())
		}
		return b.String()
	}
	before := stamp()
	for range 20 {
		appendTo(t, log, 3)
	}
	if stamp() != before {
		t.Error("appends of steps wrote to the catalogue")
	}
	if _, err := log.Append(t.Context(), session.Batch{Head: 61, Events: []session.Event{session.New(session.KindTurnStarted, nil)}}); err != nil {
		t.Fatal(err)
	}
	if stamp() == before {
		t.Error("the start of a turn did not")
	}
}

func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, dir)
	log := create(t, s, "a")
	appendTo(t, log, 1)
	statuses(t, s)
	n := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		if n++; info.Mode().Perm() != want {
			t.Errorf("%s has mode %o", path, info.Mode().Perm())
		}
		return nil
	})
	if err != nil || n < 9 {
		t.Errorf("%d files are there (%v)", n, err)
	}
}
