package sqlitelog_test

import (
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
		if got := strings.Contains(sqlitelog.Query(q), "INDEXED BY events_rare"); got != tt.index {
			t.Errorf("%v: index used %v, want %v", tt.kinds, got, tt.index)
		}
		for _, err := range log.Read(t.Context(), q) {
			if err != nil { // also where the file's index does not serve the query
				t.Errorf("%v: %v", tt.kinds, err)
			}
		}
	}
}
