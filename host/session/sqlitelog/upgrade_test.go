package sqlitelog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// older is a store of the version before there was mail.
func older(t *testing.T, dir string) *sqlitelog.Store {
	t.Helper()
	const first = "00001_log.sql"
	data, err := fs.ReadFile(sqlitelog.Steps, first)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlitelog.OpenWith(dir, fstest.MapFS{first: {Data: data}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestPostToAnOlderFile(t *testing.T) {
	t.Parallel()
	for _, owned := range []bool{false, true} {
		t.Run(fmt.Sprint("owned ", owned), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			old := older(t, dir)
			log := create(t, old, "a")
			appendTo(t, log, 5)
			if !owned {
				log.Close()
			}
			// A version that knows more steps than Post needs.
			next, err := sqlitelog.OpenWith(dir, nextSteps(t), sqlitelog.Version+1)
			if err != nil {
				t.Fatal(err)
			}
			defer next.Close()
			post(t, next, "a", "one")
			if v := userVersion(t, path(dir, "a")); v != 2 {
				t.Errorf("schema is %d, want 2, the first with mail", v)
			}
			if owned { // the older owner does not notice
				appendTo(t, log, 3)
				if head, err := log.Head(t.Context()); head != 9 || err != nil {
					t.Errorf("head of the older owner is %d (%v)", head, err)
				}
				log.Close()
			}
			if _, err := old.Open(t.Context(), "a"); !errors.Is(err, session.ErrNewer) {
				t.Errorf("the older version opens it again: %v", err)
			}
			s := open(t, dir)
			post(t, s, "a", "two")
			log, err = s.Open(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(mail(t, log)); got != "[one two]" {
				t.Errorf("mail is %s", got)
			}
			log.Close()
			if v := userVersion(t, path(dir, "a")); v != sqlitelog.Version {
				t.Errorf("schema is %d, want %d", v, sqlitelog.Version)
			}
			noLocks(t, dir)
		})
	}
}

func TestManyUpgradeAnOlderFileAtOnce(t *testing.T) {
	t.Parallel()
	for _, owned := range []bool{false, true} {
		t.Run(fmt.Sprint("owned ", owned), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			log := create(t, older(t, dir), "a")
			if !owned {
				log.Close()
			}
			const posts = 6
			var wg sync.WaitGroup
			for range posts {
				s := open(t, dir) // a store each, as processes have
				wg.Go(func() { post(t, s, "a", "x") })
			}
			if owned { // the older owner is at work meanwhile
				for range 50 {
					appendTo(t, log, 1)
				}
				wg.Wait()
				log.Close()
			}
			s := open(t, dir)
			log, err := s.Open(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			appendTo(t, log, 1)
			wg.Wait()
			if got := mail(t, log); len(got) != posts {
				t.Errorf("mail is %v", got)
			}
			if head, err := log.Head(t.Context()); owned && head != 52 || !owned && head != 2 {
				t.Errorf("head is %d (%v)", head, err)
			}
		})
	}
}
