package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// Ten parallel-safe calls run at once and no more, and the results stand in the
// order of the calls, in whichever order they ended (L19).
func TestL19_T4_TenAtOnceAndResultsInModelOrder(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 23 {
		list = append(list, fmt.Sprintf(`c%02d par {"n":%d}`, i, i))
	}
	s := newSetup(t, calls(list...), says("done"))
	var mu sync.Mutex
	inside, most := 0, 0
	waiting := map[int]chan struct{}{}
	release := func() { // the last to come goes first
		for i := 22; i >= 0; i-- {
			if c := waiting[i]; c != nil {
				close(c)
				delete(waiting, i)
				return
			}
		}
	}
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "par", Parallel: true}, func(_ context.Context, c tool.Call) (tool.Result, error) {
		var args struct{ N int }
		_ = json.Unmarshal(c.Arguments, &args)
		mu.Lock()
		inside++
		most = max(most, inside)
		gate := make(chan struct{})
		waiting[args.N] = gate
		if full := min(tool.PoolSize, 23-args.N/tool.PoolSize*tool.PoolSize); len(waiting) == full {
			release()
		}
		mu.Unlock()
		select {
		case <-gate:
		case <-time.After(time.Minute):
			t.Errorf("call %d waits with %d others, fewer than a pool holds", args.N, inside)
		}
		mu.Lock()
		inside--
		release()
		mu.Unlock()
		return tool.Result{Text: c.ID}, nil
	})}
	s.completed("go")
	if most != tool.PoolSize {
		t.Errorf("at most %d ran at once, want %d", most, tool.PoolSize)
	}
	for i, got := range s.shown(1)[4:] {
		if want := fmt.Sprintf("tool: c%02d", i); got != want {
			t.Errorf("result %d is %q, want %q", i, got, want)
		}
	}
}

// The pipeline of a call, in its order; a refused call leaves it at once, and hooks
// after the tool see that one too (T2).
func TestT2_ThePipelineHasItsOrder(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var trace []string
	note := func(what string) { mu.Lock(); trace = append(trace, what); mu.Unlock() }
	judge := func(name string, deny string) *named {
		return &named{name, &hooks{points: []hook.Point{hook.BeforeTool, hook.AfterTool}, tool: func(c hook.ToolCall) (hook.ToolDecision, error) {
			note(name + " judges " + c.CallID)
			if c.CallID == deny {
				return hook.ToolDecision{Deny: "no"}, nil
			}
			return hook.ToolDecision{}, nil
		}, after: func(o hook.ToolOutcome) (hook.OutcomeDecision, error) {
			note(fmt.Sprintf("%s sees %s of %s", name, o.Text, o.CallID))
			text := o.Text + "+" + name
			return hook.OutcomeDecision{Replace: &text, Contexts: []string{name + " says"}}, nil
		}}}
	}
	s := newSetup(t, calls(`a run {}`, `b run {}`, `c run 5`, `d none {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "run"}, func(_ context.Context, c tool.Call) (tool.Result, error) {
		note("run " + c.ID)
		return tool.Result{Text: "out", Contexts: []string{"the tool says"}}, nil
	})}
	s.hooks = []hook.Hooks{judge("x", "b"), judge("y", "")}
	s.completed("go")
	bad, unknown := `Error: invalid arguments: "arguments" must be an object`, `Error: unknown tool "none"`
	want := []string{"x judges a", "y judges a", "run a", "x sees out of a", "y sees out+x of a",
		"x judges b", "x sees Error: no of b", "y sees Error: no+x of b",
		"x sees " + bad + " of c", "y sees " + bad + "+x of c", "x sees " + unknown + " of d", "y sees " + unknown + "+x of d"}
	if got := strings.Join(trace, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the calls went\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	shown := s.shown(1)[4:]
	if got := strings.Join(shown[:4], "|"); got != "tool: out+x+y|tool: Error: no+x+y|tool: "+bad+"+x+y|tool: "+unknown+"+x+y" {
		t.Errorf("the model saw %q", got)
	}
	// T15: contexts stand behind all results, in model order, those of the tool first
	if got := strings.Join(shown[4:7], "|"); got != "user: the tool says|user: x says|user: y says" || len(shown) != 4+1+4*2 {
		t.Errorf("behind the results stand %q", shown[4:])
	}
}

// named gives hooks a name of their own.
type named struct {
	name string
	*hooks
}

func (n *named) Name() string { return n.name }

// A body that was started always settles: its result is stored, though the turn was
// cancelled meanwhile; what had not begun gets a result too (T5).
func TestT5_AStartedBodySettles(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a slow {}`, `b slow {}`, `c excl {}`), says("ok"))
	settled := 0
	var mu sync.Mutex
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "slow", Parallel: true}, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		if c.ID == "a" {
			s.agent.Cancel(errors.New("the person"))
		}
		<-ctx.Done()
		time.Sleep(20 * time.Millisecond) // it cleans up
		mu.Lock()
		settled++
		mu.Unlock()
		return tool.Result{Text: "cleaned up " + c.ID}, nil
	}).add(tool.Spec{Name: "excl"}, echo)}
	if reason, _ := s.run("go"); reason != session.ReasonCancelled || settled != 2 {
		t.Fatalf("ended %s with %d bodies settled", reason, settled)
	}
	s.completed("and?")
	got := s.shown(1)[4:7]
	if got[0] != "tool: cleaned up a" || got[1] != "tool: cleaned up b" || !strings.HasPrefix(got[2], "tool: Error: tool call aborted before dispatch") {
		t.Errorf("the results are %q", got)
	}
}

