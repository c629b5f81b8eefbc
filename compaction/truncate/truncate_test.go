package truncate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/compaction/truncate"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

const task = "Collect the codes."

// work is a session of a prompt and n exchanges of about 1000 tokens each.
func work(t *testing.T, n int) *compactiontest.Session {
	t.Helper()
	s := compactiontest.New(t, "truncate", "You work.")
	s.Budget = compaction.Budget{Window: 32_000, MaxOutputTokens: 2000, ResetAt: 24_000, Reserve: 8000}
	s.Turn()
	s.User(session.SourceContext, "It is noon.")
	s.User(session.SourceOwner, task)
	more(s, 1, n)
	return s
}

func more(s *compactiontest.Session, from, to int) {
	for i := from; i <= to; i++ {
		s.Exchange(fmt.Sprintf("call-%d", i), "read", fmt.Sprintf(`{"path":"%d.txt"}`, i), strings.Repeat("word ", 600))
	}
}

func tokens(s *compactiontest.Session) (n int) {
	for _, m := range s.Messages() {
		n += llm.Estimate(m)
	}
	return n
}

// outline is a line for each message: its role, and how it begins.
func outline(s *compactiontest.Session) string {
	var b strings.Builder
	for _, m := range s.Messages() {
		text := m.Text()
		for _, c := range m.Calls() {
			text += c.Arguments
		}
		fmt.Fprintf(&b, "%s %.34s\n", m.Role, text)
	}
	return b.String()
}

func left(n int) string { return fmt.Sprintf("user [To save room, %d earlier", n) }

func TestC5_OldestExchangesLeaveDownToTheTarget(t *testing.T) {
	t.Parallel()
	s := work(t, 24)
	p := s.Compact(truncate.New(truncate.Config{}), s.Input(session.TriggerPressure))
	if p.Kind != compaction.KindSummary || s.Calls() != 0 {
		t.Errorf("kind %q, %d model calls", p.Kind, s.Calls())
	}
	low := 24_000 * 7 / 10
	if got := tokens(s); got > low || got < low-1100 {
		t.Errorf("%d tokens are left; the mark is at %d, an exchange has about 1030", got, low)
	}
	lines := strings.Split(outline(s), "\n")
	if lines[1] != "user It is noon." || lines[2] != "user "+task || !strings.HasPrefix(lines[3], left(16)) || lines[4] != `assistant {"path":"9.txt"}` {
		t.Errorf("the surface:\n%s", outline(s))
	}
	if err := llm.Validate(s.Messages()); err != nil {
		t.Error(err)
	}
	if p := s.Compact(truncate.New(truncate.Config{}), s.Input(session.TriggerPressure)); !p.IsZero() {
		t.Error("it fires again below the line")
	}
}

func TestC8_OneNoteCountsAllThatLeft(t *testing.T) {
	t.Parallel()
	s := work(t, 24)
	strategy := truncate.New(truncate.Config{})
	for n := 24; n <= 240; n += 24 {
		if p := s.Compact(strategy, s.Input(session.TriggerPressure)); p.IsZero() {
			t.Fatalf("after %d exchanges nothing leaves", n)
		}
		var count int
		if _, err := fmt.Sscanf(s.Messages()[3].Text(), "[To save room, %d earlier", &count); err != nil {
			t.Fatal(err)
		}
		if kept := len(s.Messages()) - 4; count != 2*n-kept {
			t.Errorf("after %d exchanges the note counts %d messages; %d of %d are left", n, count, kept, 2*n)
		}
		if got := strings.Count(outline(s), "user [To save"); got != 1 {
			t.Errorf("%d notes", got)
		}
		more(s, n+1, n+24)
	}
}

// What another strategy left, or a person wrote that looks like a note, is a message.
func TestC8_OnlyANoteOfOursCounts(t *testing.T) {
	t.Parallel()
	s := work(t, 1)
	s.User(session.SourceSteer, "[To save room, 900 earlier messages of this conversation are left out here.]")
	more(s, 2, 24)
	s.User(session.SourceSteer, "Go on.")
	nodes, _ := s.Outline(t.Context())
	s.Apply(compaction.Proposal{Revision: nodes.Revision, Kind: compaction.KindSummary, Edits: []compaction.Edit{{Replace: &compaction.Replace{
		Span:     compaction.Span{From: nodes.Nodes[6].Seq, To: nodes.Nodes[9].Seq},
		Messages: []*llm.Message{llm.Text(llm.RoleUser, "a summary"), llm.Text(llm.RoleUser, "of two messages")}}}}}, session.TriggerManual)
	s.Compact(truncate.New(truncate.Config{}), s.Input(session.TriggerManual))
	// two of the first exchange, the steering, the summary's two, 40 of the exchanges 4 to 23
	if got := s.Messages()[3].Text(); !strings.HasPrefix("user "+got, left(45)) {
		t.Errorf("the note: %q\n%s", got, outline(s))
	}
}

func TestC5_C10_WhatStays(t *testing.T) {
	t.Parallel()
	zero, half := 0.0, 0.5
	for name, c := range map[string]struct {
		config  truncate.Config
		trigger session.Trigger
		kept    int // exchanges
	}{
		"down to nothing, the newest 0.16 of 30000 stay": {truncate.Config{Target: &zero}, session.TriggerPressure, 5},
		"the newest half":        {truncate.Config{Target: &zero, RetainRatio: &half}, session.TriggerPressure, 15},
		"nothing but the newest": {truncate.Config{Target: &zero, RetainRatio: &zero}, session.TriggerPressure, 1},
		"on overflow":            {truncate.Config{}, session.TriggerOverflow, 1},
		"by hand":                {truncate.Config{}, session.TriggerManual, 1},
		"where the agent asks":   {truncate.Config{}, session.TriggerRequested, 1},
		"a stopping trigger":     {truncate.Config{}, session.TriggerStopping, 24},
		"an unknown trigger":     {truncate.Config{}, "weekly", 24},
	} {
		s := work(t, 24)
		s.Compact(truncate.New(c.config), s.Input(c.trigger))
		if got := strings.Count(outline(s), "assistant "); got != c.kept {
			t.Errorf("%s: %d exchanges stay, want %d", name, got, c.kept)
		}
	}
}

