package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// counted answers with text and the endpoint's count of the prompt.
func counted(text string, prompt int) answerFunc {
	return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		yield(llm.Chunk{Answer: &llm.Answer{Message: llm.Text(llm.RoleAssistant, text), Stop: llm.StopEnd, Usage: llm.Usage{Input: prompt, Output: 10}}}, nil)
	}
}

// tooLong refuses with the numbers of an overflow.
func tooLong(window, requested int) answerFunc {
	return fails(&llm.Error{Code: llm.CodeOverflow, Message: "too long for me", Window: window, Requested: requested})
}

// wide is a budget whose line is at 16,000 of 20,000 tokens.
var wide = compaction.Budget{Window: 20000, MaxOutputTokens: 100, ResetAt: 16000, Reserve: 4000, Warning: 4100, Reminder: 4200, Source: "profile"}

// warned is the newest warning with that code.
func (s *setup) warned(code string) (w session.Warning, n int) {
	s.t.Helper()
	for _, e := range s.events() {
		if p, err := session.Decode[session.Warning](e); err == nil && e.Kind == session.KindWarning && p.Code == code {
			w, n = p, n+1
		}
	}
	return w, n
}

// inputs is a strategy that keeps what it was asked, and does as another does.
type inputs struct {
	strategy
	opened []compaction.Budget
	asked  []compaction.Input
}

func (s *inputs) Open(_ context.Context, at compaction.Session) (compaction.Opening, error) {
	s.opened = append(s.opened, at.Budget)
	return s.opening, nil
}

func (s *inputs) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	s.asked = append(s.asked, in)
	return s.propose(ctx, in)
}

// cutFirst trims the newest result where one is long, and else does as next says.
func cutFirst(next func(context.Context, compaction.Input) (compaction.Proposal, error)) func(context.Context, compaction.Input) (compaction.Proposal, error) {
	return func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		for n := range in.Outline {
			if n.Role == llm.RoleTool && n.Chars > 1000 {
				return compaction.Proposal{Revision: in.Revision, Kind: compaction.KindTrim, Edits: []compaction.Edit{{Trim: &compaction.Trim{Node: n.Seq, Head: 100, Tail: 100}}}}, nil
			}
		}
		return next(ctx, in)
	}
}

func nothing(context.Context, compaction.Input) (compaction.Proposal, error) {
	return compaction.Proposal{}, nil
}

func TestC10_TheWindowThatARefusalNamesHoldsFromThenOn(t *testing.T) {
	t.Parallel()
	s := newSetup(t, tooLong(8192, 9000), says("done"), says("again"))
	st := &inputs{strategy: strategy{propose: wipe("short")}}
	s.options.Strategy = agent.Strategy{Strategy: st, Name: "st", Plugin: "st", Auto: true}
	s.options.Budget, s.options.Info.ContextWindow, s.options.Opened.Profile = wide, 20000, "mine"
	ratio := 0.5
	s.options.Resolve = func(window int) (compaction.Budget, error) {
		return compaction.Resolve(compaction.BudgetConfig{ThresholdRatio: &ratio}, window, 100, "profile")
	}
	s.completed("go")
	learned := one[session.WindowLearned](s, session.KindWindowLearned)
	if learned != (session.WindowLearned{Model: "m", Window: 8192, Before: 20000, Why: "too long for me"}) {
		t.Errorf("learned %+v", learned)
	}
	if len(st.asked) != 1 || st.asked[0].Budget.ResetAt != 4096 || st.asked[0].Measured != 9000 || len(st.opened) != 2 || st.opened[1].Window != 8192 {
		t.Errorf("opened with %+v, asked %+v", st.opened, st.asked)
	}
	if w, n := s.warned("WINDOW_LEARNED"); n != 1 || !strings.Contains(w.Message, "too long for me") || !strings.Contains(w.Message, "20000 were taken for it") ||
		!strings.Contains(w.Hint, "context_window = 8192 under [model] in profile mine") {
		t.Errorf("%d warnings: %+v", n, w)
	}
	if before := one[session.CompactionEnded](s, session.KindCompactionEnded).TokensBefore; before != 9000 {
		t.Errorf("%d tokens before", before)
	}
	for _, c := range []struct {
		name   string
		change func()
		window int
	}{
		{"resumed", func() {}, 8192},
		{"another window", func() { s.options.Info.ContextWindow, s.options.Budget.Window = 30000, 30000 }, 30000},
		{"the same again", func() { s.options.Info.ContextWindow, s.options.Budget.Window = 20000, 20000 }, 8192},
		{"another model", func() { s.options.Info.Name = "other" }, 20000},
	} {
		s.agent = nil
		c.change()
		s.open()
		if got := s.agent.Meter().Window; got != c.window {
			t.Errorf("%s: the window is %d, want %d", c.name, got, c.window)
		}
	}
	s.completed("go on") // with the other model, which is what its request's header says
	s.agent, s.options.Info.Name = nil, "m"
	s.open()
	if got := s.agent.Meter().Window; got != 20000 {
		t.Errorf("after another model: the window is %d", got)
	}
}

