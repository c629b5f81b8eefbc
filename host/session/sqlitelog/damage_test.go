package sqlitelog_test

import (
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
)

func TestDamageStaysLocal(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, path string){
		"garbage": func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("soup", 3000))) },
		"empty":   func(t *testing.T, path string) { write(t, path, nil) },
		"cut":     func(t *testing.T, path string) { cut(t, path, 2) },
		"stub":    func(t *testing.T, path string) { write(t, path, []byte("x")) },
		"other":   func(t *testing.T, path string) { runSQL(t, path, `PRAGMA application_id = 7`) },
		"no first": func(t *testing.T, path string) {
			runSQL(t, path, `DELETE FROM events WHERE seq = 1`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, dir)
			for _, id := range []string{"a", "b", "c"} {
				log := create(t, s, id)
				appendTo(t, log, 40)
				log.Close()
			}
			damage(t, path(dir, "b"))

			got := statuses(t, s)
			if len(got) != 3 || got["a"] != "idle" || got["b"] != "damaged" || got["c"] != "idle" {
				t.Errorf("statuses are %v", got)
			}
			if again := statuses(t, open(t, dir)); again["b"] != "damaged" {
				t.Errorf("statuses are then %v", again)
			}
			for range 2 {
				_, err := s.Open(t.Context(), "b")
				explained(t, err, path(dir, "b"))
				_, err = s.View(t.Context(), "b")
				explained(t, err, path(dir, "b"))
			}
			if _, err := s.Create(t.Context(), session.Created{ID: "b"}); err == nil {
				t.Error("the damaged file was replaced")
			}
			log, err := s.Open(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			log.Close()
			noLocks(t, dir)
		})
	}
}

func TestDamageInTheMiddleIsFoundByReading(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, path string){
		"page": func(t *testing.T, path string) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			middle := len(data) / 2 / 4096 * 4096
			copy(data[middle:middle+4096], strings.Repeat("\xee", 4096))
			write(t, path, data)
		},
		"gap": func(t *testing.T, path string) { runSQL(t, path, `DELETE FROM events WHERE seq = 100`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, dir)
			log := create(t, s, "a")
			appendTo(t, log, 300)
			log.Close()
			damage(t, path(dir, "a"))
			view, err := s.View(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			defer view.Close()
			for _, reverse := range []bool{false, true} {
				var last error
				n := 0
				for _, err := range view.Read(t.Context(), session.Query{Reverse: reverse}) {
					last = err
					n++
				}
				if explained(t, last, path(dir, "a")); n < 20 || n > 300 {
					t.Errorf("reverse %t: the error comes after %d events", reverse, n)
				}
			}
		})
	}
}

// explained checks an error that a damaged file must lead to.
func explained(t *testing.T, err error, path string) {
	t.Helper()
	if !errors.Is(err, session.ErrDamaged) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "tureen session salvage ") {
		t.Errorf("error is %v", err)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// cut leaves an n-th of a file.
func cut(t *testing.T, path string, n int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()/n/4096*4096); err != nil {
		t.Fatal(err)
	}
}

// runSQL runs SQL on a file that no store has open.
func runSQL(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// The last session is the last one that reads.
func TestLastPassesOverDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	for _, id := range []string{"a", "b", "c"} {
		create(t, s, id).Close()
	}
	for _, want := range []string{"c", "b", "a", "c"} {
		if id, err := s.Resolve(t.Context(), "last"); id != want {
			t.Errorf("last is %q (%v), want %q", id, err, want)
		}
		write(t, path(dir, want), []byte("soup")) // the next one down
	}
}
