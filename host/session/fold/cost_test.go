package fold_test

import (
	"runtime"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// TestC108_AnAppendCostsTheSameOnAnySurface: what a message allocates does not go by
// the messages before it, nor by what an undo would give back.
func TestC108_AnAppendCostsTheSameOnAnySurface(t *testing.T) {
	bytesEach := func(nodes int, compacted bool) uint64 {
		s := state(t, created(), system("s"))
		apply := func(e session.Event) {
			e.Seq = s.Head + 1
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
		message := user("text")
		for range nodes {
			apply(message)
		}
		if compacted {
			apply(session.New(session.KindCompactionStarted, session.CompactionStarted{Ordinal: 1}))
			apply(session.New(session.KindCompactionEnded, session.CompactionEnded{Ordinal: 1}))
		}
		var before, after runtime.MemStats
		grown := s.Surface.Clone() // the surface's own growth is amortized; it is not what is measured
		s.Surface.Nodes = append(make([]fold.Node, 0, 2*nodes+1000), grown.Nodes...)
		runtime.ReadMemStats(&before)
		for range 500 {
			apply(message)
		}
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / 500
	}
	few := bytesEach(10, false)
	for _, compacted := range []bool{false, true} {
		if many := bytesEach(20_000, compacted); many > 2*few {
			t.Errorf("a message allocates %d bytes behind 20,000 and %d behind 10 (compacted: %v)", many, few, compacted)
		}
	}
}

// BenchmarkApply folds a step's events behind surfaces of several sizes.
func BenchmarkApply(b *testing.B) {
	for name, nodes := range map[string]int{"100": 100, "10000": 10_000} {
		b.Run(name, func(b *testing.B) {
			s := state(b, created(), system("s"))
			message := user("a message of some length, as they are")
			for i := range nodes + b.N {
				if i == nodes {
					b.ResetTimer()
				}
				message.Seq = s.Head + 1
				if err := s.Apply(message); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
