package summary_test

import (
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/compaction/summary"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// bulky is work with one long result among it; its measure is just past the line.
func bulky(t *testing.T) *compactiontest.Session {
	s := work(t, 2)
	s.Exchange("big", "read", `{}`, strings.Repeat(words, 300))
	for range 4 {
		s.Exchange("t"+strings.Repeat("x", s.Calls()+len(s.Messages())), "read", `{}`, strings.Repeat(words, 6))
	}
	s.Budget.ResetAt = s.Input(session.TriggerPressure).Measured
	return s
}

func TestC12_LongResultsAreCutFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trigger session.Trigger
		config  summary.Config
		kind    compaction.Kind
	}{
		"pressure":  {session.TriggerPressure, summary.Config{Prune: true}, compaction.KindTrim},
		"overflow":  {session.TriggerOverflow, summary.Config{Prune: true}, compaction.KindSummary},
		"manual":    {session.TriggerManual, summary.Config{Prune: true}, compaction.KindSummary},
		"not asked": {session.TriggerPressure, summary.Config{}, compaction.KindSummary},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := bulky(t)
			if p := s.Compact(summary.New(c.config), s.Input(c.trigger)); p.Kind != c.kind {
				t.Fatalf("proposed %q, want %q", p.Kind, c.kind)
			}
			if c.kind == compaction.KindTrim && (s.Calls() != 0 || s.Input(c.trigger).Measured >= s.Budget.ResetAt*9/10) {
				t.Errorf("%d calls, %d tokens are left of %d", s.Calls(), s.Input(c.trigger).Measured, s.Budget.ResetAt)
			}
		})
	}
}

func TestC12_CutsThatBringTooLittleAreNotMade(t *testing.T) {
	t.Parallel()
	s := bulky(t)
	for i := range 8 { // now cutting the long one is a drop in the ocean
		s.Exchange("m"+string(rune('a'+i)), "read", `{}`, strings.Repeat(words, 150))
	}
	s.Budget.ResetAt = s.Input(session.TriggerPressure).Measured * 9 / 10
	p := s.Compact(summary.New(summary.Config{Prune: true}), s.Input(session.TriggerPressure))
	if p.Kind != compaction.KindSummary || len(p.Edits) != 1 {
		t.Errorf("proposed %q of %d edits", p.Kind, len(p.Edits))
	}
}

// What stays has its long results cut in the same proposal, where it would be past
// the line by itself; what the model has not seen stays whole.
func TestC12_WhatStaysIsCutWhereItMust(t *testing.T) {
	t.Parallel()
	s := work(t, 20)
	s.Exchange("seen", "read", `{}`, strings.Repeat(words, 600))
	s.Exchange("unseen", "read", `{}`, strings.Repeat(words, 190))
	s.Budget.ResetAt = 9000
	in := s.Input(session.TriggerPressure)
	retain := 0.6
	p := s.Compact(summary.New(summary.Config{RetainRatio: &retain}), in)
	if p.Kind != compaction.KindSummary || len(p.Edits) != 2 || p.Edits[0].Replace == nil || p.Edits[1].Trim == nil {
		t.Fatalf("proposed %q: %+v", p.Kind, p.Edits)
	}
	got := s.Messages()
	if last := got[len(got)-1].Text(); last != strings.Repeat(words, 190) {
		t.Error("a result that the model has not seen is cut")
	}
	if n := s.Input(session.TriggerPressure).Measured; n >= s.Budget.ResetAt {
		t.Errorf("%d tokens are left, the line is at %d", n, s.Budget.ResetAt)
	}
}

func TestC7_TheInstructionIsTheUsers(t *testing.T) {
	t.Parallel()
	s := work(t, 10)
	var text string
	calls := listen(s, numbered)
	in := s.Input(session.TriggerManual)
	in.Instructions = "and the parser"
	s.Compact(summary.New(summary.Config{Instruction: "\nWrite a haiku.\n", Guidance: "Mind the tests."}), in)
	if text = (*calls)[0].Append[0].Text(); !strings.HasPrefix(text, "Write a haiku.\n\nMind the tests.\n\nand the parser\n\n") {
		t.Errorf("asked %q", text)
	}
	// what no instruction takes away, and nothing behind it does
	_, tail, _ := strings.Cut(text, "and the parser\n\n")
	for _, want := range []string{"Call no tool.", "nothing else", "A <compacted-summary> block above is an earlier hand-over. Work it into this one"} {
		if strings.Count(tail, want) != 1 || len(tail) > 800 {
			t.Errorf("%q is not in the %d characters behind what was asked: %q", want, len(tail), tail)
		}
	}
	if got := s.Messages()[1].Text(); !strings.Contains(got, "<compacted-summary>\n"+numbered(1)) || llm.Validate(s.Messages()) != nil {
		t.Errorf("the checkpoint is %q", got)
	}
}
