package agent_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// wildSession is a session in which nearly every kind of event occurs: waves,
// refused and failed calls, retries, an overflow, a breaker, a partial answer, mail,
// records, generated text, and turns that end in each way.
func wildSession(t *testing.T) *setup {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var s *setup
	partial := func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		yield(llm.Chunk{Kind: llm.BlockText, Delta: "The answer is"}, nil)
		cancel()
		<-ctx.Done()
		yield(llm.Chunk{}, &llm.Error{Code: llm.CodeAborted, Message: "cancelled"})
	}
	busy := func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		s.post(session.CommandSteer, "mind the gap")
		s.post(session.CommandCompact, "now")
		s.post(session.CommandCancel, "")
		<-ctx.Done()
		yield(llm.Chunk{}, &llm.Error{Code: llm.CodeAborted, Message: "cancelled"})
	}
	truncated := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		yield(llm.Chunk{Answer: &llm.Answer{Message: llm.Text(llm.RoleAssistant, "cut"), Stop: llm.StopMaxTokens}}, nil)
	}
	s = newSetup(t,
		calls(`a read {}`, `b read {}`, `c write {}`, `d nothere {}`, `e fail {}`, `f read {"x":`), // two waves, and what never runs
		fails(&llm.Error{Code: llm.CodeServer, Message: "busy"}),
		fails(&llm.Error{Code: llm.CodeOverflow, Message: "too long"}),
		calls(`g reset {}`, `h read {}`), calls(`i big {}`), calls(`j big {}`), calls(`k big {}`), says("generated"), says("done"),
		partial, busy, truncated, says("blocked"), calls(`l read {}`), says("at last"))
	s.tools = []tool.Provider{
		newToolbox("st").add(tool.Spec{Name: "reset"}, func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: "armed", Effects: []tool.Effect{tool.EffectRequestCompaction}, Note: "n"}, nil
		}),
		newToolbox("p").add(tool.Spec{Name: "read", Parallel: true}, echo).add(tool.Spec{Name: "write"}, echo).add(tool.Spec{Name: "big"}, big(1200)).
			add(tool.Spec{Name: "fail"}, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errPlugin }),
	}
	broken := false // the strategy fails from the second reset to the third failure
	failures := 0
	withStrategy(s, &strategy{
		opening: compaction.Opening{Marks: []compaction.Mark{{ID: "early", Remaining: 1990, Text: "early: {{room}}"}}, Records: []compaction.Record{{Kind: "window", Data: []byte(`1`)}}},
		propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
			if broken && in.Trigger == session.TriggerPressure {
				if failures++; failures == 3 {
					broken = false
					if _, err := in.Access.Generate(ctx, session.Generate{Append: []*llm.Message{llm.Text(llm.RoleUser, "condense")}, Purpose: llm.PurposeCompaction}); err != nil {
						t.Error(err)
					}
				}
				return compaction.Proposal{}, errors.New("no")
			}
			broken = broken || in.Trigger == session.TriggerRequested
			return wipe("fresh")(ctx, in)
		}})
	s.options.Retry = agent.Retry{Max: 2, Initial: time.Microsecond}
	s.run("first")
	if err := s.agent.Prompt(ctx, "second"); err != nil {
		t.Fatal(err)
	}
	if reason, _, err := s.agent.Run(ctx); err != nil || reason != session.ReasonCancelled {
		t.Fatalf("ended %s, %v", reason, err)
	}
	s.agent.PluginState(session.PluginState{Plugin: "p", Generation: 1, State: "crashed", Detail: "signal: killed"})
	s.run("third") // cancelled by mail
	s.run("")      // steered, and truncated
	s.agent, s.hooks = nil, []hook.Hooks{&hooks{points: []hook.Point{hook.BeforeStep}, before: func([]hook.Pending) (hook.StepDecision, error) {
		return hook.StepDecision{Reject: "archived"}, nil
	}}}
	s.run("fourth")
	s.agent, s.hooks, s.options.Limits = nil, nil, agent.Limits{Steps: 1}
	s.run("fifth")
	s.run("sixth")
	s.agent, s.options.Limits = nil, agent.Limits{}
	s.run("")
	return s
}

func TestR1_EveryPrefixOfAWildSessionResumes(t *testing.T) {
	t.Parallel()
	s := wildSession(t)
	seen, reasons := map[session.Kind]int{}, map[session.Reason]int{}
	for _, e := range s.events() {
		seen[e.Kind]++
		if p, err := session.Decode[session.TurnEnded](e); err == nil && e.Kind == session.KindTurnEnded {
			reasons[p.Reason]++
		}
	}
	for _, k := range []session.Kind{session.KindAttempt, session.KindModelCall, session.KindCompactionArmed, session.KindCompactionFailed, session.KindBreaker,
		session.KindMarkShown, session.KindCompactionAsked, session.KindCancelAsked, session.KindRecord, session.KindPlugin, session.KindWarning} {
		if seen[k] == 0 {
			t.Errorf("the session lacks %s", k)
		}
	}
	for _, r := range []session.Reason{session.ReasonCompleted, session.ReasonCancelled, session.ReasonMaxTokens, session.ReasonBlocked, session.ReasonLimit} {
		if reasons[r] == 0 {
			t.Errorf("no turn ended %s: %v", r, reasons)
		}
	}
	compacting := false
	for n, e := range s.events() {
		if e.Kind == session.KindCompactionStarted || e.Kind == session.KindCompactionEnded {
			compacting = e.Kind == session.KindCompactionStarted
		}
		if compacting || n == 0 {
			continue
		}
		c := newSetup(t, says("went on"), says("went on"), says("went on"), says("went on"))
		c.tools = s.tools
		withStrategy(c, &strategy{propose: wipe("fresh")})
		replay(t, c.log, s.events()[1:n+1])
		c.open()
		c.check() // repaired, before anything else happens
		if _, err := c.agent.Continue(t.Context()); err != nil {
			t.Fatal(err)
		}
		c.completed("and now?")
		if len(c.model.requests) == 0 {
			t.Fatalf("prefix %d: no request", n+1)
		}
		for i := range c.model.requests {
			if err := llm.Validate(c.model.requests[i].Messages); err != nil {
				t.Errorf("prefix %d (%s): request %d: %v", n+1, e.Kind, i, err)
			}
		}
	}
}
