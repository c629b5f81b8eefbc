package agent_test

import (
	"context"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

func TestL1_L2_ATurnRunsUntilAnAnswerHasNoCalls(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {"x":1}`), says("I will now read the file."))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.completed("go")
	want := "inbox.queued turn.started inbox.claimed step.started message.system request.header message.user message.user " +
		"message.assistant tool.started tool.result step.ended step.started message.assistant step.ended turn.ended"
	if got := s.kinds(); got != want {
		t.Errorf("the log is\n%s\nwant\n%s", got, want)
	}
	if got := s.last(1); got != `tool: echo{"x":1}` {
		t.Errorf("the second request ends with %q", got)
	}
}

func TestL1_MaxTokensIsStickyAndSteeringOverridesTheEnd(t *testing.T) {
	t.Parallel()
	var s *setup
	truncated := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		if err := s.agent.Steer(context.Background(), "one more thing"); err != nil {
			t.Error(err)
		}
		yield(llm.Chunk{Answer: &llm.Answer{Message: llm.Text(llm.RoleAssistant, "cut"), Stop: llm.StopMaxTokens}}, nil)
	}
	s = newSetup(t, truncated, says("done"))
	reason, _ := s.run("go")
	if reason != session.ReasonMaxTokens {
		t.Errorf("the turn ended %s", reason)
	}
	if got := s.last(1); got != "user: one more thing" {
		t.Errorf("the steering did not reach the next step: %q", got)
	}
}

func TestL3_LimitsEndATurnResumably(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {}`), calls(`b echo {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.options.Limits = agent.Limits{Steps: 2}
	reason, failure := s.run("go")
	if reason != session.ReasonLimit || failure == nil || failure.Code != "LIMIT_STEPS" {
		t.Fatalf("ended %s %+v", reason, failure)
	}
	s.agent, s.options.Limits = nil, agent.Limits{}
	s.completed("continue")
	if got := s.last(2); got != "user: continue" {
		t.Errorf("the resumed run asked with %q", got)
	}
}

func TestL4_PromptSteerAndInjectReachTheirQueues(t *testing.T) {
	t.Parallel()
	var s *setup
	busy := func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		for _, err := range []error{s.agent.Prompt(ctx, "next task"), s.agent.Steer(ctx, "steer"), s.agent.Access("p").Steer(ctx, "inject", "k", false), s.agent.Access("p").Steer(ctx, "inject", "k", false)} {
			if err != nil {
				t.Error(err)
			}
		}
		calls(`a echo {}`)(ctx, r, yield)
	}
	s = newSetup(t, busy, says("first done"), says("second done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.completed("task")
	second := strings.Join(s.shown(1), "|")
	if !strings.HasSuffix(second, "|tool: echo{}|user: steer|user: inject") {
		t.Errorf("the second step saw %q", second)
	}
	// L6: the queued prompt opens the next turn at once, alone
	if got := s.last(2); got != "user: next task" {
		t.Errorf("the second turn asked with %q", got)
	}
	if n := s.count(session.KindTurnStarted); n != 2 {
		t.Errorf("%d turns", n)
	}
}

func TestL4_AnInjectionAloneDoesNotWake(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.open()
	if err := s.agent.Access("p").Steer(t.Context(), "by the way", "", false); err != nil {
		t.Fatal(err)
	}
	reason, _ := s.run("")
	if reason != "" || len(s.model.requests) != 0 {
		t.Errorf("an injection woke the agent: %q, %d requests", reason, len(s.model.requests))
	}
}

func TestL5_TurnStoppingKeepsTheTurnOpen(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("I think I am done"), says("now I am"))
	asked := 0
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.TurnStopping}, stopping: func() (hook.StopDecision, error) {
		if asked++; asked == 1 {
			return hook.StopDecision{Continue: "your list has an open item"}, nil
		}
		return hook.StopDecision{}, nil
	}}}
	s.completed("go")
	if asked != 2 || s.last(1) != "user: your list has an open item" || s.count(session.KindTurnStarted) != 1 {
		t.Errorf("asked %d times, second request %q, %d turns", asked, s.last(1), s.count(session.KindTurnStarted))
	}
}

func TestL6_FollowUpOpensTheNextTurnWithoutIdling(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"))
	idle := 0
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.Idle}, idle: func() (hook.IdleDecision, error) { idle++; return hook.IdleDecision{}, nil }}}
	s.open()
	for _, p := range []string{"first", "second"} {
		if err := s.agent.Prompt(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	s.completed("")
	if idle != 1 || s.count(session.KindTurnEnded) != 2 {
		t.Errorf("idle %d times, %d turns", idle, s.count(session.KindTurnEnded))
	}
}

func TestL13_SP4_RuntimeContextIsSentOnlyWhenItChanged(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {}`), says("done"), says("again"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.completed("go")
	s.completed("go on")
	shown := s.shown(2)
	n := 0
	for _, m := range shown {
		if strings.Contains(m, `Working directory: "/w"`) {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the context stands %d times in %q", n, shown)
	}
}

func TestL15_AFailedHookEndsTheTurnUnlessItsRowSaysContinue(t *testing.T) {
	t.Parallel()
	for onFailure, want := range map[string]session.Reason{"": session.ReasonError, "continue": session.ReasonCompleted} {
		s := newSetup(t, says("done"), says("fine"))
		broken := true
		s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.BeforeStep}, onFailure: onFailure, before: func([]hook.Pending) (hook.StepDecision, error) {
			if broken {
				return hook.StepDecision{}, errPlugin
			}
			return hook.StepDecision{}, nil
		}}}
		if reason, _ := s.run("go"); reason != want {
			t.Errorf("on_failure %q: the turn ended %s", onFailure, reason)
		}
		broken = false
		s.completed("again") // the agent lives on
	}
}

