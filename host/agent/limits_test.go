package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// TestL3_L7_TheTimeLimitEndsAStepThatHangs: wherever a step hangs, it ends as a
// limit and not as a cancel, nothing is lost, and the session goes on.
func TestL3_L7_TheTimeLimitEndsAStepThatHangs(t *testing.T) {
	t.Parallel()
	hang := func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	for name, c := range map[string]struct {
		answers []answerFunc
		change  func(*setup)
		then    []string // the last messages of the first request after it
	}{
		"the model, after some words": {
			answers: []answerFunc{func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
				yield(llm.Chunk{Kind: llm.BlockText, Delta: "The answer is"}, nil)
				<-ctx.Done()
				yield(llm.Chunk{}, &llm.Error{Code: llm.CodeAborted, Message: "cancelled"})
			}},
			then: []string{"assistant: The answer is", "user: go on"},
		},
		"the model, without a word": {
			answers: []answerFunc{func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
				<-ctx.Done()
				yield(llm.Chunk{}, &llm.Error{Code: llm.CodeAborted, Message: "cancelled"})
			}},
			then: []string{"user: go on"},
		},
		"the wait before another attempt": {
			answers: []answerFunc{fails(&llm.Error{Code: llm.CodeServer, Message: "busy"})},
			change:  func(s *setup) { s.options.Retry = agent.Retry{Max: 1, Initial: time.Hour, MaxDelay: time.Hour} },
			then:    []string{"user: go on"},
		},
		"a tool, before another": {
			answers: []answerFunc{calls(`a hang {}`, `b hang {}`)},
			change: func(s *setup) {
				s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "hang"}, hang)}
			},
			then: []string{"tool: Error: tool call aborted", "tool: " + notStarted, "user: go on"},
		},
		"a hook": {
			change: func(s *setup) {
				s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.BeforeStep}, before: func([]hook.Pending) (hook.StepDecision, error) {
					if s.options.Limits.Timeout > 0 {
						time.Sleep(2 * s.options.Limits.Timeout)
						return hook.StepDecision{}, context.DeadlineExceeded
					}
					return hook.StepDecision{}, nil
				}}}
			},
			then: []string{"user: task"}, // it was not claimed yet
		},
		"the strategy": {
			answers: []answerFunc{calls(`a big {}`)},
			change: func(s *setup) {
				s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
				withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
					if s.options.Limits.Timeout > 0 {
						<-ctx.Done()
						return compaction.Proposal{}, ctx.Err()
					}
					return wipe("start again")(ctx, in)
				}})
			},
			then: []string{"user: start again", "user: go on"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, c.answers...)
			if c.change != nil {
				c.change(s)
			}
			s.options.Limits = agent.Limits{Timeout: 50 * time.Millisecond}
			reason, failure := s.run("task")
			if reason != session.ReasonLimit || failure == nil || failure.Code != "LIMIT_TIME" || failure.Message != "limit limits.timeout reached: 50ms" {
				t.Fatalf("ended %s %+v", reason, failure)
			}
			s.agent, s.options.Limits = nil, agent.Limits{}
			asked := len(s.model.requests)
			s.model.answers = []answerFunc{says("done"), says("done again")}
			s.completed("go on")
			got := s.shown(asked)
			// runtime context may stand behind the prompt
			if !follows(got, c.then) {
				t.Errorf("the next request shows %q, want %q in it", got, c.then)
			}
		})
	}
}

const notStarted = "Error: the run broke off before this call was started"

// follows tells whether the messages of want stand in got, in order.
func follows(got, want []string) bool {
	for _, m := range got {
		if len(want) > 0 && len(m) >= len(want[0]) && m[:len(want[0])] == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}
