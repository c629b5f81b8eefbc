package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// million is a budget of a large window with its line in the middle.
var million = compaction.Budget{Window: 1_000_000, MaxOutputTokens: 100, ResetAt: 500_000, Reserve: 500_000, Warning: 516_384, Reminder: 524_576, Source: "profile"}

// uses answers with a call and the endpoint's count of the prompt.
func uses(id string, prompt int) answerFunc {
	return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		m := &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: id, Name: "echo", Arguments: "{}"}}}}
		yield(llm.Chunk{Answer: &llm.Answer{Message: m, Stop: llm.StopToolCalls, Usage: llm.Usage{Input: prompt, Output: 10}}}, nil)
	}
}

func TestC4_C009_ALargeWindowIsUsedUpToItsLine(t *testing.T) {
	t.Parallel()
	s := newSetup(t, uses("a", 84_000), uses("b", 499_000), uses("c", 510_000), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	asked := 0
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		asked++
		return wipe("short")(ctx, in)
	}})
	s.options.Budget = million
	s.completed("go")
	if before := one[session.CompactionEnded](s, session.KindCompactionEnded).TokensBefore; asked != 1 || before < 510_000 || before > 511_000 {
		t.Errorf("asked %d times, at %d tokens", asked, before)
	}
	if got := s.shown(3)[1]; got != "user: short" {
		t.Errorf("the request after it shows %q", got)
	}
}

func TestC4_C009_AnUnknownWindowCompactsNothingAndSaysSo(t *testing.T) {
	t.Parallel()
	s := newSetup(t, uses("a", 84_000), uses("b", 510_000), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Budget = compaction.Budget{Source: "unknown"}
	s.completed("go")
	if w, n := s.warned("WINDOW_UNKNOWN"); n != 1 || !strings.Contains(w.Message, "unknown, so nothing is compacted") || s.count(session.KindCompactionEnded) != 0 {
		t.Errorf("%d warnings %+v: %s", n, w, s.kinds())
	}
}

func TestC4_APromptThatCrossesTheLineByItselfIsCompactedFor(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"), says("after a reset at the end of the turn"))
	st := &inputs{strategy: strategy{propose: wipe("short")}}
	s.options.Strategy, s.options.Budget = agent.Strategy{Strategy: st, Name: "st", Plugin: "st", Auto: true}, wide
	s.completed("a small task")
	s.completed(strings.Repeat("abc", 17_000))
	if len(st.asked) == 0 || st.asked[0].Trigger != session.TriggerPressure || st.asked[0].Measured < 17_000 || !slices.Contains(s.shown(1), "user: short") {
		t.Errorf("asked %d times before %q", len(st.asked), s.shown(1)[1])
	}
}

func TestC4_TheTriggerIsAShareACapOrTheModelsOwn(t *testing.T) {
	t.Parallel()
	ratio, tokens := 0.5, 6000
	for name, c := range map[string]struct {
		keys compaction.BudgetConfig
		line int
	}{"a share": {compaction.BudgetConfig{ThresholdRatio: &ratio}, 10_000}, "a cap": {compaction.BudgetConfig{TriggerTokens: &tokens}, 6000}} {
		for _, past := range []bool{false, true} {
			used := c.line - 200
			if past {
				used = c.line
			}
			s := newSetup(t, uses("a", used-10), says("done"))
			s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
			withStrategy(s, &strategy{propose: wipe("short")})
			var err error
			if s.options.Budget, err = compaction.Resolve(c.keys, 20_000, 100, "profile"); err != nil {
				t.Fatal(err)
			}
			s.completed("go")
			if did := s.count(session.KindCompactionEnded) > 0; did != past {
				t.Errorf("%s with %d tokens: compacted %v", name, used, did)
			}
		}
	}
}

func TestK1_C001_OverheadThatNoCompactionShrinksOpensTheBreakerAtOnce(t *testing.T) {
	t.Parallel()
	heavy := true
	var answers []answerFunc
	for i := range 12 {
		answers = append(answers, func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
			if heavy {
				counted(fmt.Sprint("answer ", i), 29_000)(ctx, r, yield)
				return
			}
			counted(fmt.Sprint("answer ", i), 900)(ctx, r, yield)
		})
	}
	s := newSetup(t, answers...)
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Budget = compaction.Budget{Window: 32_768, MaxOutputTokens: 100, ResetAt: 27_852, Reserve: 4916, Source: "profile"}
	for i := range 5 {
		s.completed(fmt.Sprint("turn ", i))
	}
	w, n := s.warned("COMPACTION_BREAKER")
	if s.count(session.KindCompactionEnded) != 1 || s.count(session.KindCompactionFailed) != 0 || n != 1 || s.count(session.KindTurnEnded) != 5 ||
		!strings.Contains(w.Message, "of 32768 tokens in use (usage), the line is at 27852") || !strings.Contains(w.Message, "are fixed") {
		t.Errorf("%d warnings %+v: %s", n, w, s.kinds())
	}
	heavy = false
	s.completed("lighter")
	s.completed("and on")
	if s.state().Compaction.Breaker {
		t.Error("the breaker is still open")
	}
}