func TestC10_AWindowThatTheKeysDoNotFitGetsTheAutomaticOnes(t *testing.T) {
	t.Parallel()
	s := newSetup(t, tooLong(4096, 0), says("done"))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Budget = wide
	headroom := 10000
	s.options.Resolve = func(window int) (compaction.Budget, error) {
		return compaction.Resolve(compaction.BudgetConfig{Headroom: &headroom}, window, 100, "profile")
	}
	s.completed("go")
	if w, n := s.warned("WINDOW_LEARNED"); n != 1 || !strings.Contains(w.Message, "BUDGET_CONFIG") || !strings.Contains(w.Message, "compaction.headroom_tokens (10000)") {
		t.Errorf("%d warnings: %+v", n, w)
	}
	if m := s.agent.Meter(); m.Window != 4096 || m.ResetAt != 3276 {
		t.Errorf("%+v", m)
	}
}

func TestC10_NoWindowIsLearnedThatIsLargerOrAbsurd(t *testing.T) {
	t.Parallel()
	for _, window := range []int{0, 12, 20000, 1 << 30} {
		s := newSetup(t, tooLong(window, 0), says("done"))
		withStrategy(s, &strategy{propose: wipe("short")})
		s.options.Budget = wide
		s.completed("go")
		if s.count(session.KindWindowLearned) != 0 || s.agent.Meter().Window != 20000 {
			t.Errorf("%d: the window is %d", window, s.agent.Meter().Window)
		}
	}
	s := newSetup(t, tooLong(4096, 0), says("done")) // where none was known one is better than none
	s.options.Strategy = agent.Strategy{Strategy: &strategy{propose: wipe("short")}, Name: "st", Plugin: "st", Auto: true}
	s.completed("go")
	if got := s.agent.Meter().ResetAt; got != 3276 {
		t.Errorf("the line is at %d", got)
	}
}

func TestC10_AStrategyThatOnlyCutsIsAskedOnceMore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		rest   func(context.Context, compaction.Input) (compaction.Proposal, error)
		ended  int
		failed int
	}{
		{"and compacts", wipe("short"), 2, 0},
		{"and has nothing more", nothing, 1, 0},
		{"and fails", func(context.Context, compaction.Input) (compaction.Proposal, error) {
			return compaction.Proposal{}, errors.New("no")
		}, 1, 1},
	} {
		s := newSetup(t, calls(`a big {}`), tooLong(0, 30000), says("done"))
		s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(5000))}
		st := &inputs{strategy: strategy{propose: cutFirst(c.rest)}}
		s.options.Strategy, s.options.Budget = agent.Strategy{Strategy: st, Name: "st", Plugin: "st", Auto: true}, wide
		s.completed("go")
		if s.count(session.KindCompactionEnded) != c.ended || s.count(session.KindCompactionFailed) != c.failed || len(s.model.requests) != 3 || len(st.asked) != 2 {
			t.Errorf("%s: asked %d times, %d requests: %s", c.name, len(st.asked), len(s.model.requests), s.kinds())
			continue
		}
		if st.asked[0].Measured != 30000 || st.asked[1].Attempt != 2 || st.asked[1].Measured >= 30000 || st.asked[1].Trigger != session.TriggerOverflow {
			t.Errorf("%s: %d tokens, then attempt %d with %d", c.name, st.asked[0].Measured, st.asked[1].Attempt, st.asked[1].Measured)
		}
	}
}

// A reset to what stands there already makes no smaller body.
func TestC10_TheSameBodyIsNeverSentTwice(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), tooLong(0, 0), says("never"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	withStrategy(s, &strategy{propose: wipe("short")})
	reason, failure := s.run("go")
	if reason != session.ReasonError || failure.Code != string(llm.CodeOverflow) || len(s.model.requests) != 2 {
		t.Fatalf("ended %s %+v after %d requests", reason, failure, len(s.model.requests))
	}
	if got := s.reasons(); len(got) != 2 || got[0] != session.TriggerPressure || got[1] != session.TriggerOverflow {
		t.Errorf("compacted by %v", got)
	}
}

func TestC10_S1_AnAnswerToMoreThanTheWindowIsSetAsideOnce(t *testing.T) {
	t.Parallel()
	s := newSetup(t, counted("of a part", 25000), counted("of all", 300))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Budget = wide
	s.completed("go")
	a := one[session.Attempt](s, session.KindAttempt)
	if a.Code != string(llm.CodeOverflow) || a.Partial.Text() != "of a part" || a.Usage.Input != 25000 || !strings.Contains(a.Message, "25000 tokens of input and its window holds 20000") {
		t.Errorf("%+v", a)
	}
	if got := s.shown(1)[1]; got != "user: short" || len(s.model.requests) != 2 || s.state().Totals.Usage.Input != 25300 {
		t.Errorf("%d requests, the second %q, used %+v", len(s.model.requests), s.shown(1), s.state().Totals.Usage)
	}
}

