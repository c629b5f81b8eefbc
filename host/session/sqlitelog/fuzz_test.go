package sqlitelog_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// FuzzSalvage digs in bytes of any sort: it ends, and what it yields is in order.
func FuzzSalvage(f *testing.F) {
	sp := makeSpecimen()
	f.Add([]byte{}, []byte{})
	f.Add(sp.closed[:24<<10], []byte{})
	f.Add(sp.db[:12<<10], sp.wal[:32+5*4120])
	f.Add([]byte{}, sp.wal[:32+9*4120+100])
	f.Add(loop(sp), []byte{})
	f.Fuzz(func(t *testing.T, db, wal []byte) {
		last := int64(0)
		for e, err := range sqlitelog.Dig(db, wal) {
			if last == -1 {
				t.Fatal("something follows the end")
			}
			if err == nil {
				if e.Seq != last+1 {
					t.Fatalf("event %d follows %d", e.Seq, last)
				}
				last = e.Seq
				continue
			}
			d, ok := err.(*session.Damage)
			if !ok || d.From != last+1 || d.To != 0 && d.To < d.From {
				t.Fatalf("%v follows %d", err, last)
			}
			if last = d.To; d.To == 0 {
				last = -1
			}
		}
	})
}

// loop has pages of events without end: each overflow page leads to itself.
func loop(sp *specimen) []byte {
	db := bytes.Clone(sp.closed)
	for at := 4096; at < len(db); at += 4096 {
		if db[at] == 0 {
			binary.BigEndian.PutUint32(db[at:], uint32(at/4096+1))
		}
	}
	return db
}

// A file that lies about everything costs no more than its size allows.
func TestD1_SalvageOfPagesInCircles(t *testing.T) {
	t.Parallel()
	sp := makeSpecimen()
	got, damage := sp.rescue(t, sqlitelog.Dig(loop(sp), nil))
	if len(got) == 0 || len(got) == len(sp.events) || len(damage) == 0 {
		t.Errorf("%d events of %d, %d damages", len(got), len(sp.events), len(damage))
	}
}
