package sqlitelog_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// What strategies look up must not walk the steps of a long log.
func TestRareKindsAreReadFromTheirIndex(t *testing.T) {
	t.Parallel()
	log := create(t, open(t, t.TempDir()), "a")
	defer log.Close()
	for _, tt := range []struct {
		kinds []session.Kind
		index bool
	}{
		{[]session.Kind{session.KindTurnStarted, session.KindTurnEnded, session.KindMessageUser}, true},
		{[]session.Kind{session.KindRecord, session.KindCompactionEnded}, true},
		{[]session.Kind{session.KindMessageSystem}, true},
		{[]session.Kind{session.KindToolStarted}, false},
		{[]session.Kind{session.KindMessageUser, session.KindToolResult}, false},
		{nil, false},
	} {
		q := session.Query{Kinds: tt.kinds, Reverse: true, Limit: 2}
		text, _ := sqlitelog.Query(q)
		if got := strings.Contains(text, "INDEXED BY events_kind"); got != tt.index {
			t.Errorf("%v: index used %v, want %v", tt.kinds, got, tt.index)
		}
		for _, err := range log.Read(t.Context(), q) {
			if err != nil { // also where the file's index does not serve the query
				t.Errorf("%v: %v", tt.kinds, err)
			}
		}
	}
}

// However long the log is, what is looked up by kind is searched, not passed over.
func TestD3_RareKindsAreSearchedAndNotSorted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	create(t, open(t, dir), "a").Close()
	db, err := sql.Open("sqlite", path(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range []session.Query{
		{Kinds: []session.Kind{session.KindRecord}, Reverse: true, Limit: 1},
		{Kinds: []session.Kind{session.KindRecord, session.KindMessageUser, session.KindTurnEnded}, Before: 500},
		{Kinds: []session.Kind{session.KindRecord, "none"}, After: 3, Limit: 4},
		{After: 7, Limit: 3}, {Before: 7, Reverse: true},
	} {
		query, args := sqlitelog.Query(q)
		rows, err := db.Query("EXPLAIN QUERY PLAN "+query, args...)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id, parent, unused int
			var text string
			if err := rows.Scan(&id, &parent, &unused, &text); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(text, "SCAN") || strings.Contains(text, "TEMP B-TREE") {
				t.Errorf("%+v: %s", q, text)
			}
		}
		rows.Close()
	}
}
