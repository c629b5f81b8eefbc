package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// ends answers with text and calls under a stop reason that need not fit them.
func ends(stop llm.StopReason, text string, list ...string) answerFunc {
	return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		m := &llm.Message{Role: llm.RoleAssistant}
		if text != "" {
			m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockText, Text: text})
		}
		for _, c := range list {
			f := strings.SplitN(c, " ", 3)
			m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: f[0], Name: f[1], Arguments: f[2]}})
		}
		yield(llm.Chunk{Answer: &llm.Answer{Message: m, Stop: stop}}, nil)
	}
}

// Only a call keeps a turn open: neither the stop reason nor what the text promises
// does (L2).
func TestL2_OnlyACallDecides(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answer   answerFunc
		requests int
	}{
		"tool_calls without a call": {ends(llm.StopToolCalls, "I will read the file now."), 1},
		"stop with a call":          {ends(llm.StopEnd, "All done.", `a echo {}`), 2},
		"an announcement":           {ends(llm.StopEnd, "Next I will run echo({}) and look."), 1},
		"a typed-out call":          {ends(llm.StopEnd, `<tool_call>{"name":"echo","arguments":{}}</tool_call>`), 1},
		"a reason nobody knows":     {ends("odd", "done"), 1},
	} {
		s := newSetup(t, tt.answer, says("done"))
		s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
		s.completed("go")
		if len(s.model.requests) != tt.requests {
			t.Errorf("%s: %d requests, want %d", name, len(s.model.requests), tt.requests)
		}
	}
}

// cancelled lets an answer begin and cancels it before it says anything, once then
// has been called.
func cancelled(s **setup, then func()) answerFunc {
	return func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		(*s).agent.Cancel(errors.New("the person"))
		<-ctx.Done()
		if then != nil {
			then()
		}
		yield(llm.Chunk{}, &llm.Error{Code: llm.CodeAborted, Message: "cancelled"})
	}
}

// What wakes and comes once the turn was cancelled opens a turn of its own, behind
// what was queued before it; what does not wake waits for the next step (L4).
func TestL4_AWakeAfterAnAbortGoesToTheNextTurn(t *testing.T) {
	t.Parallel()
	var s *setup
	s = newSetup(t, cancelled(&s, func() {
		for _, err := range []error{s.agent.Prompt(t.Context(), "queued"), s.agent.Steer(t.Context(), "steered"), s.agent.Access("p").Steer(t.Context(), "woken", "", true), s.agent.Access("p").Steer(t.Context(), "injected", "", false)} {
			if err != nil {
				t.Error(err)
			}
		}
	}), says("one"), says("two"), says("three"))
	if reason, _ := s.run("go"); reason != session.ReasonCancelled {
		t.Fatalf("ended %s", reason)
	}
	s.completed("")
	var got []string
	for n := 1; n < 4; n++ {
		got = append(got, strings.Join(s.shown(n)[len(s.shown(n-1)):], "|"))
	}
	if want := "[user: queued|user: injected assistant: one|user: steered assistant: two|user: woken]"; fmt.Sprint(got) != want {
		t.Errorf("the turns behind the cancelled one saw %q, want %s", got, want)
	}
	if n := s.count(session.KindTurnStarted); n != 4 {
		t.Errorf("%d turns", n)
	}
}

// The inbox is looked at once more when the hooks have had their say (L5).
func TestL5_TheInboxIsLookedAtAgainAfterTheHooks(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"), says("really"))
	asked := 0
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.TurnStopping}, stopping: func() (hook.StopDecision, error) {
		if asked++; asked > 1 {
			return hook.StopDecision{}, nil
		}
		return hook.StopDecision{}, s.agent.Access("p").Steer(t.Context(), "a job has ended", "", false)
	}}}
	s.completed("go")
	if s.count(session.KindTurnStarted) != 1 || s.last(1) != "user: a job has ended" || asked != 2 {
		t.Errorf("%d turns, asked %d times, the second request ends %q", s.count(session.KindTurnStarted), asked, s.last(1))
	}
}

// A cancel before anything was said leaves an attempt in the log alone, and both
// texts reach the model (L7, C040).
func TestL7_C040_ACancelBeforeTheFirstWordIsAnAttempt(t *testing.T) {
	t.Parallel()
	var s *setup
	s = newSetup(t, cancelled(&s, nil), says("both"))
	if reason, _ := s.run("A"); reason != session.ReasonCancelled {
		t.Fatalf("ended %s", reason)
	}
	if a := one[session.Attempt](s, session.KindAttempt); a.Code != string(llm.CodeAborted) || a.Partial != nil || s.count(session.KindMessageAssistant) != 0 {
		t.Errorf("the log has %+v and %d answers", a, s.count(session.KindMessageAssistant))
	}
	s.completed("B")
	if got := strings.Join(s.shown(1), "|"); !strings.HasSuffix(got, "|user: A|user: B") {
		t.Errorf("the model saw %q", got)
	}
}

