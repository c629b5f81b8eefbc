package summary_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/compaction/summary"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// asked is one model call of a strategy, with what the model saw.
type asked struct {
	session.Generate
	seen []*llm.Message
}

func (a asked) tokens() (n int) {
	for _, m := range a.seen {
		n += llm.Estimate(m)
	}
	return n
}

// listen has a session answer each call by its number and keeps the calls.
func listen(s *compactiontest.Session, answer func(n int) string) *[]asked {
	var list []asked
	s.Model = func(_ context.Context, seen []*llm.Message, g session.Generate) (session.Generated, error) {
		list = append(list, asked{g, seen})
		return session.Generated{Message: llm.Text(llm.RoleAssistant, answer(len(list))), Stop: llm.StopEnd}, nil
	}
	return &list
}

func numbered(n int) string { return fmt.Sprintf("## Current Work\n- through part %d", n) }

// stages wants calls that each fit a window, the instruction last, the checkpoint of
// the call before in place of what it was about, and the span as a whole.
func stages(t interface{ Errorf(string, ...any) }, calls []asked, window int) {
	for i, c := range calls {
		if got := c.tokens() + c.MaxOutputTokens; got > window {
			t.Errorf("call %d of %d takes %d tokens, the window is %d", i+1, len(calls), got, window)
		}
		if err := llm.Validate(c.seen); err != nil {
			t.Errorf("call %d: %v", i+1, err)
		}
		if last := c.seen[len(c.seen)-1].Text(); !strings.Contains(last, "## Primary Request and Intent") {
			t.Errorf("call %d ends with %.80q", i+1, last)
		}
		if i > 0 {
			r := c.Edits[0].Replace
			if r == nil || r.Span.To != calls[i-1].SurfaceUntil || !strings.Contains(c.seen[1].Text(), numbered(i)) {
				t.Errorf("call %d does not begin with the checkpoint of call %d: %.80q", i+1, i, c.seen[1].Text())
			}
		}
	}
}

func TestK2_C010_ALongHistoryIsCondensedInStages(t *testing.T) {
	t.Parallel()
	s := compactiontest.New(t, "summary", "You work.")
	var err error
	if s.Budget, err = compaction.Resolve(compaction.BudgetConfig{}, 32000, 2000, "profile"); err != nil {
		t.Fatal(err)
	}
	s.Turn()
	s.User(session.SourceOwner, "fix the parser")
	for i := range 120 {
		s.Exchange(fmt.Sprintf("c%d", i), "read", `{}`, strings.Repeat(words, 60))
	}
	calls := listen(s, numbered)
	var progress []string
	in := s.Input(session.TriggerPressure)
	if in.Measured < 120000 {
		t.Fatalf("the history has %d tokens", in.Measured)
	}
	in.Progress = func(text string) { progress = append(progress, text) }
	p := s.Compact(summary.New(summary.Config{}), in)
	stages(t, *calls, 32000)
	if n := len(*calls); n < 4 || n > 7 {
		t.Errorf("%d calls", n)
	}
	for i, text := range progress {
		if !strings.HasSuffix(text, fmt.Sprintf(": stage %d of %d", i+1, len(*calls))) {
			t.Errorf("progress %d: %q", i+1, text)
		}
	}
	got := s.Messages()
	last := (*calls)[len(*calls)-1]
	if text := got[1].Text(); !strings.Contains(text, numbered(len(*calls))) || strings.Count(text, "<compacted-summary>") != 1 || !strings.Contains(text, "fix the parser") {
		t.Errorf("the checkpoint is %q", text)
	}
	if p.Edits[0].Replace.Span.To != last.SurfaceUntil || len(got) < 10 {
		t.Errorf("%d messages are left; the span ends at %d, the last stage at %d", len(got), p.Edits[0].Replace.Span.To, last.SurfaceUntil)
	}
	for i, c := range *calls {
		if more := strings.Contains(c.Append[0].Text(), "part by part"); more != (i < len(*calls)-1) {
			t.Errorf("call %d is told that more follows: %v", i+1, more)
		}
	}
}