// A tool that runs out of its time is told to stop, and the model reads how long it
// had, also where the tool says for itself that it was stopped; the others go on (T6).
func TestT6_ATimeoutIsOfOneToolAndReallyStopsIt(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a obeys {}`, `b says {}`, `c keeps {}`, `d late {}`, `e echo {}`), says("done"))
	stopped := 0
	wait := func(r tool.Result, err error) func(context.Context, tool.Call) (tool.Result, error) {
		return func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			select {
			case <-ctx.Done():
				stopped++
			case <-time.After(time.Minute):
			}
			return r, err
		}
	}
	short := 3 * time.Millisecond
	s.tools = []tool.Provider{newToolbox("p").
		add(tool.Spec{Name: "obeys", Timeout: short}, wait(tool.Result{}, errors.New("deadline exceeded"))).
		add(tool.Spec{Name: "says", Timeout: short}, wait(tool.Failed("ABORTED", "tool call aborted"), nil)).
		add(tool.Spec{Name: "keeps", Timeout: short}, wait(tool.Result{Text: "the first half"}, nil)).
		add(tool.Spec{Name: "late", Timeout: short}, wait(tool.Failed("NOT_FOUND", "no such file"), nil)).
		add(tool.Spec{Name: "echo"}, echo)}
	s.completed("go")
	const late = "tool: Error: tool call timed out after 3ms"
	if got := strings.Join(s.shown(1)[4:], "|"); got != late+"|"+late+"|tool: the first half|tool: Error: no such file|tool: echo{}" || stopped != 4 {
		t.Errorf("%d were stopped; the model saw %q", stopped, got)
	}
	var codes []string
	for _, e := range s.events() {
		if r, _ := session.Decode[session.ToolResult](e); e.Kind == session.KindToolResult {
			codes = append(codes, r.Code)
		}
	}
	if got := strings.Join(codes, " "); got != "TOOL_TIMEOUT TOOL_TIMEOUT  NOT_FOUND " {
		t.Errorf("codes %q", got)
	}
}

// A turn that a tool concludes ends once the whole batch is done, and goes on where
// something waits for the next step (T15, L1).
func TestT15_L1_AConcludedTurnEndsAfterItsBatch(t *testing.T) {
	t.Parallel()
	for _, contexts := range [][]string{nil, {"but look at this"}} {
		s := newSetup(t, calls(`a end {}`, `b echo {}`), says("looked"))
		s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo).add(tool.Spec{Name: "end"}, func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: "r", Effects: []tool.Effect{tool.EffectConcludeTurn}, Contexts: contexts}, nil
		})}
		s.completed("go")
		if n := len(s.model.requests); n != 1+len(contexts) || s.count(session.KindToolResult) != 2 {
			t.Errorf("contexts %q: %d requests, %d results", contexts, n, s.count(session.KindToolResult))
		}
	}
}
