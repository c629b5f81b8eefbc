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

// tight is a budget whose line is at 1,000 of 2,000 tokens.
var tight = compaction.Budget{Window: 2000, MaxOutputTokens: 100, ResetAt: 1000, Reserve: 1000, Warning: 1100, Reminder: 1300, Source: "profile"}

// big is a tool that answers with about n tokens.
func big(n int) func(context.Context, tool.Call) (tool.Result, error) {
	return func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: strings.Repeat("abc", n)}, nil
	}
}

func withStrategy(s *setup, st *strategy) {
	s.options.Strategy = agent.Strategy{Strategy: st, Name: "st", Plugin: "st", Auto: true}
	s.options.Budget = tight
}

func TestC4_N15_N16_TheLineIsCheckedBeforeEveryRequest(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	st := &strategy{opening: compaction.Opening{Sections: []compaction.Section{{ID: "boot", Order: 2450, Text: "boot one {{kept}}"}}}}
	st.propose = func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		p, err := wipe("go on")(ctx, in)
		p.Refresh, p.Sections, p.Boot = true, []compaction.Section{{ID: "boot", Order: 2450, Text: "boot two"}}, "boot two"
		return p, err
	}
	withStrategy(s, st)
	s.completed("task")
	shown := s.shown(1)
	if !strings.Contains(s.shown(0)[0], "boot one {{kept}}") || !strings.Contains(shown[0], "boot two") || strings.Contains(shown[0], "boot one") {
		t.Errorf("the request after the reset does not carry the new boot alone: %q", shown[0])
	}
	if !strings.HasPrefix(shown[1], "user: go on") || len(shown) != 3 { // node 0, checkpoint, runtime context
		t.Errorf("the surface after the reset is %q", shown)
	}
	ended := one[session.CompactionEnded](s, session.KindCompactionEnded)
	if ended.Trigger != session.TriggerPressure || ended.TokensBefore < 1000 || ended.TokensAfter >= 1000 || ended.ModelCalls != 0 || ended.Boot != "boot two" {
		t.Errorf("%+v", ended)
	}
}

// one returns the payload of the only event of a kind.
func one[T any](s *setup, k session.Kind) T {
	s.t.Helper()
	var out T
	n := 0
	for _, e := range s.events() {
		if e.Kind == k {
			n++
			out, _ = session.Decode[T](e)
		}
	}
	if n != 1 {
		s.t.Fatalf("%d events of kind %s", n, k)
	}
	return out
}

func TestC9_N17_ACompactionIsOneAppend(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	withStrategy(s, &strategy{propose: wipe("go on")})
	sizes := &batches{Log: s.log}
	s.options.Log = sizes
	s.completed("task")
	for _, b := range sizes.seen {
		joined := strings.Join(b, " ")
		if strings.Contains(joined, "compaction.started") != strings.Contains(joined, "compaction.ended") {
			t.Errorf("a compaction is spread over appends: %v", b)
		}
	}
	if s.count(session.KindCompactionEnded) != 1 {
		t.Error("no compaction")
	}
}

// batches notes the kinds of each append.
type batches struct {
	session.Log
	seen [][]string
}

func (b *batches) Append(ctx context.Context, batch session.Batch) (int64, error) {
	var kinds []string
	for _, e := range batch.Events {
		kinds = append(kinds, string(e.Kind))
	}
	b.seen = append(b.seen, kinds)
	return b.Log.Append(ctx, batch)
}

func TestL17_TwoAppendsAStep(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {}`), calls(`b echo {}`), calls(`c echo {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	b := &batches{Log: s.log}
	s.options.Log = b
	s.completed("go")
	// opened, prompt, first step; then {answer, started} and {result, step} for each call; the end
	if want := 3 + 2*3 + 1; len(b.seen) != want {
		t.Errorf("%d appends, want %d: %v", len(b.seen), want, b.seen)
	}
}

func TestN12_RequestedCompactionFiresAfterTheWholeBatch(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a reset {}`, `b echo {}`), says("done"))
	asks := func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "armed", Effects: []tool.Effect{tool.EffectRequestCompaction}, Note: "n"}, nil
	}
	s.tools = []tool.Provider{newToolbox("st").add(tool.Spec{Name: "reset"}, asks), newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	var in compaction.Input
	withStrategy(s, &strategy{propose: func(ctx context.Context, i compaction.Input) (compaction.Proposal, error) {
		in = i
		return wipe("fresh")(ctx, i)
	}})
	s.completed("go")
	if in.Trigger != session.TriggerRequested || in.Note != "n" {
		t.Errorf("asked with %s %q", in.Trigger, in.Note)
	}
	if got := s.shown(1)[1]; got != "user: fresh" {
		t.Errorf("after the reset the model sees %q", got)
	}
}

func TestN12_AFailedCallOfTheBatchDropsTheRequest(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a reset {}`, `b nothere {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("st").add(tool.Spec{Name: "reset"}, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "armed", Effects: []tool.Effect{tool.EffectRequestCompaction}}, nil
	})}
	withStrategy(s, &strategy{propose: wipe("fresh")})
	s.completed("go")
	if s.count(session.KindCompactionEnded) != 0 || s.count(session.KindCompactionDropped) != 1 {
		t.Errorf("the log is %s", s.kinds())
	}
	if !strings.Contains(s.last(1), "was dropped") {
		t.Errorf("the model is not told: %q", s.last(1))
	}
}

func TestN12_OnlyTheStrategysOwnPluginMayRequest(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a reset {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("other").add(tool.Spec{Name: "reset"}, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "armed", Effects: []tool.Effect{tool.EffectRequestCompaction}}, nil
	})}
	withStrategy(s, &strategy{propose: wipe("fresh")})
	s.completed("go")
	if s.count(session.KindCompactionEnded) != 0 {
		t.Error("a foreign plugin reset the session")
	}
}

func TestN14_MarksAreSteeredOnceAWindowWithTheRoom(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), calls(`b big {}`), calls(`c big {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(220))}
	st := &strategy{propose: wipe("go on"), opening: compaction.Opening{Marks: []compaction.Mark{
		{ID: "reminder", Remaining: 1500, Text: "reminder: {{room}} tokens left"}, {ID: "close-out", Remaining: 1150, Text: "close out: {{room}}"}}}}
	withStrategy(s, st)
	s.completed("task")
	var said []string
	for n := range s.model.requests {
		if m := s.last(n); strings.HasPrefix(m, "user: reminder") || strings.HasPrefix(m, "user: close out") {
			said = append(said, m)
		}
	}
	if len(said) != 2 || strings.Contains(said[0], "{{") || !strings.HasPrefix(said[1], "user: close out") {
		t.Errorf("steered %q", said)
	}
}

