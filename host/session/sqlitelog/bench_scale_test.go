package sqlitelog_test

import (
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// generated is a log of n events: turns of forty steps, a message of the person and
// a record in each.
func generated(n int64) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		seq := int64(0)
		put := func(e session.Event) bool {
			seq++
			e.Seq, e.Time = seq, time.Unix(1_900_000_000+seq, 0)
			return yield(e, nil) && seq < n
		}
		ok := put(session.New(session.KindSessionCreated, session.Created{ID: "a", Title: "t"}))
		for turn := 1; ok; turn++ {
			ok = put(session.New(session.KindTurnStarted, nil).At(turn, 0)) &&
				put(session.New(session.KindMessageUser, "do it").At(turn, 0)) && put(session.New(session.KindRecord, turn))
			for i := 1; ok && i <= 40; i++ {
				two := step(i)
				for _, e := range append(two[0], two[1]...) {
					ok = ok && put(e.At(turn, i))
				}
			}
			ok = ok && put(session.New(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonCompleted}).At(turn, 0))
		}
	}
}

// BenchmarkScale does the same at every length of the log.
func BenchmarkScale(b *testing.B) {
	for _, n := range []int64{1_000, 10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { scale(b, n) })
	}
}

func scale(b *testing.B, n int64) {
	s := open(b, b.TempDir())
	began := time.Now()
	if err := s.Import(b.Context(), "a", generated(n), nil); err != nil {
		b.Fatal(err)
	}
	rate := float64(n) / time.Since(began).Seconds()
	b.Run("view", func(b *testing.B) {
		b.ReportMetric(rate, "imported/s")
		for b.Loop() {
			r, err := s.View(b.Context(), "a")
			if err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
	b.Run("open and close", func(b *testing.B) {
		for b.Loop() {
			l, err := s.Open(b.Context(), "a")
			if err != nil {
				b.Fatal(err)
			}
			l.Close()
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if list, err := s.List(b.Context()); err != nil || len(list) != 1 {
				b.Fatal(list, err)
			}
		}
	})
	log, err := s.Open(b.Context(), "a")
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	for name, q := range map[string]session.Query{
		"page back":             {Before: n / 2, Limit: 50, Reverse: true},
		"page on":               {After: n / 2, Limit: 50},
		"newest message.user":   {Kinds: []session.Kind{session.KindMessageUser}, Limit: 1, Reverse: true},
		"records in the middle": {Kinds: []session.Kind{session.KindRecord, session.KindMessageUser}, Before: n / 2, Limit: 4, Reverse: true},
		"newest tool.result":    {Kinds: []session.Kind{session.KindToolResult}, Limit: 1, Reverse: true},
		"a rare kind not there": {Kinds: []session.Kind{"none"}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, err := range log.Read(b.Context(), q) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	head := n
	b.Run("append", func(b *testing.B) {
		for b.Loop() {
			if head, err = log.Append(b.Context(), session.Batch{Head: head, Events: step(1)[0]}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