func TestK1_C002_AStrategyWithoutGainIsNotAskedTwiceOfTheSame(t *testing.T) {
	t.Parallel()
	for name, propose := range map[string]func(context.Context, compaction.Input) (compaction.Proposal, error){
		"nothing": nothing,
		"the same again": func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
			p, err := wipe(strings.Repeat("abc", 3000))(ctx, in)
			p.Kind = compaction.KindSummary
			return p, err
		},
	} {
		var answers []answerFunc
		for i := range 19 {
			answers = append(answers, calls(fmt.Sprintf("c%d big {}", i)))
		}
		s := newSetup(t, append(answers, says("done"))...)
		s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(300))}
		var heads []int64
		withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
			heads = append(heads, in.Revision)
			return propose(ctx, in)
		}})
		s.completed(strings.Repeat("abc", 1000))
		seen := slices.Compact(slices.Clone(heads))
		if _, n := s.warned("COMPACTION_BREAKER"); n != 1 || len(heads) > 3 || len(seen) != len(heads) || len(s.model.requests) != 20 {
			t.Errorf("%s: asked at %v, %d warnings, %d requests", name, heads, n, len(s.model.requests))
		}
	}
}

func TestK1_C003_AGiantResultDoesNotLoop(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(200_000))}
	withStrategy(s, &strategy{propose: nothing})
	s.options.Budget = compaction.Budget{Window: 64_000, MaxOutputTokens: 100, ResetAt: 50_000, Reserve: 14_000, Source: "profile"}
	s.completed("task")
	events := s.events()
	if s.count(session.KindToolSpilled) != 1 || s.count(session.KindCompactionEnded)+s.count(session.KindCompactionFailed) > 2 || events[len(events)-1].Kind != session.KindTurnEnded || len(s.model.requests) != 2 {
		t.Errorf("%d requests: %s", len(s.model.requests), s.kinds())
	}
}

func TestK1_C004_AWindowTooSmallForWhatIsFixedIsRefusedBeforeAnyCall(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("never"))
	asked := 0
	withStrategy(s, &strategy{opening: compaction.Opening{Sections: []compaction.Section{{ID: "boot", Text: strings.Repeat("abc", 3500)}}},
		propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
			asked++
			return wipe("short")(ctx, in)
		}})
	s.options.Budget = compaction.Budget{Window: 4096, MaxOutputTokens: 1024, ResetAt: 2600, Reserve: 1496, Source: "profile"}
	s.options.Info.MaxOutputTokens = 1024
	reason, failure := s.run("go")
	if reason != session.ReasonError || failure.Code != string(llm.CodeOverflow) || len(s.model.requests) != 0 || asked != 0 {
		t.Fatalf("ended %s %+v after %d requests, asked %d times", reason, failure, len(s.model.requests), asked)
	}
	if !strings.Contains(failure.Message, "1024 for an answer are more than the context window of 4096") || !strings.Contains(failure.Hint, "model.context_window") {
		t.Errorf("%+v", failure)
	}
}

func TestK1_C008_ASmallerModelGetsOneShrink(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.options.Budget = compaction.Budget{Window: 400_000, MaxOutputTokens: 100, ResetAt: 320_000, Reserve: 80_000, Source: "profile"}
	s.completed(strings.Repeat("abc", 60_000))
	s.agent, s.options.Info.Name = nil, "small"
	s.options.Budget = compaction.Budget{Window: 32_000, MaxOutputTokens: 100, ResetAt: 25_000, Reserve: 7000, Source: "profile"}
	s.completed("go on")
	if s.count(session.KindCompactionEnded) != 1 || s.count(session.KindCompactionFailed) != 0 || len(s.model.requests) != 2 || s.agent.Meter().Measured > 25_000 {
		t.Errorf("%d requests: %s", len(s.model.requests), s.kinds())
	}
}

