package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

func TestL19_ExclusiveCallIsABarrier(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	running, most := map[string]int{}, map[string]int{}
	gate := make(chan struct{})
	enter := func(_ context.Context, c tool.Call) (tool.Result, error) {
		mu.Lock()
		running[c.Name]++
		most[c.Name] = max(most[c.Name], running[c.Name])
		if c.Name == "slow" && running["excl"] > 0 || c.Name == "excl" && running["slow"] > 0 {
			t.Errorf("%s runs beside the other kind: %v", c.Name, running)
		}
		full := running["slow"] == 2
		mu.Unlock()
		if c.Name == "slow" {
			if full {
				close(gate)
				gate = make(chan struct{})
			} else {
				mu.Lock()
				wait := gate
				mu.Unlock()
				select { // both parallel calls must be inside at once
				case <-wait:
				case <-time.After(time.Minute):
					t.Error("parallel-safe calls did not run beside each other")
				}
			}
		}
		mu.Lock()
		running[c.Name]--
		mu.Unlock()
		return tool.Result{Text: c.ID}, nil
	}
	s := newSetup(t, calls(`a slow {}`, `b slow {}`, `c excl {}`, `d excl {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "slow", Parallel: true}, enter).add(tool.Spec{Name: "excl"}, enter)}
	s.completed("go")
	if most["slow"] != 2 || most["excl"] != 1 {
		t.Errorf("at most %v ran at once", most)
	}
	if got := strings.Join(s.shown(1)[3:], "|"); got != "assistant: [a slow][b slow][c excl][d excl]|tool: a|tool: b|tool: c|tool: d" {
		t.Errorf("results are out of model order: %s", got)
	}
}

func TestL17_ACallIsDurableBeforeItIsDispatched(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a look {}`, `b look {}`), says("done"))
	look := func(ctx context.Context, c tool.Call) (tool.Result, error) {
		reader, err := s.store.View(ctx, "s1")
		if err != nil {
			return tool.Result{}, err
		}
		started := 0
		for e, err := range reader.Read(ctx, session.Query{Kinds: []session.Kind{session.KindToolStarted, session.KindToolResult}}) {
			if err != nil {
				return tool.Result{}, err
			}
			if p, _ := session.Decode[session.ToolStarted](e); e.Kind == session.KindToolStarted && p.CallID == c.ID {
				started++
			}
			if e.Kind == session.KindToolResult {
				started += 10
			}
		}
		return tool.Result{Text: fmt.Sprint(started)}, nil
	}
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "look"}, look)}
	s.completed("go")
	if got := strings.Join(s.shown(1)[4:], "|"); got != "tool: 1|tool: 11" {
		t.Errorf("stored when dispatched (1 = the call, +10 a result before it): %s", got)
	}
}

func TestT2_T3_FailuresAreResultsNeverTheEndOfATurn(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a nothere {}`, `b strict {"n":"x","extra":1}`, `c strict {}`, `d strict [1]`, `e crash {}`, `f denied {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").
		add(tool.Spec{Name: "strict", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`)}, echo).
		add(tool.Spec{Name: "crash"}, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("exited") }).
		add(tool.Spec{Name: "denied"}, echo)}
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.BeforeTool}, tool: func(c hook.ToolCall) (hook.ToolDecision, error) {
		if c.Name == "denied" {
			return hook.ToolDecision{Deny: "not here; ask the user"}, nil
		}
		return hook.ToolDecision{}, nil
	}}}
	s.completed("go")
	want := []string{
		`tool: Error: unknown tool "nothere"`,
		`tool: Error: invalid arguments: "extra" is not a declared property (additionalProperties: false); "n" must be an integer`,
		`tool: Error: invalid arguments: missing required property "n"`,
		`tool: Error: invalid arguments: "arguments" must be an object`,
		`tool: Error: the plugin behind crash failed during the call, so its effect is unknown: exited`,
		`tool: Error: not here; ask the user`,
	}
	got := s.shown(1)[4:]
	for i := range want {
		if i >= len(got) || got[i] != want[i] && !sameViolations(got[i], want[i]) {
			t.Errorf("result %d is %q, want %q", i, got[i], want[i])
		}
	}
	for _, e := range s.events() {
		if p, _ := session.Decode[session.ToolStarted](e); e.Kind == session.KindToolStarted && p.Name != "crash" {
			t.Errorf("call of %s was recorded as started", p.Name)
		}
	}
}

// sameViolations ignores the order of violations.
func sameViolations(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for _, part := range strings.Split(strings.TrimPrefix(b, "tool: Error: invalid arguments: "), "; ") {
		if !strings.Contains(a, part) {
			return false
		}
	}
	return true
}

// A tool is cut off by the host with the text of T6 at the time that it declares,
// and at the default where it declares none.
func TestG2_T6_AToolHasItsOwnDeadline(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a hang {}`, `b plain {}`), says("done"))
	var left time.Duration
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "hang", Timeout: time.Millisecond}, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}).add(tool.Spec{Name: "plain"}, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		if until, ok := ctx.Deadline(); ok {
			left = time.Until(until)
		}
		return tool.Result{Text: "in time"}, nil
	})}
	s.completed("go")
	shown := s.shown(1)
	if got := shown[len(shown)-2:]; got[0] != "tool: Error: tool call timed out after 1ms" || got[1] != "tool: in time" {
		t.Errorf("the model saw %q", got)
	}
	if left <= 90*time.Second || left > 2*time.Minute {
		t.Errorf("without a timeout of its own a tool has %s", left)
	}
}