func TestK2_C010_TooLargeResultsAreCutInTheView(t *testing.T) {
	t.Parallel()
	for name, filler := range map[string]string{"ASCII": strings.Repeat(words, 3000), "mixed": strings.Repeat("日本語のテキスト", 4000) + strings.Repeat(words, 2000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := work(t, 3)
			s.Assistant("two at once", llm.ToolCall{ID: "x", Name: "read", Arguments: "{}"}, llm.ToolCall{ID: "y", Name: "read", Arguments: "{}"})
			s.Result("x", "read", filler, false)
			s.Result("y", "read", "short", false)
			s.Assistant("done")
			calls := listen(s, numbered)
			s.Compact(summary.New(summary.Config{}), s.Input(session.TriggerManual))
			stages(t, *calls, s.Budget.Window)
			cut := 0
			for _, c := range *calls {
				for _, e := range c.Edits {
					if e.Trim != nil {
						cut++
					}
				}
			}
			if cut != 1 || len(s.Messages()) != 2 {
				t.Errorf("%d results were cut for the calls, %d messages are left", cut, len(s.Messages()))
			}
		})
	}
}

func TestK2_C011_AnOwnModelHasAWindowOfItsOwn(t *testing.T) {
	t.Parallel()
	history := func() *compactiontest.Session {
		s := compactiontest.New(t, "summary", "You work.")
		var err error
		if s.Budget, err = compaction.Resolve(compaction.BudgetConfig{}, 200000, 8000, "profile"); err != nil {
			t.Fatal(err)
		}
		s.Turn()
		s.User(session.SourceOwner, "fix the parser")
		for i := range 30 {
			s.Exchange(fmt.Sprintf("c%d", i), "read", `{}`, strings.Repeat(words, 40))
		}
		return s
	}
	s := history()
	calls := listen(s, numbered)
	s.Compact(summary.New(summary.Config{Model: "small", ContextWindow: 8192}), s.Input(session.TriggerManual))
	stages(t, *calls, 8192)
	if len(*calls) < 3 || (*calls)[0].Model != "small" {
		t.Errorf("%d calls: %+v", len(*calls), (*calls)[0].Generate)
	}

	s = history()
	s.User(session.SourceOwner, strings.Repeat(words, 1000))
	before := s.Messages()
	_, err := summary.New(summary.Config{Model: "small", ContextWindow: 8192}).Propose(t.Context(), s.Input(session.TriggerManual))
	if !errors.Is(err, summary.ErrWindow) {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{"8192", "200000", "compaction.summary.context_window", "small"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s: %v", want, err)
		}
	}
	if s.Calls() != 0 || !reflect.DeepEqual(s.Messages(), before) {
		t.Errorf("%d calls were made, or the surface changed", s.Calls())
	}
}