// Where a step fails, calls that were started and calls that were not are told
// apart, and each text says what may be done next (L8, L9).
func TestL9_AFailedStepAnswersEveryCall(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {}`, `b par {}`, `c par {}`, `d echo {}`), says("went on"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo).add(tool.Spec{Name: "par", Parallel: true}, echo)}
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.AfterTool}, after: func(o hook.ToolOutcome) (hook.OutcomeDecision, error) {
		if o.CallID == "b" {
			return hook.OutcomeDecision{}, errPlugin
		}
		return hook.OutcomeDecision{}, nil
	}}}
	if reason, failure := s.run("go"); reason != session.ReasonError || failure.Code != "PLUGIN_HOOK_FAILED" {
		t.Fatalf("ended %s %+v", reason, failure)
	}
	s.hooks, s.agent = nil, nil
	s.completed("go on")
	got := s.shown(1)[4:8]
	for i, want := range []string{"tool: echo{}", "tool: par{}", "look at the actual state first", "Make the call again if it is still needed"} {
		if !strings.Contains(got[i], want) {
			t.Errorf("result %d is %q, want %q", i, got[i], want)
		}
	}
}

// A failure of a plugin at any point of a turn ends that turn, by the plugin's name,
// and the agent takes the next one (L15).
func TestL15_AFailureAtAnyPointEndsTheTurnAndNotTheAgent(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"before_step", "before_tool", "after_tool", "turn_stopping", "request_failed", "contexts", "sections"} {
		broken := func() error { return errPlugin }
		s := newSetup(t)
		s.model.answers = []answerFunc{calls(`a echo {}`), says("done"), says("fine"), says("fine")}
		if point == "request_failed" {
			s.model.answers = []answerFunc{fails(&llm.Error{Code: llm.CodeAuth, Message: "no"}), says("fine"), says("fine")}
		}
		s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
		fail := func() error {
			if broken != nil {
				return broken()
			}
			return nil
		}
		s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.Point(point)},
			before:   func([]hook.Pending) (hook.StepDecision, error) { return hook.StepDecision{}, fail() },
			tool:     func(hook.ToolCall) (hook.ToolDecision, error) { return hook.ToolDecision{}, fail() },
			after:    func(hook.ToolOutcome) (hook.OutcomeDecision, error) { return hook.OutcomeDecision{}, fail() },
			stopping: func() (hook.StopDecision, error) { return hook.StopDecision{}, fail() },
			failed:   func(session.Failure) (hook.FailedDecision, error) { return hook.FailedDecision{}, fail() },
		}}
		s.options.Prompts = []prompt.Provider{&offers{
			sections: func() ([]prompt.Section, error) { return nil, when(point == "sections", fail) },
			contexts: func() ([]prompt.Context, error) { return nil, when(point == "contexts", fail) },
		}}
		reason, failure := s.run("go")
		if reason != session.ReasonError || failure == nil || !strings.HasPrefix(failure.Code, "PLUGIN_") || !strings.Contains(failure.Message, "the plugin broke") {
			t.Errorf("%s: the turn ended %s %+v", point, reason, failure)
		}
		broken = nil
		if reason, failure := s.run("again"); reason != session.ReasonCompleted {
			t.Errorf("%s: the next turn ended %s %+v", point, reason, failure)
		}
	}
}

func when(yes bool, f func() error) error {
	if yes {
		return f()
	}
	return nil
}

// offers is a plugin's part of the prompt, as functions.
type offers struct {
	sections func() ([]prompt.Section, error)
	contexts func() ([]prompt.Context, error)
}

func (*offers) Name() string { return "offers" }
func (o *offers) Sections(context.Context, string) ([]prompt.Section, error) {
	return o.sections()
}
func (o *offers) Contexts(context.Context, string) ([]prompt.Context, error) {
	return o.contexts()
}

// What a broken attempt had said, in text or thought, stays in the log and is shown
// to no model, however often it is repeated (M16).
func TestM16_PartialWordsOfFailedAttemptsStayInTheLog(t *testing.T) {
	t.Parallel()
	half := func(kind llm.BlockKind) answerFunc {
		return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
			if yield(llm.Chunk{Kind: kind, Delta: "half of it"}, nil) {
				yield(llm.Chunk{}, &llm.Error{Code: llm.CodeTransport, Message: "reset"})
			}
		}
	}
	s := newSetup(t, half(llm.BlockText), half(llm.BlockReasoning), half(llm.BlockToolCall), says("whole"), says("more"))
	s.options.Retry = agent.Retry{Max: 5, Initial: time.Microsecond}
	s.completed("go")
	s.completed("on")
	for n := range s.model.requests {
		if got := strings.Join(s.shown(n), "|"); strings.Contains(got, "half of it") {
			t.Errorf("request %d shows %q", n, got)
		}
	}
	kept := 0
	for _, e := range s.events() {
		if a, _ := session.Decode[session.Attempt](e); e.Kind == session.KindAttempt && a.Partial != nil {
			kept++
		}
	}
	if kept != 2 || s.count(session.KindAttempt) != 3 || s.count(session.KindStepStarted) != 2 {
		t.Errorf("%d of %d attempts kept words, in %d steps", kept, s.count(session.KindAttempt), s.count(session.KindStepStarted))
	}
}