func TestN14_PastTheLineNoMarkIsShown(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	withStrategy(s, &strategy{propose: func(context.Context, compaction.Input) (compaction.Proposal, error) {
		return compaction.Proposal{}, nil
	},
		opening: compaction.Opening{Marks: []compaction.Mark{{ID: "reminder", Remaining: 1900, Text: "early"}, {ID: "close-out", Remaining: 1100, Text: "late"}}}})
	s.completed("task")
	if got := s.last(1); strings.Contains(got, "late") {
		t.Errorf("a stale mark was shown: %q", got)
	}
}

func TestN15_AStoppingResetContinuesTheTurn(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says(strings.Repeat("abc", 1200)), says("continued"))
	withStrategy(s, &strategy{propose: wipe("go on from the notes")})
	s.completed("task")
	ended := one[session.CompactionEnded](s, session.KindCompactionEnded)
	if ended.Trigger != session.TriggerStopping || s.count(session.KindTurnStarted) != 1 || len(s.model.requests) != 2 {
		t.Errorf("%s, %d turns, %d requests", ended.Trigger, s.count(session.KindTurnStarted), len(s.model.requests))
	}
}

func TestC10_OverflowCompactsAndRetriesOnce(t *testing.T) {
	t.Parallel()
	overflow := fails(&llm.Error{Code: llm.CodeOverflow, Message: "too long"})
	s := newSetup(t, overflow, says("done"))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.completed("go")
	if got := s.shown(1)[1]; got != "user: short" {
		t.Errorf("the retry sent %q", s.shown(1))
	}
	s = newSetup(t, overflow, overflow, says("never"))
	withStrategy(s, &strategy{propose: wipe("short")})
	reason, failure := s.run("go")
	if reason != session.ReasonError || failure.Code != string(llm.CodeOverflow) || len(s.model.requests) != 2 {
		t.Errorf("ended %s %+v after %d requests", reason, failure, len(s.model.requests))
	}
	s = newSetup(t, overflow, says("never"))
	withStrategy(s, &strategy{propose: func(context.Context, compaction.Input) (compaction.Proposal, error) {
		return compaction.Proposal{}, errPlugin
	}})
	if reason, _ := s.run("go"); reason != session.ReasonError || len(s.model.requests) != 1 {
		t.Errorf("the same body was sent again: %d requests, %s", len(s.model.requests), reason)
	}
}

func TestC4_ThreeFailuresOpenTheBreakerAndTheRequestIsSent(t *testing.T) {
	t.Parallel()
	var answers []answerFunc
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		answers = append(answers, calls(id+` big {}`))
	}
	s := newSetup(t, append(answers, says("done"))...)
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	asked := 0
	withStrategy(s, &strategy{propose: func(context.Context, compaction.Input) (compaction.Proposal, error) {
		asked++
		return compaction.Proposal{}, errors.New("no")
	}})
	s.completed("go")
	if asked != 3 || len(s.model.requests) != 6 {
		t.Errorf("asked %d times, %d requests", asked, len(s.model.requests))
	}
	w := one[session.Warning](s, session.KindWarning)
	if w.Code != "COMPACTION_BREAKER" || !strings.Contains(w.Message, "the line is at 1000") {
		t.Errorf("%+v", w)
	}
}

