package sqlitelog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// rescue reads all that a salvage yields, and checks that it is in order, without a
// gap, and true.
func (sp *specimen) rescue(t rapid.TB, salvage iter.Seq2[session.Event, error]) (got map[int64]bool, damage []*session.Damage) {
	t.Helper()
	got = map[int64]bool{}
	next := int64(1)
	for e, err := range salvage {
		var d *session.Damage
		switch {
		case next == 0:
			t.Fatalf("event %d or %v follows the end", e.Seq, err)
		case err == nil:
			if e.Seq != next || e.Seq > int64(len(sp.events)) || !sameEvent(e, sp.events[e.Seq-1]) {
				t.Fatalf("event %d is %+.300v, want event %d", e.Seq, e, next)
			}
			got[e.Seq], next = true, e.Seq+1
		case errors.As(err, &d) && errors.Is(err, session.ErrDamaged) && d.From == next && (d.To >= d.From || d.To == 0):
			if damage = append(damage, d); d.To > int64(len(sp.events)) {
				t.Fatalf("%v: there were %d", d, len(sp.events))
			}
			if next = d.To + 1; d.To == 0 {
				next = 0
			}
		default:
			t.Fatalf("after event %d: %v", next-1, err)
		}
	}
	return got, damage
}

func sameEvent(a, b session.Event) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// plant puts files of a session into a store.
func plant(t rapid.TB, dir, id string, db, wal []byte) {
	t.Helper()
	err := errors.Join(os.MkdirAll(filepath.Join(dir, "sessions"), 0o700), os.WriteFile(path(dir, id), db, 0o600))
	if wal != nil {
		err = errors.Join(err, os.WriteFile(path(dir, id)+"-wal", wal, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// readAll reads a log that opened, or returns the error that it did not.
func readAll(r session.Reader, err error) (events []session.Event, _ error) {
	if err != nil {
		return nil, err
	}
	for e, err := range r.Read(context.Background(), session.Query{}) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// A closed database is cut and changed at random: every event of which no byte was
// touched is rescued, and none is that never was.
func TestD1_SalvageLosesNoEventThatIsWhole(t *testing.T) {
	t.Parallel()
	sp := makeSpecimen()
	extents := sp.extents(sp.closed, 0, 0)
	dir := t.TempDir()
	s := open(t, dir)
	if len(extents) != len(sp.events) {
		t.Fatalf("the marks of %d events are found, of %d", len(extents), len(sp.events))
	}
	rapid.Check(t, func(t *rapid.T) {
		file, h := drawHarm(t, sp.closed)
		plant(t, dir, "a", file, nil)
		got, _ := sp.rescue(t, s.Salvage(t.Context(), "a"))
		for seq, spans := range extents {
			if !h.touches(spans) && !got[seq] {
				t.Fatalf("event %d is lost, but its bytes at %v were not touched (%d others were, cut at %d)", seq, spans, len(h.at), h.from)
			}
		}
		if now, err := os.ReadFile(path(dir, "a")); err != nil || !bytes.Equal(now, file) {
			t.Fatalf("the salvage changed the file (%v)", err)
		}
	})
}

// What is known to happen to files, and how much is left each time.
func TestC102_SalvageOfWellKnownDamage(t *testing.T) {
	t.Parallel()
	sp := makeSpecimen()
	n := int64(len(sp.events))
	zeros := func(file []byte, from, to int) []byte {
		file = bytes.Clone(file)
		clear(file[from:to])
		return file
	}
	pagesOf := func(file []byte, kind byte) []byte { // without their heads
		file = bytes.Clone(file)
		for at := 4096; at < len(file); at += 4096 {
			if file[at] == kind && bytes.Contains(file[at:at+4096], []byte("[00")) || kind != 0x0d && file[at] == kind {
				clear(file[at : at+8])
			}
		}
		return file
	}
	flipped := func(file []byte, at int) []byte {
		file = bytes.Clone(file)
		file[at] ^= 0x40
		return file
	}
	for name, c := range map[string]struct {
		db, wal []byte
		want    int64 // events; -1 = some and not all
		open    bool  // whether it may still be opened
	}{
		"none":                {sp.closed, nil, n, true},
		"none, owner killed":  {sp.db, sp.wal, n, true},
		"schema page gone":    {zeros(sp.closed, 0, 4096), nil, n, false},
		"head gone":           {zeros(sp.closed, 0, 100), nil, n, false},
		"write version":       {flipped(sp.closed, 18), nil, n, false},
		"interior pages gone": {pagesOf(sp.closed, 5), nil, n, false},
		"leaves' heads gone":  {pagesOf(sp.closed, 13), nil, n, false},
		"empty":               {[]byte{}, nil, 0, false},
		"one byte":            {[]byte("S"), nil, 0, false},
		"half":                {sp.closed[:len(sp.closed)/2+777], nil, -1, false},
		"log lost":            {sp.db, nil, -1, true},
		"log's head":          {sp.db, flipped(sp.wal, 9), n, false},
		"log's head gone":     {sp.db, zeros(sp.wal, 0, 32), n, false},
		"log's salt":          {sp.db, flipped(sp.wal, 17), n, false},
		"log's sum":           {sp.db, flipped(sp.wal, 25), n, false},
		"a frame's salt":      {sp.db, flipped(sp.wal, 32+5*4120+9), n, false},
		"a frame's sum":       {sp.db, flipped(sp.wal, 32+5*4120+17), n, false},
		"a frame":             {sp.db, flipped(sp.wal, 32+5*4120+3000), -2, false},
		"database lost":       {[]byte{}, sp.wal, -1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, dir)
			plant(t, dir, "a", c.db, c.wal)
			got, damage := sp.rescue(t, s.Salvage(t.Context(), "a"))
			t.Logf("%d of %d events, damage %v", len(got), n, damage)
			switch have := int64(len(got)); {
			case c.want >= 0 && have != c.want, c.want == -1 && (have == 0 || have == n), c.want == -2 && have < n-1:
				t.Errorf("%d events of %d", have, n)
			case have == n && len(damage) > 0, c.want == 0 && len(damage) == 0:
				t.Errorf("damage is %v", damage)
			}
			for _, suffix := range []string{"-shm", ".lock"} {
				if _, err := os.Stat(path(dir, "a") + suffix); err == nil {
					t.Errorf("the salvage left a file %s", suffix)
				}
			}
			log, err := s.Open(t.Context(), "a")
			if c.open && err != nil {
				t.Errorf("open: %v", err)
			} else if err == nil {
				defer log.Close()
			}
			if !c.open {
				_, readErr := readAll(log, err)
				explained(t, readErr, path(dir, "a"))
			}
		})
	}
}

// What a killed owner leaves is changed in its write-ahead log, which is where the
// newest events are.
func TestD1_SalvageReadsASpoiltWriteAheadLog(t *testing.T) {
	t.Parallel()
	sp := makeSpecimen()
	inDB, inWAL := sp.extents(sp.db, 0, 0), sp.extents(sp.wal, 32, 24)
	if len(inWAL) < 100 || len(inDB) < 100 {
		t.Fatalf("%d events in the database, %d in its log", len(inDB), len(inWAL))
	}
	dir := t.TempDir()
	s := open(t, dir)
	rapid.Check(t, func(t *rapid.T) {
		wal, h := drawHarm(t, sp.wal)
		durable := int64(0) // what is followed by the end of its transaction
		for _, end := range sp.ends {
			if last := int(end[1]); !h.touches([][2]int{{last - 24 - 4096, last}}) {
				durable = max(durable, end[0])
			}
		}
		plant(t, dir, "a", sp.db, wal)
		got, _ := sp.rescue(t, s.Salvage(t.Context(), "a"))
		for _, e := range sp.events[:durable] {
			spans, there := inWAL[e.Seq]
			if (!there || !h.touches(spans)) && !got[e.Seq] {
				t.Fatalf("event %d is lost, but its bytes at %v were not touched (%d others were, cut at %d)", e.Seq, spans, len(h.at), h.from)
			}
		}
		if now, err := os.ReadFile(path(dir, "a") + "-wal"); err != nil || !bytes.Equal(now, wal) {
			t.Fatalf("the salvage changed the file (%v)", err)
		}
	})
}

// Whatever befalls a file: what is read is true, what is not read is told, with the
// file and what to do, and the other sessions know nothing of it.
func TestD1_C102_DamageIsNeverTakenForTheTruth(t *testing.T) {
	t.Parallel()
	sp := makeSpecimen()
	dir := t.TempDir()
	s := open(t, dir)
	other := create(t, s, "other")
	rapid.Check(t, func(t *rapid.T) {
		file := path(dir, "a")
		var db, wal []byte
		var h harm
		if rapid.Bool().Draw(t, "killed") {
			wal, h = drawHarm(t, sp.wal)
			db = sp.db
		} else {
			db, h = drawHarm(t, sp.closed)
		}
		for _, beside := range []string{"-wal", "-shm"} {
			os.Remove(file + beside)
		}
		plant(t, dir, "a", db, wal)
		told := func(err error) {
			t.Helper()
			newer := errors.Is(err, session.ErrNewer) && slices.ContainsFunc(h.at, func(at int) bool { return wal != nil || at >= 60 && at < 64 })
			if err != nil && !newer && (!errors.Is(err, session.ErrDamaged) || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "tureen session salvage a")) {
				t.Fatalf("error is %v", err)
			}
		}
		events := func(r session.Reader, q session.Query) (n int, err error) {
			for e, err := range r.Read(t.Context(), q) {
				if err != nil {
					told(err)
					return n, err
				}
				if n++; e.Seq < 1 || e.Seq > int64(len(sp.events)) || !sameEvent(e, sp.events[e.Seq-1]) {
					t.Fatalf("%+v: event %d is %.300v", q, e.Seq, e)
				}
			}
			return n, nil
		}
		list, err := s.List(t.Context())
		if err != nil || len(list) != 2 || list[0].ID != "other" && list[1].ID != "other" {
			t.Fatalf("list is %+v (%v)", list, err)
		}
		view, err := s.View(t.Context(), "a")
		if told(err); err == nil {
			all, err := events(view, session.Query{})
			events(view, session.Query{Reverse: true})
			events(view, session.Query{Kinds: []session.Kind{session.KindRecord, "k"}, Reverse: true})
			if snapshot, at, err := view.Snapshot(t.Context()); err != nil || !bytes.Equal(snapshot, bytes.Repeat([]byte("snapshot"), len(snapshot)/8)) {
				t.Fatalf("snapshot at %d: %v", at, err)
			}
			if err == nil && all < len(sp.events) && wal == nil {
				t.Logf("%d events of %d, and no error", all, len(sp.events))
			}
			view.Close()
		}
		log, err := s.Open(t.Context(), "a")
		if told(err); err == nil {
			head, err := log.Head(t.Context())
			if told(err); err == nil {
				_, err = log.Append(t.Context(), session.Batch{Head: head, Events: []session.Event{session.New("x", nil)}})
				told(err)
			}
			log.Close()
		}
		head, err := other.Head(t.Context())
		if err == nil {
			_, err = other.Append(t.Context(), session.Batch{Head: head, Events: []session.Event{session.New("x", nil)}})
		}
		if err != nil {
			t.Fatalf("the other session: %v", err)
		}
	})
}

// A frame of the write-ahead log that says a wrong page does not hide the page that
// the database has.
func TestD1_AFrameOfAWrongPageHidesNothing(t *testing.T) {
	t.Parallel()
	sp := makeSpecimen()
	for page := byte(2); page < 60; page++ {
		wal := bytes.Clone(sp.wal)
		wal[0], wal[32+3] = 0, page
		got := map[int64]bool{}
		for e, err := range sqlitelog.Dig(sp.db, wal) {
			if err == nil {
				got[e.Seq] = true
			}
		}
		for seq := int64(1); seq <= 100; seq++ {
			if !got[seq] {
				t.Fatalf("event %d is lost where the first frame says page %d", seq, page)
			}
		}
	}
}
