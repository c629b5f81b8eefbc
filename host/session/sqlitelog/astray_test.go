package sqlitelog_test

import (
	"database/sql"
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/tureen-host/tureen/host/session"
)

// TestD1_C102_PagesInAnothersPlaceAreNotReadForEver: where the tree of a damaged file
// leads twice to the same page, each event is read at most once, in order, and the
// damage is told.
func TestD1_C102_PagesInAnothersPlaceAreNotReadForEver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	log := create(t, s, "a")
	appendTo(t, log, 3000)
	log.Close()
	astray(t, path(dir, "a"))
	view, err := s.View(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	for _, q := range []session.Query{{}, {Reverse: true}, {Kinds: []session.Kind{session.KindToolResult}}} {
		last, n := int64(0), 0
		var failed error
		for e, err := range view.Read(t.Context(), q) {
			if err != nil {
				failed = err
				break
			}
			if n++; n > 1 && (e.Seq > last) == q.Reverse {
				t.Fatalf("%+v: event %d follows %d", q, e.Seq, last)
			}
			last = e.Seq
		}
		if len(q.Kinds) == 0 && !errors.Is(failed, session.ErrDamaged) {
			t.Errorf("%+v: %d events, %v", q, n, failed)
		}
	}
}

// astray makes the root of the events' tree lead to its first child in place of the
// second.
func astray(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	var root, size int
	err = errors.Join(db.QueryRow(`SELECT rootpage FROM sqlite_master WHERE name = 'events'`).Scan(&root),
		db.QueryRow(`PRAGMA page_size`).Scan(&size), db.Close())
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := file[(root-1)*size : root*size]
	if page[0] != 5 {
		t.Fatalf("page %d has the type %d: the tree is too small", root, page[0])
	}
	cell := func(i int) []byte { return page[binary.BigEndian.Uint16(page[12+2*i:]):] }
	copy(cell(1)[:4], cell(0)[:4])
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
}
