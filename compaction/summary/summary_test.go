package summary_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/compaction/summary"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

const words = "one two three four five six seven eight nine ten "

// work makes a session of a prompt and n exchanges of about 200 tokens each.
func work(t *testing.T, n int) *compactiontest.Session {
	t.Helper()
	s := compactiontest.New(t, "summary", "You work.")
	b, err := compaction.Resolve(compaction.BudgetConfig{}, 8192, 1024, "profile")
	if err != nil {
		t.Fatal(err)
	}
	s.Budget = b
	s.Model = says("## Primary Request and Intent\n- fix it", llm.StopEnd)
	s.Turn()
	s.User(session.SourceOwner, "fix the parser")
	for i := range n {
		s.Exchange("c"+string(rune('a'+i)), "read", `{"path":"a.go"}`, strings.Repeat(words, 12))
	}
	return s
}

func says(text string, stop llm.StopReason) func(context.Context, []*llm.Message, session.Generate) (session.Generated, error) {
	return func(context.Context, []*llm.Message, session.Generate) (session.Generated, error) {
		return session.Generated{Message: llm.Text(llm.RoleAssistant, text), Stop: stop}, nil
	}
}

func calls(text string) func(context.Context, []*llm.Message, session.Generate) (session.Generated, error) {
	return func(context.Context, []*llm.Message, session.Generate) (session.Generated, error) {
		m := llm.Text(llm.RoleAssistant, text)
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: "x", Name: "read", Arguments: "{}"}})
		return session.Generated{Message: m, Stop: llm.StopToolCalls}, nil
	}
}

func TestC6_C7_OneCallOnTheUnchangedPrefix(t *testing.T) {
	t.Parallel()
	s := work(t, 20)
	before := s.Messages()
	var asked session.Generate
	s.Model = func(ctx context.Context, prefix []*llm.Message, g session.Generate) (session.Generated, error) {
		asked = g
		for i, m := range prefix[:len(prefix)-1] {
			if m != before[i] {
				t.Errorf("message %d of the call is not the surface's own", i)
			}
		}
		return says("the checkpoint", llm.StopEnd)(ctx, prefix, g)
	}
	strategy := summary.New(summary.Config{Guidance: "Mind the tests.", Effort: "low", Model: "small", ContextWindow: 8192})
	in := s.Input(session.TriggerPressure)
	in.Instructions = "and the parser"
	p := s.Compact(strategy, in)

	if s.Calls() != 1 {
		t.Fatalf("%d model calls, want 1", s.Calls())
	}
	span := p.Edits[0].Replace.Span
	if asked.SurfaceUntil != span.To || asked.Purpose != llm.PurposeCompaction || asked.Model != "small" || asked.Effort != "low" || asked.MaxOutputTokens != 1024 {
		t.Errorf("the call: %+v, the span %+v", asked, span)
	}
	if len(asked.Append) != 1 || asked.Append[0].Role != llm.RoleUser {
		t.Fatalf("appended: %+v", asked.Append)
	}
	text := asked.Append[0].Text()
	at := 0
	for _, h := range []string{"## Primary Request and Intent", "## Key Technical Concepts", "## Files and Code", "## Errors and Fixes",
		"## Pending Jobs", "## Current Work", "## Next Step", "## Critical Context"} {
		i := strings.Index(text[at:], h)
		if i < 0 {
			t.Fatalf("the instruction misses %q, or has it out of order", h)
		}
		at += i
	}
	if !strings.Contains(text, "\n\nMind the tests.\n\nand the parser\n\nWhatever was asked above, ") {
		t.Errorf("guidance and manual instructions are not behind the instruction: %q", text)
	}
}

func TestC5_PressureKeepsTheNewestShare(t *testing.T) {
	t.Parallel()
	s := work(t, 20)
	before := s.Messages()
	s.Compact(summary.New(summary.Config{}), s.Input(session.TriggerPressure))
	after := s.Messages()
	kept := 0
	for i := 1; i <= len(after)-2; i++ {
		m := after[len(after)-i]
		if m != before[len(before)-i] {
			t.Fatalf("message %d from the end changed", i)
		}
		kept += llm.Estimate(m)
	}
	retain := s.Budget.Retain(0.16)
	first := llm.Estimate(after[2]) + llm.Estimate(after[3]) // the oldest exchange that stayed
	if kept < retain || kept-first >= retain {
		t.Errorf("%d tokens stayed; want at least %d and no exchange more", kept, retain)
	}
	if after[2].Role != llm.RoleAssistant {
		t.Errorf("the tail begins with a %s message", after[2].Role)
	}
}

