package summary_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/compaction/summary"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// endpoint counts more for a token than we estimate, and refuses what its window does
// not hold.
type endpoint struct {
	factor  int
	window  int
	silent  bool // a refusal names no number
	calls   int
	refused int
	stages  []string // the checkpoint that each answered call was shown
}

func (e *endpoint) count(messages []*llm.Message) (n int) {
	for _, m := range messages {
		n += e.factor * llm.Estimate(m)
	}
	return n
}

func (e *endpoint) answer(_ context.Context, seen []*llm.Message, g session.Generate) (session.Generated, error) {
	e.calls++
	if n := e.count(seen); n+g.MaxOutputTokens > e.window {
		e.refused++
		failure := &llm.Error{Code: llm.CodeOverflow, Message: "too long"}
		if !e.silent {
			failure.Requested, failure.Window = n, e.window
		}
		return session.Generated{}, failure
	}
	e.stages = append(e.stages, seen[1].Text())
	return session.Generated{Message: llm.Text(llm.RoleAssistant, numbered(len(e.stages))), Stop: llm.StopEnd}, nil
}

// dense is a session of n exchanges of about 200 tokens each.
func dense(t *testing.T, e *endpoint, n int) *compactiontest.Session {
	t.Helper()
	s := compactiontest.New(t, "summary", "You work.")
	s.Budget = compaction.Budget{Window: e.window, MaxOutputTokens: 2000, ResetAt: e.window * 3 / 4}
	s.Turn()
	s.User(session.SourceOwner, "fix the parser")
	for i := range n {
		s.Exchange(fmt.Sprintf("c%d", i), "read", `{}`, strings.Repeat(words, 12))
	}
	s.Model = e.answer
	return s
}

func TestC10_AnOverflowTellsWhatTheEndpointCounts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		factor, exchanges int
		named             bool // the refusal had a number
	}{
		"a little more": {2, 150, true}, "far more": {5, 100, true}, "no number came": {2, 160, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &endpoint{factor: c.factor, window: 64_000}
			s := dense(t, e, c.exchanges)
			in := s.Input(session.TriggerOverflow)
			if c.named {
				in.Measured = e.count(s.Messages())
			}
			if e.count(s.Messages())+2000 <= e.window {
				t.Fatal("it fits")
			}
			p, err := summary.New(summary.Config{}).Propose(t.Context(), in)
			if err != nil || p.IsZero() {
				t.Fatalf("after %d calls, %d refused: %v", e.calls, e.refused, err)
			}
			if c.named && e.refused > 0 || e.refused > 1 || len(e.stages) < 2 {
				t.Errorf("%d of %d calls were refused", e.refused, e.calls)
			}
			if err := s.Try(p, session.TriggerOverflow); err != nil || len(s.Messages()) != 2 {
				t.Errorf("%d messages are left, %v", len(s.Messages()), err)
			}
		})
	}
}

// What nobody could know before is learned from the refusal of the call itself, once.
func TestK2_ARefusedCallGoesOnInStages(t *testing.T) {
	t.Parallel()
	for _, silent := range []bool{false, true} {
		for _, window := range []int{64_000, 0} { // of the session's budget; 0 is not known
			e := &endpoint{factor: 2, window: 64_000, silent: silent}
			s := dense(t, e, 150)
			s.Budget.Window, s.Budget.ResetAt = window, window*3/4
			p, err := summary.New(summary.Config{}).Propose(t.Context(), s.Input(session.TriggerManual))
			if silent && window == 0 { // nothing to go by
				if llm.CodeOf(err) != llm.CodeOverflow || e.calls != 1 || !p.IsZero() {
					t.Errorf("%d calls, %v", e.calls, err)
				}
				continue
			}
			if err != nil || e.refused != 1 || len(e.stages) < 2 || p.IsZero() {
				t.Errorf("silent %v, window %d: %d calls, %d refused, %v", silent, window, e.calls, e.refused, err)
			}
		}
	}
	// Stages that are refused as well are the end of it, and so is another failure.
	for failure, most := range map[error]int{&llm.Error{Code: llm.CodeOverflow, Message: "too long"}: 2, &llm.Error{Code: llm.CodeServer, Message: "down"}: 1, errors.New("no route"): 1} {
		s := dense(t, &endpoint{factor: 1, window: 64_000}, 100)
		s.Model = func(context.Context, []*llm.Message, session.Generate) (session.Generated, error) {
			return session.Generated{}, failure
		}
		p, err := summary.New(summary.Config{}).Propose(t.Context(), s.Input(session.TriggerManual))
		if !errors.Is(err, failure) || !p.IsZero() || s.Calls() != most {
			t.Errorf("%v: %d calls, %v", failure, s.Calls(), err)
		}
	}
}

func TestK2_TheBoundOnStagesIsThatOfTheWholeRun(t *testing.T) {
	t.Parallel()
	cut := 0
	for exchanges := 280; exchanges <= 360; exchanges += 8 {
		s := compactiontest.New(t, "summary", "You work.")
		s.Budget = compaction.Budget{Window: 16_000, MaxOutputTokens: 1024, ResetAt: 12_000}
		s.Turn()
		s.User(session.SourceOwner, "fix the parser")
		for i := range exchanges {
			s.Exchange(fmt.Sprintf("c%d", i), "read", `{}`, strings.Repeat(words, 20))
		}
		// a model that does not mind its output cap
		calls := listen(s, func(n int) string { return numbered(n) + strings.Repeat(words, 300) })
		_, err := summary.New(summary.Config{}).Propose(t.Context(), s.Input(session.TriggerManual))
		if n := len(*calls); n > 12 || n > 1 && err != nil {
			t.Errorf("%d exchanges: %d calls, %v", exchanges, n, err)
		}
		if len(*calls) == 1 && errors.Is(err, summary.ErrWindow) {
			cut++ // as soon as it could be known
		}
	}
	if cut == 0 {
		t.Error("no run was cut short, so nothing was tested")
	}
}

// How much a checkpoint takes is what the endpoint counted for it, where it says so.
func TestK2_ACheckpointTakesWhatTheEndpointCounted(t *testing.T) {
	t.Parallel()
	for _, told := range []bool{true, false} {
		e := &endpoint{factor: 1, window: 16_000}
		s := dense(t, e, 480)
		s.Model = func(ctx context.Context, seen []*llm.Message, g session.Generate) (session.Generated, error) {
			e.calls++
			out, err := says(numbered(e.calls)+strings.Repeat(words, 300), llm.StopEnd)(ctx, seen, g)
			if told {
				out.Usage.Output = g.MaxOutputTokens
			}
			return out, err
		}
		_, err := summary.New(summary.Config{}).Propose(t.Context(), s.Input(session.TriggerManual))
		if (err == nil) != told || told && e.calls < 3 || !told && (!errors.Is(err, summary.ErrWindow) || e.calls != 1) {
			t.Errorf("told %v: %d calls, %v", told, e.calls, err)
		}
	}
}
