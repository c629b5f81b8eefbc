package sqlitelog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
	"testing/fstest"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// alter changes one byte of a file, in the only place where a text stands.
func alter(t *testing.T, path, text string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte(text))
	if at < 0 || bytes.Contains(data[at+1:], []byte(text)) {
		t.Fatalf("%q is not there once", text)
	}
	data[at] ^= 1
	write(t, path, data)
}

// marked are events whose payloads can be found in a file.
func marked(from, to int64) (events []session.Event) {
	kinds := []session.Kind{session.KindToolResult, session.KindRecord}
	for seq := from; seq <= to; seq++ {
		events = append(events, session.New(kinds[seq%2], "text of "+token(seq)))
	}
	return events
}

func TestX1_ChangedPayloadIsDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	log := create(t, s, "a")
	b := session.Batch{Head: 1, Events: marked(2, 60), Snapshot: []byte("snapshot of sixty")}
	if _, err := log.Append(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	log.Close()
	alter(t, path(dir, "a"), token(33))
	alter(t, path(dir, "a"), "snapshot of sixty")
	view, err := s.View(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	for _, c := range []struct {
		q    session.Query
		want int
	}{{session.Query{}, 32}, {session.Query{Reverse: true}, 27}, {session.Query{After: 33}, 27}, {session.Query{After: 32, Before: 34}, 0},
		{session.Query{Kinds: []session.Kind{session.KindRecord}}, 15}, {session.Query{Kinds: []session.Kind{session.KindToolResult}}, 30}} {
		n, last := 0, error(nil)
		for e, err := range view.Read(t.Context(), c.q) {
			if last = err; err == nil {
				n++
			} else if e.Seq != 0 || e.Data != nil {
				t.Errorf("%+v: the damaged event is yielded: %+v", c.q, e)
			}
		}
		var damage *session.Damage
		whole := n == c.want && last == nil && c.q.After == 33 || len(c.q.Kinds) > 0 && c.q.Kinds[0] == session.KindToolResult && last == nil
		if n != c.want || !whole && (!errors.As(last, &damage) || damage.From != 33 || damage.To != 33) {
			t.Errorf("%+v: %d events and %v", c.q, n, last)
		}
		if !whole {
			explained(t, last, path(dir, "a"))
		}
	}
	if data, at, err := view.Snapshot(t.Context()); data != nil || at != 0 || err != nil {
		t.Errorf("the snapshot is %q at %d (%v), want none", data, at, err)
	}
	for _, owned := range []bool{false, true} {
		if owned {
			log, err := s.Open(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
		}
		var got []string
		for e, err := range s.Salvage(t.Context(), "a") {
			var damage *session.Damage
			if errors.As(err, &damage) {
				got = append(got, fmt.Sprint(damage.From, "-", damage.To))
			} else if err != nil || e.Seq == 33 {
				t.Errorf("event %d, %v", e.Seq, err)
			} else {
				got = append(got, fmt.Sprint(e.Seq))
			}
		}
		if len(got) != 60 || got[31] != "32" || got[32] != "33-33" || got[33] != "34" {
			t.Errorf("owned %t: salvaged are %v", owned, got)
		}
	}
}

// A file from before there were sums reads as it is; what is added to it has them.
func TestOlderFileGetsSumsForWhatIsNew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	steps := fstest.MapFS{}
	for _, name := range []string{"00001_log.sql", "00002_mail.sql"} {
		data, err := fs.ReadFile(sqlitelog.Steps, name)
		if err != nil {
			t.Fatal(err)
		}
		steps[name] = &fstest.MapFile{Data: data}
	}
	old, err := sqlitelog.OpenWith(dir, steps, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	log := create(t, old, "a")
	turn := []session.Event{session.New(session.KindTurnStarted, nil).At(7, 0), session.New(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonLimit})}
	if _, err := log.Append(t.Context(), session.Batch{Head: 1, Events: append(turn, marked(4, 20)...), Snapshot: []byte("old")}); err != nil {
		t.Fatal(err)
	}
	log.Close()
	alter(t, path(dir, "a"), token(10)) // nobody can tell
	s := open(t, dir)
	check := func(events, records int) {
		t.Helper()
		view, err := s.View(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		defer view.Close()
		all, err := readAll(view, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range view.Read(t.Context(), session.Query{Kinds: []session.Kind{session.KindRecord, session.KindTurnEnded}, Reverse: true}) {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if data, _, err := view.Snapshot(t.Context()); len(all) != events || err != nil || n != records || string(data) != "old" {
			t.Errorf("%d events (%v), %d of two kinds, snapshot %q", len(all), err, n, data)
		}
		salvaged := 0
		for _, err := range s.Salvage(t.Context(), "a") {
			if salvaged++; err != nil {
				t.Fatal(err)
			}
		}
		if list, err := s.List(t.Context()); err != nil || list[0].Turns != 7 || list[0].Status != "limit" || list[0].Events != int64(events) || salvaged != events {
			t.Errorf("list is %+v (%v), salvaged are %d", list, err, salvaged)
		}
	}
	check(20, 9)
	if log, err = s.Open(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(t.Context(), session.Batch{Head: 20, Events: marked(21, 30)}); err != nil {
		t.Fatal(err)
	}
	log.Close()
	check(30, 14)
	alter(t, path(dir, "a"), token(25))
	_, err = readAll(s.View(t.Context(), "a"))
	var damage *session.Damage
	if !errors.As(err, &damage) || damage.From != 25 {
		t.Errorf("error is %v", err)
	}
}