func TestL18_ARejectedStepEndsTheTurnBlocked(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.BeforeStep}, before: func([]hook.Pending) (hook.StepDecision, error) {
		return hook.StepDecision{Reject: "the session is archived"}, nil
	}}}
	reason, failure := s.run("go")
	if reason != session.ReasonBlocked || failure.Message != "the session is archived" || len(s.model.requests) != 0 {
		t.Errorf("ended %s %+v after %d requests", reason, failure, len(s.model.requests))
	}
	if reason, _ := s.run(""); reason != "" { // what was rejected is not rejected again
		t.Errorf("a second run ended %s", reason)
	}
}

func TestM16_M18_AFailedAttemptIsRepeatedAndNeverShown(t *testing.T) {
	t.Parallel()
	broken := func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		if yield(llm.Chunk{Kind: llm.BlockText, Delta: "half an ans"}, nil) {
			yield(llm.Chunk{}, &llm.Error{Code: llm.CodeTransport, Message: "connection reset"})
		}
	}
	s := newSetup(t, broken, says("whole"))
	s.options.Retry = agent.Retry{Max: 5, Initial: 1}
	s.completed("go")
	if a, b := strings.Join(s.shown(0), "|"), strings.Join(s.shown(1), "|"); a != b {
		t.Errorf("the retry sent\n%s\nthe first attempt\n%s", b, a)
	}
	if s.count(session.KindAttempt) != 1 {
		t.Errorf("%d attempts in the log", s.count(session.KindAttempt))
	}
}

func TestL10_AHookMayAskForARetry(t *testing.T) {
	t.Parallel()
	s := newSetup(t, fails(&llm.Error{Code: llm.CodeAuth, Message: "expired"}), says("done"))
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.RequestFailed}, failed: func(f session.Failure) (hook.FailedDecision, error) {
		return hook.FailedDecision{Retry: f.Code == string(llm.CodeAuth)}, nil
	}}}
	s.completed("go")
	if s.count(session.KindStepStarted) != 1 {
		t.Errorf("%d steps; a retry repeats the same step", s.count(session.KindStepStarted))
	}
}
