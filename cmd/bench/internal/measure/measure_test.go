package measure

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
)

func upTo(n int) []float64 {
	var all []float64
	for i := range n {
		all = append(all, float64((i*7919)%n+1)) // 1..n in another order
	}
	return all
}

func TestMedianAndQuantiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		got, want float64
	}{
		{Median([]float64{3, 1, 2}), 2},
		{Median([]float64{4, 1, 2, 3}), 2.5},
		{Median(nil), math.NaN()},
		{quantile(upTo(200), 0.5), 100},
		{quantile(upTo(200), 0.99), 198},
		{quantile(upTo(20), 0.99), 20},
		{quantile([]float64{5}, 0.5), 5},
		{quantile(nil, 0.5), math.NaN()},
	} {
		if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("got %v, want %v", c.got, c.want)
		}
	}
	values := []float64{2, 1}
	if Median(values); !slices.Equal(values, []float64{2, 1}) {
		t.Error("Median sorts its argument")
	}
}

func TestGrowthIsPerStep(t *testing.T) {
	t.Parallel()
	var steps []float64
	for i := range 1000 {
		steps = append(steps, 1+0.002*float64(i))
	}
	steps[500] = 1e6 // one that was disturbed
	if got := growth(steps); math.Abs(got-0.002) > 1e-9 {
		t.Errorf("growth %v, want 0.002", got)
	}
	if got := growth(steps[:9]); !math.IsNaN(got) {
		t.Errorf("growth of nine steps is %v", got)
	}
}

// tape makes a run whose requests have these sizes and that takes 1 ms for its
// first step, 2 ms for the second and so on. Answers take a second.
func tape(sizes ...int) *lab.Run {
	at := time.Unix(0, 0)
	run := &lab.Run{Began: at}
	for i, n := range sizes {
		at = at.Add(time.Duration(i) * time.Millisecond)
		x := endpoint.Exchange{Ordinal: i, Bytes: n, Arrived: at}
		at = at.Add(time.Second)
		x.Answered = at
		run.Tape = append(run.Tape, x)
	}
	return run
}

func TestStepsLeaveTheModelOut(t *testing.T) {
	t.Parallel()
	if got := millis(tape(1, 2, 3).Steps()); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("steps %v", got)
	}
}

func TestResetsAreToldApart(t *testing.T) {
	t.Parallel()
	cost, usual, calls := split(tape(10, 20, 30, 12, 22, 11), false)
	if !slices.Equal(cost, []float64{3, 5}) || !slices.Equal(usual, []float64{1, 2, 4}) || calls != 0 {
		t.Errorf("cost %v, usual %v, calls %d", cost, usual, calls)
	}
}

// A summary's own request is shorter than the one before it, and what follows may
// be longer or shorter than that.
func TestACompactionThatAsksCostsBothItsGaps(t *testing.T) {
	t.Parallel()
	cost, usual, calls := split(tape(10, 20, 30, 25, 15, 28, 38, 29, 30, 31), true)
	if !slices.Equal(cost, []float64{3 + 4, 7 + 8}) || !slices.Equal(usual, []float64{1, 2, 5, 6, 9}) || calls != 2 {
		t.Errorf("cost %v, usual %v, calls %d", cost, usual, calls)
	}
}

func TestWindowsEndWithAReset(t *testing.T) {
	t.Parallel()
	got := windowsOf(tape(10, 20, 30, 12, 22, 11, 21))
	if len(got) != 2 || !slices.Equal(got[0], []float64{1, 2}) || !slices.Equal(got[1], []float64{4}) {
		t.Errorf("windows %v", got)
	}
}

func TestEndsAreQuartersOfOneAtLeast(t *testing.T) {
	t.Parallel()
	for n, want := range map[int][2]float64{1: {1, 1}, 3: {1, 3}, 8: {1.5, 7.5}} {
		var all []float64
		for i := range n {
			all = append(all, float64(i+1))
		}
		if early, late := ends(all, Median); early != want[0] || late != want[1] {
			t.Errorf("ends of %v: %v, %v", all, early, late)
		}
	}
}

func TestCompactingEndsAfterTheLastCompaction(t *testing.T) {
	t.Parallel()
	var seen []int
	script := compacting(endpoint.Call{Name: "read"}, 2, true, func(n int, _ []byte) error { seen = append(seen, n); return nil })
	var got []string
	for _, x := range tape(10, 20, 15, 12, 22, 13, 14).Tape {
		r, err := script(x, nil)
		switch {
		case err != nil:
			t.Fatal(err)
		case r.Call != nil:
			got = append(got, "call")
		case r == endpoint.Done:
			got = append(got, "done")
		default:
			got = append(got, "summary")
		}
	}
	want := []string{"call", "call", "summary", "call", "call", "summary", "done"}
	if !slices.Equal(got, want) || !slices.Equal(seen, []int{1, 2}) {
		t.Errorf("answers %v, seen %v", got, seen)
	}
}

// What is taken of the first compaction: the requests around it, and what stands between.
func TestABoundaryIsWatchedOnce(t *testing.T) {
	t.Parallel()
	commits := 0
	o := boundary{asks: true, commits: func() (int, error) { commits += 3; return commits, nil }}
	script := o.script(endpoint.Call{Name: "read"})
	bodies := []string{"system a", "system a b", "system a b c", "system a b and: condense", "system s c"}
	var last endpoint.Reply
	for i, x := range tape(8, 10, 12, 11, 10).Tape {
		var err error
		if last, err = script(x, []byte(bodies[i])); err != nil {
			t.Fatal(err)
		}
	}
	if last != endpoint.Done || o.sent != len(bodies[3]) || o.prefix != len("system ") || o.synced != 3 {
		t.Errorf("%+v ends with %+v", o, last)
	}
}