func TestL7_CancelKeepsTheTextAndDropsTheCalls(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newSetup(t, func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
		yield(llm.Chunk{Kind: llm.BlockReasoning, Delta: "hmm"}, nil)
		yield(llm.Chunk{Kind: llm.BlockText, Delta: "The answer is"}, nil)
		cancel()
		<-ctx.Done()
		yield(llm.Chunk{}, &llm.Error{Code: llm.CodeAborted, Message: "cancelled"})
	}, says("42"))
	s.open()
	if err := s.agent.Prompt(ctx, "go"); err != nil {
		t.Fatal(err)
	}
	reason, _, err := s.agent.Run(ctx)
	if err != nil || reason != session.ReasonCancelled {
		t.Fatalf("ended %s, %v", reason, err)
	}
	s.completed("and?")
	shown := s.shown(1)
	if got := shown[len(shown)-2]; got != "assistant: The answer is" {
		t.Errorf("what the user saw is not in the next request: %q", shown)
	}
}

func TestL8_T5_CallsThatACancelKeptFromStartingGetAResult(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newSetup(t, calls(`a stop {}`, `b stop {}`), says("ok"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "stop"}, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		cancel()
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})}
	s.open()
	if err := s.agent.Prompt(ctx, "go"); err != nil {
		t.Fatal(err)
	}
	if reason, _, err := s.agent.Run(ctx); err != nil || reason != session.ReasonCancelled {
		t.Fatalf("ended %s, %v", reason, err)
	}
	s.check()
	s.completed("and?")
	got := s.shown(1)[4:6]
	if got[0] != "tool: Error: tool call aborted" || !strings.HasPrefix(got[1], "tool: Error: tool call aborted before dispatch") {
		t.Errorf("results after the cancel: %q", got)
	}
	if n := s.count(session.KindToolStarted); n != 1 {
		t.Errorf("%d calls are recorded as started", n)
	}
}

func TestL9_R1_EveryPrefixOfALogIsRepaired(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {}`, `b echo {}`), calls(`c echo {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.completed("go")
	all := s.events()
	for n := 1; n <= len(all); n++ {
		cut := newSetup(t, says("went on"), says("went on"))
		cut.tools = s.tools
		replay(t, cut.log, all[1:n])
		cut.completed("continue")
		if n < len(all) && cut.count(session.KindTurnEnded) == 0 {
			t.Errorf("prefix %d: no turn was closed", n)
		}
		for _, m := range cut.shown(0) {
			if strings.HasPrefix(m, "tool: Error:") && !strings.Contains(m, "broke off") {
				t.Errorf("prefix %d: unexpected result %q", n, m)
			}
		}
	}
}

func replay(t *testing.T, log session.Log, events []session.Event) {
	t.Helper()
	if len(events) == 0 {
		return
	}
	if _, err := log.Append(t.Context(), session.Batch{Head: 1, Events: events}); err != nil {
		t.Fatal(err)
	}
}

func TestL9_TheTwoTextsTellStartedFromNotStarted(t *testing.T) {
	t.Parallel()
	started := fold.Unanswered(fold.Call{ID: "a", Name: "x", Started: true})
	not := fold.Unanswered(fold.Call{ID: "a", Name: "x"})
	if started.Code != "TOOL_OUTCOME_UNKNOWN" || not.Code != "TOOL_NOT_STARTED" || started.Message.Text() == not.Message.Text() {
		t.Errorf("%+v\n%+v", started, not)
	}
}

func TestT15_ContextsFollowTheResultsAndAToolMayConclude(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a note {}`), calls(`b end {}`))
	s.tools = []tool.Provider{newToolbox("p").
		add(tool.Spec{Name: "note"}, func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: "r", Contexts: []string{"mind the gap"}}, nil
		}).
		add(tool.Spec{Name: "end"}, func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: "r", Effects: []tool.Effect{tool.EffectConcludeTurn}}, nil
		})}
	s.completed("go")
	shown := s.shown(1)
	if got := strings.Join(shown[len(shown)-2:], "|"); got != "tool: r|user: mind the gap" {
		t.Errorf("the second request ends %q", got)
	}
	if len(s.model.requests) != 2 {
		t.Errorf("%d requests", len(s.model.requests))
	}
}

func TestC042_CallIdsThatRepeatAreMadeUnique(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`call_0 echo {}`), calls(`call_0 echo {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.completed("go")
}

func TestM25_AKeyThatAToolFindsReachesNeitherTheLogNorTheModel(t *testing.T) {
	t.Parallel()
	const key = `sk-canary-"quoted"-0123456789`
	s := newSetup(t, calls(`a env {}`), says("done"))
	s.options.Secrets = []string{key, "short"}
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "env"}, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "KEY=" + key + "\nshort", Contexts: []string{"also " + key}}, nil
	})}
	s.completed("my key is " + key)
	for _, e := range s.events() {
		if strings.Contains(string(e.Data), "canary") {
			t.Errorf("event %d (%s) holds the key: %s", e.Seq, e.Kind, e.Data)
		}
	}
	shown := strings.Join(s.shown(1), "|")
	if strings.Contains(shown, "canary") || !strings.Contains(shown, "KEY=[secret removed]\nshort") {
		t.Errorf("the model sees %q", shown)
	}
}
