package hook_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
)

// judge judges calls by function; its row says "continue".
type judge struct {
	hook.Passive
	before func(hook.ToolCall) (hook.ToolDecision, error)
}

func (judge) Name() string         { return "judge" }
func (judge) Points() []hook.Point { return []hook.Point{hook.BeforeTool} }
func (judge) OnFailure() string    { return "continue" }
func (j judge) BeforeTool(_ context.Context, _ hook.Where, c hook.ToolCall) (hook.ToolDecision, error) {
	return j.before(c)
}

// A judge that fails lets nothing pass, whatever its row says (G3).
func TestG3_L15_AJudgeThatFailsDeniesTheCall(t *testing.T) {
	t.Parallel()
	broken := errors.New("out of order")
	question := hook.ToolDecision{Ask: &session.Question{Text: "may it?"}}
	for name, before := range map[string]func(hook.ToolCall) (hook.ToolDecision, error){
		"at once": func(hook.ToolCall) (hook.ToolDecision, error) { return hook.ToolDecision{}, broken },
		"with the answer": func(c hook.ToolCall) (hook.ToolDecision, error) {
			if c.Answer == nil {
				return question, nil
			}
			return hook.ToolDecision{}, broken
		},
		"asks for ever": func(hook.ToolCall) (hook.ToolDecision, error) { return question, nil },
	} {
		chain := hook.NewChain(slog.New(slog.DiscardHandler), judge{before: before})
		d, err := chain.BeforeTool(t.Context(), hook.Where{}, hook.ToolCall{}, func(string, session.Question) (session.Answer, error) {
			return session.Answer{Outcome: session.OutcomeAnswered}, nil
		})
		if err != nil || !strings.Contains(d.Deny, "not run") {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

// That the person could not be asked is no failure of the plugin, and ends the turn.
func TestG3_AQuestionThatCannotBeStoredEndsTheTurn(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	chain := hook.NewChain(slog.New(slog.DiscardHandler), judge{before: func(hook.ToolCall) (hook.ToolDecision, error) {
		return hook.ToolDecision{Ask: &session.Question{Text: "may it?"}}, nil
	}})
	_, err := chain.BeforeTool(t.Context(), hook.Where{}, hook.ToolCall{}, func(string, session.Question) (session.Answer, error) {
		return session.Answer{}, full
	})
	if !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

// starter speaks before one step and then rests.
type starter struct {
	hook.Passive
	asked int
}

func (*starter) Name() string         { return "starter" }
func (*starter) Points() []hook.Point { return []hook.Point{hook.BeforeStep} }
func (s *starter) BeforeStep(context.Context, hook.Where, []hook.Pending) (hook.StepDecision, error) {
	s.asked++
	return hook.StepDecision{Inject: []string{"begin"}, Rest: true}, nil
}

// Who rests is not asked again, and a step costs nothing then.
func TestL5_APluginThatRestsIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	s := &starter{}
	chain := hook.NewChain(slog.New(slog.DiscardHandler), s)
	for n, want := range []int{1, 0} {
		injected, _, err := chain.BeforeStep(t.Context(), hook.Where{}, nil)
		if err != nil || len(injected) != want {
			t.Errorf("step %d: %v, %v", n, injected, err)
		}
	}
	if s.asked != 1 || chain.Declared(hook.BeforeStep) {
		t.Errorf("asked %d times, declared %v", s.asked, chain.Declared(hook.BeforeStep))
	}
	chain.Rouse("starter") // its process ended, and another one may have to speak
	if injected, _, err := chain.BeforeStep(t.Context(), hook.Where{}, nil); err != nil || len(injected) != 1 {
		t.Errorf("after a restart: %v, %v", injected, err)
	}
}

// calm looks at one call and then rests.
type calm struct {
	hook.Passive
	asked int
}

func (*calm) Name() string         { return "calm" }
func (*calm) Points() []hook.Point { return []hook.Point{hook.BeforeTool} }
func (j *calm) BeforeTool(context.Context, hook.Where, hook.ToolCall) (hook.ToolDecision, error) {
	j.asked++
	return hook.ToolDecision{Rest: true}, nil
}

// A judge of calls that rests costs a call nothing; what wakes it wakes it.
func TestL5_AJudgeThatRestsIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	j := &calm{}
	chain := hook.NewChain(slog.New(slog.DiscardHandler), j)
	for range 3 {
		if d, err := chain.BeforeTool(t.Context(), hook.Where{}, hook.ToolCall{}, nil); err != nil || d.Deny != "" {
			t.Fatalf("%+v, %v", d, err)
		}
	}
	if j.asked != 1 || chain.Declared(hook.BeforeTool) {
		t.Errorf("asked %d times", j.asked)
	}
	chain.Rouse("calm")
	if !chain.Declared(hook.BeforeTool) {
		t.Error("it is not asked again")
	}
}
