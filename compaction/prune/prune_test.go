package prune_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/prune"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

const revision = 1000

var line = compaction.Budget{Window: 32_000, MaxOutputTokens: 2000, ResetAt: 24_000, Reserve: 8000}

func total(nodes []session.Node) (tokens int) {
	for _, n := range nodes {
		tokens += n.Tokens
	}
	return tokens
}

func ask(trigger session.Trigger, nodes []session.Node, measured int) compaction.Input {
	return compaction.Input{Session: "s1", Revision: revision, Trigger: trigger, Attempt: 1, Budget: line, Measured: measured,
		Outline: func(yield func(session.Node, error) bool) {
			for _, n := range nodes {
				if !yield(n, nil) {
					return
				}
			}
		}}
}

func propose(t interface{ Fatal(...any) }, s *prune.Strategy, in compaction.Input, nodes []session.Node) compaction.Proposal {
	p, err := s.Propose(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if err := compaction.Check(nodes, p, revision, nil); err != nil {
		t.Fatal(err)
	}
	return p
}

// results lists the sizes of the results on a surface, in order.
func results(nodes []session.Node) (sizes []int) {
	for _, n := range nodes {
		if n.Role == llm.RoleTool {
			sizes = append(sizes, n.Chars)
		}
	}
	return sizes
}

// work is node 0, a prompt, and an exchange for each size.
func work(sizes ...int) []session.Node {
	nodes := say(say(nil, llm.RoleSystem, 3000), llm.RoleUser, 300)
	for _, size := range sizes {
		nodes = exchange(nodes, size)
	}
	return nodes
}

const (
	cutTo    = 4096 + 1024 + 64 // with the marker
	maskedTo = 256 + 512 + 64
)

func TestC12_TheOldestGoFirstDownToTheLowWaterMark(t *testing.T) {
	t.Parallel()
	nodes := work(slices.Repeat([]int{6000}, 14)...)
	p := propose(t, prune.New(prune.Config{}), ask(session.TriggerPressure, nodes, total(nodes)), nodes)
	after, less := apply(nodes, p.Edits), apply(nodes, p.Edits[:len(p.Edits)-1])
	want := append(slices.Repeat([]int{maskedTo}, len(p.Edits)), slices.Repeat([]int{6000}, 14-len(p.Edits))...)
	if got := results(after); !slices.Equal(got, want) {
		t.Errorf("results of %v characters, want %v", got, want)
	}
	if low := 24_000 * 7 / 10; total(after) > low || total(less) <= low {
		t.Errorf("%d tokens are left, and %d with a mask less; the mark is at %d", total(after), total(less), low)
	}
	if p.Kind != compaction.KindTrim {
		t.Errorf("kind %q", p.Kind)
	}
}

func TestC12_LongResultsAreCutBeforeAnyIsMasked(t *testing.T) {
	t.Parallel()
	nodes := work(5000, 20_000, 30_000, 20_000, 6000, 6000, 6000)
	high := 0.9
	p := propose(t, prune.New(prune.Config{Target: &high}), ask(session.TriggerPressure, nodes, total(nodes)), nodes)
	want := []int{5000, cutTo, cutTo, 20_000, 6000, 6000, 6000}
	if got := results(apply(nodes, p.Edits)); !slices.Equal(got, want) {
		t.Errorf("results of %v characters, want %v", got, want)
	}
}

func TestC5_TheNewestStayUnderPressureAlone(t *testing.T) {
	t.Parallel()
	nodes := work(slices.Repeat([]int{6000}, 14)...)
	zero, all := 0.0, 0.5
	for name, c := range map[string]struct {
		config  prune.Config
		trigger session.Trigger
		whole   int // results at the end that stay as they are
	}{
		"down to nothing, the newest 0.16 of 30000 stay": {prune.Config{Target: &zero}, session.TriggerPressure, 3},
		"the newest half":                 {prune.Config{Target: &zero, RetainRatio: &all}, session.TriggerPressure, 8},
		"nothing but what was not seen":   {prune.Config{Target: &zero, RetainRatio: &zero}, session.TriggerPressure, 1},
		"on overflow all that was seen":   {prune.Config{}, session.TriggerOverflow, 1},
		"by hand":                         {prune.Config{}, session.TriggerManual, 1},
		"where the agent asks":            {prune.Config{}, session.TriggerRequested, 1},
		"a stopping trigger":              {prune.Config{}, session.TriggerStopping, 14},
		"a trigger that nobody knows yet": {prune.Config{}, "weekly", 14},
	} {
		p := propose(t, prune.New(c.config), ask(c.trigger, nodes, 25_000), nodes)
		got := results(apply(nodes, p.Edits))
		want := append(slices.Repeat([]int{maskedTo}, 14-c.whole), slices.Repeat([]int{6000}, c.whole)...)
		if !slices.Equal(got, want) {
			t.Errorf("%s: results of %v characters, want %v", name, got, want)
		}
	}
}

func TestC12_NothingToGainIsNoProposal(t *testing.T) {
	t.Parallel()
	s := prune.New(prune.Config{})
	long := work(slices.Repeat([]int{6000}, 14)...)
	broken := errors.New("the log is away")
	for name, in := range map[string]compaction.Input{
		"short results":          ask(session.TriggerManual, work(slices.Repeat([]int{1536}, 40)...), 25_000),
		"no result":              ask(session.TriggerManual, work(), 25_000),
		"nothing at all":         ask(session.TriggerManual, nil, 0),
		"one that was not seen":  ask(session.TriggerManual, work(60_000), 25_000),
		"short ones on overflow": ask(session.TriggerOverflow, say(work(slices.Repeat([]int{1000}, 9)...), llm.RoleUser, 60_000), 25_000),
		"no more on overflow": func() compaction.Input {
			in := ask(session.TriggerOverflow, work(60_000), 25_000)
			in.Attempt = 2
			return in
		}(),
		"the line is not reached": ask(session.TriggerPressure, long, line.ResetAt-1),
		"the window is not known": func() compaction.Input {
			in := ask(session.TriggerPressure, long, 25_000)
			in.Budget = compaction.Budget{}
			return in
		}(),
		"nothing left from before": ask(session.TriggerManual, apply(long, propose(t, s, ask(session.TriggerManual, long, 25_000), long).Edits), 25_000),
	} {
		if p, err := s.Propose(t.Context(), in); err != nil || !p.IsZero() {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	in := ask(session.TriggerManual, long, 25_000)
	in.Outline = func(yield func(session.Node, error) bool) { _ = yield(long[0], nil) && yield(session.Node{}, broken) }
	if p, err := s.Propose(t.Context(), in); !errors.Is(err, broken) || !p.IsZero() {
		t.Errorf("half of an outline: %+v, %v", p, err)
	}
}

func TestC10_AnOverflowThatNothingCuresNamesTheResults(t *testing.T) {
	t.Parallel()
	nodes := exchange(work(500, 500), 40_000, 90_000, 3000, 60_000, 2000)
	p, err := prune.New(prune.Config{}).Propose(t.Context(), ask(session.TriggerOverflow, nodes, 70_000))
	if !errors.Is(err, compaction.ErrUnseen) || !p.IsZero() {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, part := range []string{"before the model has read it", "call call-7-1 (event 9, about 30008 tokens), call call-7-3 (event 11, about 20008 tokens), call call-7-0 (event 8, about 13341 tokens), 2 more", "larger window"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in %v", part, err)
		}
	}
}

// Whatever the conversation, a proposal under pressure makes the room between the
// low-water mark and the line, or has cut all that it may; so it cannot fire again
// before that room has filled.
func TestC12_Hysteresis(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		target, retain := rapid.Float64Range(0.1, 0.95).Draw(t, "target"), rapid.Float64Range(0, 0.5).Draw(t, "retain")
		s := prune.New(prune.Config{Target: &target, RetainRatio: &retain})
		nodes := surface(t)
		// what an endpoint counts for a token that we estimate, and tools beside
		ratio, tools := rapid.Float64Range(0.5, 2).Draw(t, "ratio"), rapid.IntRange(0, 6000).Draw(t, "tools")
		measure := func(nodes []session.Node) int { return int(ratio*float64(total(nodes))) + tools }
		p := propose(t, s, ask(session.TriggerPressure, nodes, measure(nodes)), nodes)
		if measure(nodes) < line.ResetAt {
			if !p.IsZero() {
				t.Fatal("it fires before the line")
			}
			return
		}
		after := apply(nodes, p.Edits)
		low := int(target * float64(line.ResetAt))
		slack := 30 * len(p.Edits) // a cut is priced by its share of the text
		if ratio < 1 {             // tools take part in the measure, and no cut makes them smaller
			slack += (measure(nodes) - low) * tools / measure(nodes)
		}
		if measure(after) <= low+slack {
			return // the room is made; below the line it does not fire, as above
		}
		if again := propose(t, s, ask(session.TriggerPressure, after, max(measure(after), line.ResetAt)), after); !again.IsZero() {
			t.Fatalf("%d tokens are left, the mark is at %d, and there was more to cut: %d results", measure(after), low, len(again.Edits))
		}
	})
}

func TestC12_EqualQuestionsGetEqualAnswers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		nodes := surface(t)
		trigger := rapid.SampledFrom([]session.Trigger{session.TriggerPressure, session.TriggerRequested, session.TriggerManual}).Draw(t, "trigger")
		first := propose(t, prune.New(prune.Config{}), ask(trigger, nodes, max(total(nodes), line.ResetAt)), nodes)
		again := propose(t, prune.New(prune.Config{}), ask(trigger, nodes, max(total(nodes), line.ResetAt)), nodes)
		if len(first.Edits) != len(again.Edits) {
			t.Fatalf("%d edits, then %d", len(first.Edits), len(again.Edits))
		}
		for i := range first.Edits {
			if *first.Edits[i].Trim != *again.Edits[i].Trim {
				t.Fatalf("edit %d: %+v, then %+v", i, first.Edits[i].Trim, again.Edits[i].Trim)
			}
		}
	})
}