func TestK2_C011_AnOwnModelNeedsItsWindow(t *testing.T) {
	t.Parallel()
	s := work(t, 1)
	open := func(c summary.Config) error {
		_, err := summary.New(c).Open(t.Context(), s.Opened())
		return err
	}
	if err := open(summary.Config{Model: "small"}); !errors.Is(err, summary.ErrModelWindow) || !strings.Contains(err.Error(), "compaction.summary.context_window") {
		t.Errorf("got %v", err)
	}
	for _, c := range []summary.Config{{}, {Model: "demo"}, {Model: "small", ContextWindow: 8192}} {
		if err := open(c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestK2_TooManyStagesAreRefusedBeforeACall(t *testing.T) {
	t.Parallel()
	s := work(t, 1)
	for range 60 {
		s.Assistant(strings.Repeat(words, 200))
	}
	_, err := summary.New(summary.Config{}).Propose(t.Context(), s.Input(session.TriggerManual))
	if !errors.Is(err, summary.ErrWindow) || !strings.Contains(err.Error(), "parts") || s.Calls() != 0 {
		t.Errorf("%d calls, got %v", s.Calls(), err)
	}
}

func TestC6_ASmallWindowLowersTheOutputCap(t *testing.T) {
	t.Parallel()
	s := work(t, 20) // about 4,500 tokens
	calls := listen(s, numbered)
	s.Compact(summary.New(summary.Config{MaxOutputTokens: 4096}), s.Input(session.TriggerManual))
	if len(*calls) != 1 || len((*calls)[0].Edits) > 0 {
		t.Fatalf("%d calls", len(*calls))
	}
	stages(t, *calls, s.Budget.Window)
	if c := (*calls)[0].MaxOutputTokens; c >= 4096 || c < 1024 {
		t.Errorf("the output cap is %d", c)
	}
}

func TestC6_ALateStageThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]string{"empty": " ", "cancelled": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := work(t, 60)
			ctx, cancel := context.WithCancel(t.Context())
			s.Model = func(ctx context.Context, seen []*llm.Message, g session.Generate) (session.Generated, error) {
				if s.Calls() < 2 {
					return says(numbered(1), llm.StopEnd)(ctx, seen, g)
				}
				if name == "empty" {
					return says(late, llm.StopEnd)(ctx, seen, g)
				}
				cancel()
				<-ctx.Done()
				return session.Generated{}, context.Cause(ctx)
			}
			before := s.Messages()
			p, err := summary.New(summary.Config{}).Propose(ctx, s.Input(session.TriggerManual))
			if !p.IsZero() || name == "empty" && !errors.Is(err, summary.ErrEmpty) || name == "cancelled" && !errors.Is(err, context.Canceled) {
				t.Errorf("got %+v, %v", p, err)
			}
			if !strings.Contains(err.Error(), "stage 2 of") || s.Calls() != 2 || !reflect.DeepEqual(s.Messages(), before) {
				t.Errorf("%d calls, %v", s.Calls(), err)
			}
			cancel()
		})
	}
}

// Whatever the history, every call fits the window, or none is made.
func TestK2_EveryCallFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := compactiontest.New(t, "summary", "You work.")
		window := rapid.IntRange(4000, 40000).Draw(rt, "window")
		s.Budget = compaction.Budget{Window: window, MaxOutputTokens: rapid.IntRange(256, window/3).Draw(rt, "output"), ResetAt: window * 7 / 10}
		s.Turn()
		s.User(session.SourceOwner, "fix the parser")
		for i := range rapid.IntRange(1, 30).Draw(rt, "exchanges") {
			filler := rapid.SampledFrom([]string{words, "日本語のテキスト", `{"a":[1,2]}`}).Draw(rt, "filler")
			if rapid.IntRange(0, 4).Draw(rt, "kind") == 0 {
				s.Assistant(strings.Repeat(filler, rapid.IntRange(1, 200).Draw(rt, "said")))
				s.User(session.SourcePlugin, "go on")
			}
			s.Exchange(fmt.Sprintf("c%d", i), "read", `{}`, strings.Repeat(filler, rapid.IntRange(1, 2000).Draw(rt, "length")))
		}
		calls := listen(s, numbered)
		in := s.Input(rapid.SampledFrom([]session.Trigger{session.TriggerManual, session.TriggerOverflow, session.TriggerPressure}).Draw(rt, "trigger"))
		p, err := summary.New(summary.Config{}).Propose(t.Context(), in)
		stages(rt, *calls, window)
		if err != nil && !errors.Is(err, summary.ErrNotSmaller) && (len(*calls) > 0 || !errors.Is(err, summary.ErrWindow)) {
			rt.Errorf("%d calls and then %v", len(*calls), err)
		}
		if err == nil {
			if err := compaction.Check(outline(in), p, in.Revision, nil); err != nil {
				rt.Error(err)
			}
		}
	})
}

func outline(in compaction.Input) (nodes []session.Node) {
	for n := range in.Outline {
		nodes = append(nodes, n)
	}
	return nodes
}