func TestC10_S1_WhereNothingHelpsTheAnswerCounts(t *testing.T) {
	t.Parallel()
	for name, st := range map[string]agent.Strategy{"none": {}, "one that fails": {Strategy: &strategy{propose: nothing}, Name: "st", Plugin: "st", Auto: true}} {
		s := newSetup(t, counted("of a part", 25000))
		s.options.Strategy, s.options.Budget = st, wide
		s.completed("go")
		if w, n := s.warned("SILENT_OVERFLOW"); n != 1 || !strings.Contains(w.Message, "25000") || s.count(session.KindMessageAssistant) != 1 || s.count(session.KindAttempt) != 0 {
			t.Errorf("%s: %d warnings %+v: %s", name, n, w, s.kinds())
		}
	}
}

func TestC10_S4_CountsOfAnEndpointThatCutsThePromptAreNotTrusted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("abc", 4000)
	s := newSetup(t, counted("one", 4096), counted("two", 4096), counted("three", 4090), counted("four", 4096))
	s.options.Budget = compaction.Budget{Window: 100000, ResetAt: 80000, Reserve: 20000}
	s.completed(long)
	if m := s.agent.Meter(); m.Source != "usage" {
		t.Fatalf("%+v", m)
	}
	for _, prompt := range []string{long, long, long} {
		s.completed(prompt)
	}
	w, n := s.warned("SERVER_CUTS_PROMPT")
	if m := s.agent.Meter(); n != 1 || !strings.Contains(w.Message, "4096 tokens") || m.Source != "estimate" || m.Measured < 16000 {
		t.Errorf("%d warnings %+v, %+v", n, w, m)
	}
	s.agent = nil
	s.open() // remembered
	if m := s.agent.Meter(); m.Source != "estimate" {
		t.Errorf("resumed: %+v", m)
	}
}

func TestC10_S4_HonestCountsAreTrusted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("abc", 4000)
	s := newSetup(t, counted("one", 4200), counted("two", 8300), counted("three", 8302), counted("four", 3000), counted("five", 20500))
	s.options.Budget = compaction.Budget{Window: 100000, ResetAt: 80000, Reserve: 20000}
	for _, prompt := range []string{long, long, "short", long + long, long} { // the fourth leaves out what was cached
		s.completed(prompt)
	}
	if _, n := s.warned("SERVER_CUTS_PROMPT"); n != 0 || s.agent.Meter().Source != "usage" {
		t.Errorf("%d warnings, %+v", n, s.agent.Meter())
	}
}

func TestC077_O1_TheOutputCapFitsTheWindow(t *testing.T) {
	t.Parallel()
	var answers []answerFunc
	strict := func(next answerFunc) answerFunc {
		return func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
			sent := llm.EstimateTools(r.Tools)
			for _, m := range r.Messages {
				sent += llm.Estimate(m)
			}
			if sent+r.MaxOutputTokens > 65536 || r.MaxOutputTokens < 1024 {
				t.Errorf("%d tokens and a cap of %d", sent, r.MaxOutputTokens)
			}
			next(ctx, r, yield)
		}
	}
	for _, id := range strings.Split("abcdefghij", "") {
		answers = append(answers, strict(calls(id+` echo {}`)))
	}
	s := newSetup(t, append(answers, strict(says("done")))...)
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Budget = compaction.Budget{Window: 65536, MaxOutputTokens: 65536, ResetAt: 52000, Reserve: 13536, Source: "profile"}
	s.options.Info.MaxOutputTokens = 65536
	s.completed(strings.Repeat("abc", 3000))
	if len(s.model.requests) != 11 || s.count(session.KindCompactionEnded) != 0 || s.count(session.KindAttempt) != 0 {
		t.Errorf("%d requests: %s", len(s.model.requests), s.kinds())
	}
	s = newSetup(t, says("done")) // no room at all: the least
	s.options.Budget, s.options.Info.MaxOutputTokens = tight, 5000
	s.completed(strings.Repeat("abc", 1900))
	if got := s.model.requests[0].MaxOutputTokens; got != 1024 {
		t.Errorf("asked for %d", got)
	}
}

// An endpoint with a smaller window than was thought refuses what only its output cap
// makes too long: a smaller cap is all that it takes.
func TestC077_C10_ASmallerCapComesBeforeACompaction(t *testing.T) {
	t.Parallel()
	s := newSetup(t, tooLong(8192, 100), says("done"))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Budget, s.options.Info.MaxOutputTokens = wide, 10000
	s.completed("go")
	if s.count(session.KindCompactionEnded) != 0 || len(s.model.requests) != 2 || s.model.requests[1].MaxOutputTokens > 8192-256 || s.model.requests[1].MaxOutputTokens < 7000 {
		t.Errorf("%d requests, then a cap of %d: %s", len(s.model.requests), s.model.requests[1].MaxOutputTokens, s.kinds())
	}
}
