package sqlitelog_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

func remove(t *testing.T, s *sqlitelog.Store, id string) {
	t.Helper()
	if err := s.Remove(t.Context(), id); err != nil {
		t.Fatalf("remove %s: %v", id, err)
	}
}

func TestRemoveLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	log := create(t, s, "a")
	appendTo(t, log, 50)
	log.Close()
	post(t, s, "a", "one")
	create(t, s, "b").Close()
	statuses(t, s)
	remove(t, s, "a")
	s.Close()
	if got := fmt.Sprint(files(t, dir)); got != "[catalogue-2.db mail.bell b.db]" {
		t.Errorf("files are %s", got)
	}
	db, err := sql.Open("sqlite", catalogue(dir))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows string
	if err := db.QueryRow(`SELECT group_concat(id) FROM sessions`).Scan(&rows); err != nil || rows != "b" {
		t.Errorf("the catalogue has %q (%v)", rows, err)
	}
}

func TestRemoveWhatCannotBeOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	for _, id := range []string{"a", "b"} {
		create(t, s, id).Close()
	}
	runSQL(t, path(dir, "a"), `PRAGMA user_version = 99`)
	write(t, path(dir, "b"), []byte(strings.Repeat("soup", 3000)))
	remove(t, s, "a")
	remove(t, s, "b")
	if got := statuses(t, s); len(got) != 0 {
		t.Errorf("statuses are %v", got)
	}
}

func TestRemoveOfAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	create(t, s, "a").Close()
	c := start(t, "hold", dir, 0)
	c.line(t)
	var locked *session.LockedError
	if err := s.Remove(t.Context(), "a"); !errors.As(err, &locked) || !strings.HasPrefix(locked.Owner, fmt.Sprintf("pid %d on ", c.Process.Pid)) {
		t.Errorf("error is %v", err)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.Wait()
	remove(t, s, "a") // its lock file, log and shared memory were left over
	s.Close()
	if got := fmt.Sprint(files(t, dir)); got != "[catalogue-2.db]" {
		t.Errorf("files are %s", got)
	}
}

// unmerged makes sessions most of whose events are in the write-ahead log, as a
// killed owner leaves them: 31 events each.
func unmerged(t *testing.T, dir string, ids ...string) {
	t.Helper()
	from := t.TempDir()
	log := create(t, open(t, from), "a")
	appendTo(t, log, 30)
	for _, id := range ids {
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(path(from, "a") + suffix)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path(dir, id)+suffix, data)
		}
	}
}

func TestKilledRemoveLeavesASessionOrNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	create(t, s, "z").Close()
	var ids []string
	for i := range 40 {
		ids = append(ids, fmt.Sprintf("s%02d", i))
	}
	unmerged(t, dir, ids...)
	c := start(t, "remove", dir, 0)
	for range 5 {
		c.line(t)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	removed := c.lines.Text()
	for c.lines.Scan() {
		removed = c.lines.Text()
	}
	c.Wait()

	got := statuses(t, s)
	gone := 0
	for _, id := range ids {
		if got[id] == "" {
			gone++
			if _, err := s.Open(t.Context(), id); !errors.Is(err, session.ErrNotFound) {
				t.Errorf("%s is not listed, but opens: %v", id, err)
			}
			continue
		}
		if id <= removed {
			t.Errorf("%s is back, removed were all up to %s", id, removed)
		}
		log, err := s.Open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if head, err := log.Head(t.Context()); head != 31 || err != nil {
			t.Errorf("%s has head %d (%v), want 31", id, head, err)
		}
		log.Close()
	}
	if gone < 5 || got["z"] != "idle" {
		t.Errorf("%d are gone, statuses are %v", gone, got)
	}
}

// While a session is removed its database must be the first to go: without its
// write-ahead log it would be another session.
func TestRemoveTakesTheDatabaseFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	create(t, s, "z").Close()
	for i := range 25 {
		id := fmt.Sprintf("s%02d", i)
		unmerged(t, dir, id)
		path := path(dir, id)
		stop := beside(func() {
			if !there(path+"-wal") && there(path) {
				t.Errorf("%s has lost its log and is still there", id)
			}
		})
		remove(t, s, id)
		stop()
	}
}

func TestRemoveBesideReaders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(catalogue(dir), 0o700); err != nil { // List has to look at each
		t.Fatal(err)
	}
	s := open(t, dir)
	create(t, s, "z").Close()
	var ids []string
	for i := range 25 {
		ids = append(ids, fmt.Sprintf("s%02d", i))
	}
	unmerged(t, dir, ids...)
	list := beside(func() {
		rows, err := s.List(t.Context())
		if err != nil {
			t.Errorf("list: %v", err)
		}
		for _, row := range rows {
			if row.Status != "idle" {
				t.Errorf("%s is listed as %s", row.ID, row.Status)
			}
		}
	})
	view := beside(func() {
		for _, id := range ids {
			view, err := s.View(t.Context(), id)
			if errors.Is(err, session.ErrNotFound) {
				continue
			}
			if err != nil {
				t.Errorf("view of %s: %v", id, err)
				continue
			}
			view.Close()
		}
	})
	for _, id := range ids {
		remove(t, s, id)
	}
	list()
	view()
	if got := fmt.Sprint(statuses(t, s)); got != "map[z:idle]" {
		t.Errorf("statuses are %s", got)
	}
}

// beside does something over and over until stop.
func beside(do func()) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
				do()
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

func TestRemainsOfARemoveAreCleared(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	log := create(t, s, "live")
	appendTo(t, log, 30)
	unmerged(t, dir, "old", "young", "next")
	hourAgo := time.Now().Add(-2 * time.Hour)
	for _, id := range []string{"old", "young", "next"} { // as far as a Remove came
		write(t, path(dir, id)+".lock", []byte("pid 1 on there\n"))
		if err := os.Remove(path(dir, id)); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{"old", "live"} {
		for _, rest := range []string{"-wal", "-shm", ".lock"} {
			if err := os.Chtimes(path(dir, id)+rest, hourAgo, hourAgo); err != nil && rest != "-shm" {
				t.Fatal(err)
			}
		}
	}
	if got := fmt.Sprint(statuses(t, s)); got != "map[live:idle]" {
		t.Errorf("statuses are %s", got)
	}
	want := "[live.db live.db-shm live.db-wal live.db.lock next.db-wal next.db.lock young.db-wal young.db.lock]"
	if got := fmt.Sprint(sessionFiles(t, dir)); got != want {
		t.Errorf("files are %s", got)
	}
	appendTo(t, log, 1)
	if head, err := create(t, s, "next").Head(t.Context()); head != 1 || err != nil {
		t.Errorf("head of a new session is %d (%v)", head, err)
	}
}

func there(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func sessionFiles(t *testing.T, dir string) []string {
	t.Helper()
	return slices.DeleteFunc(files(t, dir), func(name string) bool { return strings.HasPrefix(name, "catalogue") })
}

// childRemove removes the sessions s… in the order of their names and prints each.
func childRemove(dir string) error {
	ctx := context.Background()
	store, err := sqlitelog.Open(dir)
	if err != nil {
		return err
	}
	for i := 0; err == nil; i++ {
		id := fmt.Sprintf("s%02d", i)
		if err = store.Remove(ctx, id); err == nil {
			fmt.Println(id)
		}
	}
	return err
}
