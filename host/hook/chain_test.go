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