// An applied compaction says what left, what was cut, what stayed and what it cost; one
// that failed what it cost.
func TestC19_ACompactionHasItsFigures(t *testing.T) {
	t.Parallel()
	summary := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		yield(llm.Chunk{Answer: &llm.Answer{Message: llm.Text(llm.RoleAssistant, "in short"), Stop: llm.StopEnd, Usage: llm.Usage{Input: 1000, Output: 50}}}, nil)
	}
	for name, c := range map[string]struct {
		cost  func(llm.Usage) float64
		calls int
		want  string
	}{
		"no call":   {nil, 0, "0"},
		"priced":    {func(u llm.Usage) float64 { return float64(u.Total()) }, 1, "1050"},
		"unpriced":  {nil, 1, "nil"},
		"two calls": {func(u llm.Usage) float64 { return float64(u.Total()) }, 2, "2100"},
	} {
		for _, fail := range []bool{false, true} {
			summaries := many[answerFunc](c.calls, summary)
			s := newSetup(t, slices.Concat([]answerFunc{says("first"), calls(`a big {}`)}, summaries, []answerFunc{says("done")}, summaries)...)
			s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(400))}
			withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
				for range c.calls {
					if _, err := in.Access.Generate(ctx, session.Generate{Append: []*llm.Message{llm.Text(llm.RoleUser, "sum up")}, Purpose: llm.PurposeCompaction}); err != nil {
						t.Error(err)
					}
				}
				var all []session.Node
				for n := range in.Outline {
					all = append(all, n)
				}
				p := compaction.Proposal{Revision: in.Revision, Kind: compaction.KindSummary, Edits: []compaction.Edit{
					spanEdit(all[2], all[3]), {Trim: &compaction.Trim{Node: all[6].Seq, Head: 10, Tail: 10}}}}
				if fail {
					p.Revision--
				}
				return p, nil
			}})
			s.options.Budget = compaction.Budget{Window: 2000, ResetAt: 800, Reserve: 1200}
			s.options.Limits.Cost = c.cost
			s.completed("earlier")
			s.completed(strings.Repeat("abc", 400)) // node 0, context, prompt, answer, prompt, call, result
			usd, calls, millis := (*float64)(nil), 0, int64(0)
			if fail {
				var f session.CompactionFailed
				for _, e := range s.events() {
					if e.Kind == session.KindCompactionFailed && f.Error == "" {
						f, _ = session.Decode[session.CompactionFailed](e)
					}
				}
				usd, calls, millis = f.CostUSD, f.ModelCalls, f.Millis
				if f.Tokens < 800 {
					t.Errorf("%s: %+v", name, f)
				}
			} else {
				var e session.CompactionEnded
				for _, event := range s.events() {
					if event.Kind == session.KindCompactionEnded && e.Ordinal == 0 {
						e, _ = session.Decode[session.CompactionEnded](event)
					}
				}
				usd, calls, millis = e.CostUSD, e.ModelCalls, e.Millis
				if e.Dropped != 2 || e.Trimmed != 1 || e.Kept != 3 || e.TokensAfter >= e.TokensBefore {
					t.Errorf("%s: %+v", name, e)
				}
			}
			got := "nil"
			if usd != nil {
				got = fmt.Sprint(*usd)
			}
			if got != c.want || calls != c.calls || millis < 0 {
				t.Errorf("%s, failed %v: %s USD, %d calls", name, fail, got, calls)
			}
		}
	}
}

// A proposal that grows is booked with the tokens that it had and would have had, and
// counts for the breaker.
func TestK3_C019_AGrowingProposalIsRefusedWithItsTokens(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		p, err := wipe(strings.Repeat("abc", 1500))(ctx, in)
		p.Kind = compaction.KindSummary
		return p, err
	}})
	s.completed("task")
	n := 0
	for _, e := range s.events() {
		if e.Kind != session.KindCompactionFailed {
			continue
		}
		n++
		if f, err := session.Decode[session.CompactionFailed](e); err != nil || !strings.Contains(f.Error, "tokens would become") || f.Tokens < 1200 {
			t.Errorf("%+v, %v", f, err)
		}
	}
	if n == 0 || s.state().Compaction.Failures != n || s.count(session.KindCompactionEnded) != 0 {
		t.Errorf("%d failures, %+v", n, s.state().Compaction)
	}
}