func TestC4_ResetsThatDoNotHelpOpenTheBreakerToo(t *testing.T) {
	t.Parallel()
	var answers []answerFunc
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		answers = append(answers, calls(id+` echo {}`))
	}
	s := newSetup(t, append(answers, says("done"))...)
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	withStrategy(s, &strategy{propose: wipe(strings.Repeat("abc", 1500))}) // never below the line
	s.completed(strings.Repeat("abc", 1600))
	if n := s.count(session.KindCompactionEnded); n > 3 {
		t.Errorf("%d useless resets", n)
	}
	if s.count(session.KindBreaker) != 1 {
		t.Errorf("the breaker did not open: %s", s.kinds())
	}
}

func TestN17_ABadProposalLeavesTheOldSurface(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	withStrategy(s, &strategy{propose: func(_ context.Context, in compaction.Input) (compaction.Proposal, error) {
		var last session.Node
		for n := range in.Outline {
			last = n
		}
		return compaction.Proposal{Revision: in.Revision, Kind: compaction.KindTrim, Edits: []compaction.Edit{{Drop: &compaction.Span{From: last.Seq, To: last.Seq}}}}, nil
	}})
	s.completed("task")
	if s.count(session.KindCompactionFailed) == 0 || s.count(session.KindCompactionEnded) != 0 {
		t.Errorf("the log is %s", s.kinds())
	}
	if !strings.HasPrefix(s.last(1), "tool: abc") {
		t.Errorf("the old surface was not sent: %q", s.last(1)[:40])
	}
}

func TestN17_ASurfaceThatMovedRefusesTheProposal(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		p, err := wipe("x")(ctx, in)
		p.Revision--
		return p, err
	}})
	s.completed("task")
	if s.count(session.KindCompactionEnded) != 0 {
		t.Error("a proposal for another revision was applied")
	}
}

func TestN21_OffMeansNothingAutomatic(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	withStrategy(s, &strategy{propose: wipe("x"), opening: compaction.Opening{Marks: []compaction.Mark{{ID: "m", Remaining: 2000, Text: "mark"}}}})
	s.options.Strategy.Auto = false
	s.completed("task")
	if s.count(session.KindCompactionEnded) != 0 || s.count(session.KindMarkShown) != 0 {
		t.Errorf("the log is %s", s.kinds())
	}
}

func TestC11_N20_ManualCompaction(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"))
	withStrategy(s, &strategy{propose: wipe("short")})
	s.open()
	if did, err := s.agent.Compact(t.Context(), ""); err != nil || did {
		t.Fatalf("an empty session was compacted: %v, %v", did, err)
	}
	s.completed("go")
	if did, err := s.agent.Compact(t.Context(), "keep the numbers"); err != nil || !did {
		t.Fatalf("%v, %v", did, err)
	}
	s.check()
}

func TestC6_GenerateSendsTheSessionsOwnPrefix(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("hello"), says("a summary"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.completed("go")
	got, err := s.agent.Access("st").Generate(t.Context(), session.Generate{Append: []*llm.Message{llm.Text(llm.RoleUser, "condense")}, Purpose: llm.PurposeCompaction})
	if err != nil || got.Message.Text() != "a summary" {
		t.Fatalf("%+v, %v", got, err)
	}
	first, second := s.model.requests[0], s.model.requests[1]
	for i := range first.Messages {
		if first.Messages[i] != second.Messages[i] {
			t.Errorf("message %d of the prefix is another one", i)
		}
	}
	if len(second.Tools) != 1 || second.Purpose != llm.PurposeCompaction {
		t.Errorf("%+v", second)
	}
	call := one[session.ModelCall](s, session.KindModelCall)
	if call.Plugin != "st" || call.Purpose != llm.PurposeCompaction {
		t.Errorf("%+v", call)
	}
}

func TestSP1_SP2_SP3_ThePromptIsStableAndHasThePersona(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo", Guidance: "Use echo {{literally}}."}, echo)}
	s.options.Persona = agent.Persona{Prefix: "You serve a lighthouse with {{model}}.", Suffix: "Bye."}
	s.completed("go")
	system := s.shown(0)[0]
	for _, want := range []string{"You serve a lighthouse with m.", "Use echo {{literally}}.", "Bye."} {
		if !strings.Contains(system, want) {
			t.Errorf("%q is not in %q", want, system)
		}
	}
	if s.model.requests[0].Messages[0] != s.model.requests[1].Messages[0] {
		t.Error("node 0 changed between steps")
	}
}

func TestSP1_AnUnknownVariableEndsTheTurn(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("never"))
	s.options.Persona = agent.Persona{Prefix: "{{nobody}}"}
	reason, failure := s.run("go")
	if reason != session.ReasonError || !strings.Contains(failure.Message, "{{nobody}}") {
		t.Errorf("ended %s %+v", reason, failure)
	}
}

func TestC3_AnUnknownWindowIsSaidLoudlyAndNothingIsAutomatic(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(5000))}
	withStrategy(s, &strategy{propose: wipe("x")})
	s.options.Budget = compaction.Budget{Source: "unknown"}
	s.completed("task")
	if w := one[session.Warning](s, session.KindWarning); w.Code != "WINDOW_UNKNOWN" || s.count(session.KindCompactionEnded) != 0 {
		t.Errorf("%+v; the log is %s", w, s.kinds())
	}
}