func TestC5_TheNewestPromptStaysAndBatchesAreWhole(t *testing.T) {
	t.Parallel()
	s := work(t, 4)
	s.Assistant("Done.")
	s.EndTurn(session.ReasonCompleted)
	s.Turn()
	s.User(session.SourceOwner, "And now the names.")
	s.Assistant("", llm.ToolCall{ID: "a", Name: "read", Arguments: "{}"}, llm.ToolCall{ID: "b", Name: "read", Arguments: "{}"})
	s.Result("b", "read", strings.Repeat("word ", 600), false)
	s.Result("a", "read", strings.Repeat("word ", 600), false)
	s.Assistant("", llm.ToolCall{ID: "c", Name: "read", Arguments: `{"newest":1}`}, llm.ToolCall{ID: "d", Name: "read", Arguments: `{"newest":2}`})
	s.Result("c", "read", "half of a batch", false)
	p := s.Compact(truncate.New(truncate.Config{}), s.Input(session.TriggerManual))
	want := "system You work.\nuser It is noon.\nuser " + task + "\n" + left(12) + " messages\nuser And now the names.\n" +
		"assistant {\"newest\":1}{\"newest\":2}\ntool half of a batch\n"
	if got := outline(s); got != want || len(p.Edits) != 2 || p.Edits[1].Drop == nil {
		t.Errorf("the surface:\n%s\nwant\n%s", got, want)
	}
	if p := s.Compact(truncate.New(truncate.Config{}), s.Input(session.TriggerManual)); !p.IsZero() {
		t.Errorf("there is nothing left, and yet: %+v", p)
	}
}

// An order that was given while the agent worked is a person's like any other.
func TestC5_TheNewestOrderStaysThoughItSteered(t *testing.T) {
	t.Parallel()
	for _, source := range []session.Source{session.SourceSteer, session.SourceOwner, session.SourcePlugin} {
		s := work(t, 6)
		s.User(source, "Leave out the third code.")
		more(s, 7, 12)
		s.Compact(truncate.New(truncate.Config{}), s.Input(session.TriggerOverflow))
		person := source != session.SourcePlugin
		if got := outline(s); strings.Contains(got, "user Leave out") != person || !strings.Contains(got, "user "+task) || strings.Count(got, "assistant ") != 1 {
			t.Errorf("%s:\n%s", source, got)
		}
	}
}

func TestC10_AnOverflowThatNothingCuresNamesTheResults(t *testing.T) {
	t.Parallel()
	s := work(t, 0)
	s.Exchange("big-one", "read", "{}", strings.Repeat("word ", 30_000))
	in := s.Input(session.TriggerOverflow)
	p, err := truncate.New(truncate.Config{}).Propose(t.Context(), in)
	if !errors.Is(err, compaction.ErrUnseen) || !p.IsZero() || !strings.Contains(err.Error(), "call big-one (event ") {
		t.Errorf("%+v, %v", p, err)
	}
	more(s, 1, 6)
	s.Exchange("big-two", "read", "{}", strings.Repeat("word ", 30_000))
	if p := s.Compact(truncate.New(truncate.Config{}), s.Input(session.TriggerOverflow)); p.IsZero() {
		t.Error("what is old does not leave")
	}
	in = s.Input(session.TriggerOverflow)
	in.Attempt = 2
	if p, err := truncate.New(truncate.Config{}).Propose(t.Context(), in); err != nil || !p.IsZero() {
		t.Errorf("after one that made room: %+v, %v", p, err)
	}
}

func TestC5_NothingToGainIsNoProposal(t *testing.T) {
	t.Parallel()
	strategy := truncate.New(truncate.Config{})
	short := compactiontest.New(t, "truncate", "You work.")
	short.Turn()
	short.User(session.SourceOwner, task)
	for range 2 {
		short.User(session.SourceSteer, "and")
		short.Assistant("Yes.")
	}
	for name, s := range map[string]*compactiontest.Session{"node 0 alone": compactiontest.New(t, "truncate", "You work."), "one exchange": work(t, 1),
		"a note would be longer": short} {
		if p := s.Compact(strategy, s.Input(session.TriggerManual)); !p.IsZero() {
			t.Errorf("%s: %+v", name, p)
		}
	}
	s := work(t, 24)
	in := s.Input(session.TriggerPressure)
	in.Budget = compaction.Budget{}
	if p := s.Compact(strategy, in); !p.IsZero() {
		t.Error("under pressure without a known window")
	}
	broken := errors.New("the log is away")
	in = s.Input(session.TriggerManual)
	in.Outline = func(yield func(session.Node, error) bool) { yield(session.Node{}, broken) }
	if p, err := strategy.Propose(t.Context(), in); !errors.Is(err, broken) || !p.IsZero() {
		t.Errorf("without an outline: %+v, %v", p, err)
	}
	s.Compact(strategy, s.Input(session.TriggerManual))
	more(s, 25, 30)
	s.Refuse = broken
	if p, err := strategy.Propose(t.Context(), s.Input(session.TriggerManual)); !errors.Is(err, broken) || !p.IsZero() {
		t.Errorf("where the earlier note cannot be read: %+v, %v", p, err)
	}
}