func TestC8_CheckpointIsOneUserMessageBehindNode0(t *testing.T) {
	t.Parallel()
	s := work(t, 20)
	s.Model = says("<compacted-summary>\nfacts </compacted-summary> more\n</compacted-summary>", llm.StopEnd)
	s.Compact(summary.New(summary.Config{}), s.Input(session.TriggerManual))
	got := s.Messages()
	if len(got) != 2 || got[1].Role != llm.RoleUser {
		t.Fatalf("%d messages", len(got))
	}
	text := got[1].Text()
	if !strings.Contains(text, "\n\n<compacted-summary>\nfacts <\\/compacted-summary> more\n</compacted-summary>\n\n") {
		t.Errorf("framed as %q", text)
	}
	if strings.Count(text, "</compacted-summary>") != 1 {
		t.Error("the block can be left from inside")
	}
}

func TestC10_C11_OverflowAndManualKeepNothing(t *testing.T) {
	t.Parallel()
	for _, trigger := range []session.Trigger{session.TriggerOverflow, session.TriggerManual} {
		s := work(t, 20)
		s.Compact(summary.New(summary.Config{}), s.Input(trigger))
		if n := len(s.Messages()); n != 2 {
			t.Errorf("%s: %d messages left, want node 0 and the checkpoint", trigger, n)
		}
	}
}

func TestC5_APriorCheckpointIsMerged(t *testing.T) {
	t.Parallel()
	s := work(t, 20)
	strategy := summary.New(summary.Config{})
	s.Compact(strategy, s.Input(session.TriggerManual))
	if p := s.Compact(strategy, s.Input(session.TriggerManual)); !p.IsZero() {
		t.Error("a checkpoint alone is condensed again")
	}
	for i := range 3 {
		s.Exchange("later"+string(rune('a'+i)), "read", `{}`, strings.Repeat(words, 12))
	}
	seen := false
	s.Model = func(ctx context.Context, prefix []*llm.Message, g session.Generate) (session.Generated, error) {
		seen = strings.Contains(prefix[1].Text(), "<compacted-summary>")
		return says("merged", llm.StopEnd)(ctx, prefix, g)
	}
	s.Compact(strategy, s.Input(session.TriggerManual))
	got := s.Messages()
	if !seen || len(got) != 2 || strings.Count(got[1].Text(), "<compacted-summary>") != 1 || !strings.Contains(got[1].Text(), "merged") {
		t.Errorf("the prior checkpoint was shown: %v; now %d messages", seen, len(got))
	}
}

func TestK3_C016_C017_UselessAnswersLeaveTheSurface(t *testing.T) {
	t.Parallel()
	broken := errors.New("no route")
	reasoning := &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Kind: llm.BlockReasoning, Text: "hm"}}}
	for _, c := range []struct {
		name  string
		model func(context.Context, []*llm.Message, session.Generate) (session.Generated, error)
		want  error
	}{
		{"empty", says(" \n", llm.StopEnd), summary.ErrEmpty},
		{"reasoning only", func(context.Context, []*llm.Message, session.Generate) (session.Generated, error) {
			return session.Generated{Message: reasoning, Stop: llm.StopEnd}, nil
		}, summary.ErrEmpty},
		{"a call and no text", calls(""), summary.ErrCalls},
		{"a call and a word", calls("Let me look."), summary.ErrCalls},
		{"the tags alone", says("<compacted-summary>\n</compacted-summary>", llm.StopEnd), summary.ErrEmpty},
		{"cut off", says("## Primary", llm.StopMaxTokens), summary.ErrTruncated},
		{"not smaller", says(strings.Repeat(words, 2000), llm.StopEnd), summary.ErrNotSmaller},
		{"failed", func(context.Context, []*llm.Message, session.Generate) (session.Generated, error) {
			return session.Generated{}, broken
		}, broken},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := work(t, 20)
			s.Model = c.model
			before := s.Messages()
			p, err := summary.New(summary.Config{}).Propose(t.Context(), s.Input(session.TriggerPressure))
			if !errors.Is(err, c.want) || !p.IsZero() {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if !reflect.DeepEqual(s.Messages(), before) || s.Calls() != 1 {
				t.Errorf("the surface changed, or %d calls were made", s.Calls())
			}
		})
	}
}

func TestC5_NothingToDo(t *testing.T) {
	t.Parallel()
	strategy := summary.New(summary.Config{})
	s := compactiontest.New(t, "summary", "You work.")
	if p := s.Compact(strategy, s.Input(session.TriggerManual)); !p.IsZero() {
		t.Error("node 0 alone is condensed")
	}
	s = work(t, 20)
	if p := s.Compact(strategy, s.Input(session.TriggerStopping)); !p.IsZero() || s.Calls() != 0 {
		t.Error("a stopping trigger is answered")
	}
	s = work(t, 1)
	if p := s.Compact(strategy, s.Input(session.TriggerPressure)); !p.IsZero() {
		t.Error("less than what stays is condensed")
	}
}
