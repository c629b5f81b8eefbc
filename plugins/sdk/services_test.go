package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// serves describes a plugin whose services the test makes.
func serves(services sdk.Services, roles ...sdk.Role) sdk.Plugin {
	p := sdk.Plugin{Name: "served", Version: "1", Roles: roles, Capabilities: []sdk.Capability{sdk.CapSessionRead}}
	if services.Hooks != nil {
		p.HookPoints = services.Hooks.Points()
	}
	p.Start = func(context.Context, sdk.Init) (sdk.Services, error) { return services, nil }
	return p
}

// strategyFuncs is a strategy made of functions.
type strategyFuncs struct {
	open    func(context.Context, compaction.Session) (compaction.Opening, error)
	propose func(context.Context, compaction.Input) (compaction.Proposal, error)
}

func (s strategyFuncs) Open(ctx context.Context, in compaction.Session) (compaction.Opening, error) {
	return s.open(ctx, in)
}
func (s strategyFuncs) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	return s.propose(ctx, in)
}

func TestStrategyCrossesTheWireWhole(t *testing.T) {
	t.Parallel()
	sections := []compaction.Section{{ID: "notes", Order: 40, Text: "text {{x}}"}}
	records := []compaction.Record{{Kind: "window", Key: "k", Data: json.RawMessage(`{"n":1}`)}}
	marks := []compaction.Mark{{ID: "close-out", Remaining: 900, Text: "{{room}} left"}}
	budget := compaction.Budget{Window: 1, MaxOutputTokens: 2, ResetAt: 3, Reserve: 4, Warning: 5, Reminder: 6, Source: "profile"}
	opening := compaction.Opening{Sections: sections, Records: records, Marks: marks}
	proposal := compaction.Proposal{
		Revision: 42, Kind: compaction.KindReset, Refresh: true, Sections: sections, Records: records, Marks: marks,
		Steer: []string{"go on"}, Continue: true, Boot: "boot", Postpone: true,
		Edits: []compaction.Edit{
			{Trim: &compaction.Trim{Node: 3, Head: 10, Tail: 20}},
			{Drop: &compaction.Span{From: 4, To: 5}},
			{Replace: &compaction.Replace{Span: compaction.Span{From: 6, To: 9}, Messages: []*llm.Message{llm.Text(llm.RoleUser, "short")}}},
		},
	}
	var opened compaction.Session
	var asked compaction.Input
	var nodes []session.Node
	p := plugintest.Run(t, serves(sdk.Services{Strategy: strategyFuncs{
		open: func(_ context.Context, s compaction.Session) (compaction.Opening, error) {
			opened = s
			return opening, nil
		},
		propose: func(_ context.Context, in compaction.Input) (compaction.Proposal, error) {
			asked = in
			for n, err := range in.Outline {
				if err != nil {
					return compaction.Proposal{}, err
				}
				nodes = append(nodes, n)
			}
			in.Progress("half way")
			return proposal, nil
		},
	}}, sdk.RoleStrategy), plugintest.Host{Sessions: []compaction.Session{{ID: "s", Access: longOutline(20000)}}})

	in := compaction.Session{ID: "s", Workspace: "/w", Directory: "/w/d", Parent: "p", Depth: 1, Spawn: json.RawMessage(`{"k":1}`), Agent: "a", Provider: "p", Model: "m", Created: time.Unix(5, 6).UTC(), Resumed: true, Budget: budget, FixedTokens: 77}
	got, err := p.Strategy().Open(t.Context(), in)
	if err != nil || !reflect.DeepEqual(got, opening) {
		t.Errorf("opening %+v, error %v", got, err)
	}
	if opened.Access = nil; !reflect.DeepEqual(opened, in) {
		t.Errorf("the plugin saw %+v", opened)
	}

	var progress []string
	outline := longOutline(20000).outline
	back, err := p.Strategy().Propose(t.Context(), compaction.Input{
		Session: "s", Revision: outline.Revision, Trigger: session.TriggerOverflow, Attempt: 2, Budget: budget, Measured: 9, Source: "usage",
		TurnOpen: true, MayPostpone: true, Instructions: "i", Note: "n", Seed: 1 << 63, Time: time.Unix(9, 9).UTC(),
		Outline: func(yield func(session.Node, error) bool) {
			for _, n := range outline.Nodes {
				if !yield(n, nil) {
					return
				}
			}
		},
		Progress: func(s string) { progress = append(progress, s) },
	})
	if err != nil || !reflect.DeepEqual(back, proposal) {
		t.Errorf("proposal %+v, error %v", back, err)
	}
	if !reflect.DeepEqual(nodes, outline.Nodes) {
		t.Errorf("the plugin saw %d nodes of %d", len(nodes), len(outline.Nodes))
	}
	if asked.Seed != 1<<63 || asked.Trigger != session.TriggerOverflow || asked.Attempt != 2 || !asked.TurnOpen || !asked.MayPostpone || asked.Budget != budget || asked.Note != "n" || !asked.Time.Equal(time.Unix(9, 9)) {
		t.Errorf("the plugin saw %+v", asked)
	}
	if len(progress) != 1 || progress[0] != "half way" {
		t.Errorf("progress %q", progress)
	}
}

func longOutline(n int) *lentSession {
	lent := &lentSession{outline: session.Outline{Revision: 11}}
	for i := range n {
		lent.outline.Nodes = append(lent.outline.Nodes, session.Node{Seq: int64(i + 1), Kind: session.KindMessageUser, Role: llm.RoleUser,
			Source: session.SourceOwner, Tokens: i, Chars: 4 * i, CallID: "call_000000000000000000"})
	}
	return lent
}

func TestT2_AuthorsFailuresAreErrorsNotCrashes(t *testing.T) {
	t.Parallel()
	p := plugintest.Run(t, serves(sdk.Services{Tools: toolFunc(func(_ context.Context, c tool.Call, progress func(string)) (tool.Result, error) {
		switch c.Name {
		case "panic":
			panic("out of cheese")
		case "coded":
			return tool.Result{}, fmt.Errorf("while cooking: %w", &sdk.Error{Code: "NO_SALT", Message: "no salt", Field: "/salt", Retryable: true})
		case "big":
			return tool.Result{Text: "t", Note: strings.Repeat("x", 5<<20)}, nil
		case "latin1":
			return tool.Result{Text: "caf\xe9"}, nil
		}
		progress("on it")
		return tool.Result{Text: "t", IsError: true, Code: "C", Note: "n", Contexts: []string{"c"},
			Effects: []tool.Effect{tool.EffectRequestCompaction, tool.EffectConcludeTurn}}, nil
	})}, sdk.RoleTools), plugintest.Host{})
	try := func(name string) (tool.Result, *sdk.Error) {
		r, err := p.Tools().Call(t.Context(), tool.Call{Session: "s", Name: name, Room: -1}, nil)
		var own *sdk.Error
		if err != nil && !errors.As(err, &own) {
			t.Errorf("%s: %v is no *sdk.Error", name, err)
		}
		return r, own
	}
	if _, err := try("panic"); err == nil || err.Code != sdk.CodePanic || !strings.Contains(err.Message, "out of cheese") {
		t.Errorf("panic: %v", err)
	}
	if _, err := try("coded"); err == nil || err.Code != "NO_SALT" || err.Message != "while cooking: no salt" || err.Field != "/salt" || !err.Retryable {
		t.Errorf("coded: %+v", err)
	}
	if _, err := try("big"); err == nil || err.Code != sdk.CodeTooBig || !strings.Contains(err.Message, "5.0 MiB") {
		t.Errorf("big: %v", err)
	}
	if r, err := try("latin1"); err != nil || r.Text != "caf\uFFFD" {
		t.Errorf("latin1: %q %v", r.Text, err)
	}
	want := tool.Result{Text: "t", IsError: true, Code: "C", Note: "n", Contexts: []string{"c"}, Effects: []tool.Effect{tool.EffectRequestCompaction, tool.EffectConcludeTurn}}
	if r, err := try("good"); err != nil || !reflect.DeepEqual(r, want) {
		t.Errorf("good: %+v %v", r, err)
	}
}

// manyTools offers more than one page of tools.
type manyTools struct{ toolFunc }

func (manyTools) Tools(context.Context, string) ([]tool.Spec, error) {
	var specs []tool.Spec
	for i := range 300 {
		specs = append(specs, tool.Spec{Name: fmt.Sprintf("t%03d", i), Description: strings.Repeat("d", 5000), Schema: json.RawMessage(`{}`),
			Parallel: i%2 == 0, Timeout: time.Minute, NoSpill: true, Guidance: "g", GuidanceOrder: 3})
	}
	return specs, nil
}

func TestToolListIsPaged(t *testing.T) {
	t.Parallel()
	p := plugintest.Run(t, serves(sdk.Services{Tools: manyTools{}}, sdk.RoleTools), plugintest.Host{})
	got, err := p.Tools().Tools(t.Context(), "s")
	want, _ := manyTools{}.Tools(t.Context(), "s")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%d tools of %d, error %v", len(got), len(want), err)
	}
}

type sectioner struct{}

func (sectioner) Name() string { return "served" }
func (sectioner) Sections(_ context.Context, id string) ([]prompt.Section, error) {
	return []prompt.Section{{ID: id, Order: 2, Text: "a", Raw: true, Complete: true, Tool: "read"}}, nil
}
func (sectioner) Contexts(context.Context, string) ([]prompt.Context, error) {
	return []prompt.Context{{ID: "time", Order: 1, Text: "noon", Tool: "read"}}, errors.New("clock stopped")
}

func TestPromptCrossesTheWire(t *testing.T) {
	t.Parallel()
	p := plugintest.Run(t, serves(sdk.Services{Prompt: sectioner{}}, sdk.RolePrompt), plugintest.Host{})
	sections, err := p.Prompt().Sections(t.Context(), "s")
	want, _ := sectioner{}.Sections(t.Context(), "s")
	if err != nil || !reflect.DeepEqual(sections, want) {
		t.Errorf("sections %+v, error %v", sections, err)
	}
	if _, err := p.Prompt().Contexts(t.Context(), "s"); err == nil || err.Error() != "clock stopped" {
		t.Errorf("contexts: %v", err)
	}
}

// hooked answers each point with something to tell it by.
type hooked struct{}

func (hooked) Name() string { return "served" }
func (hooked) Points() []hook.Point {
	return []hook.Point{hook.BeforeStep, hook.BeforeTool, hook.AfterTool, hook.TurnStopping, hook.RequestFailed, hook.TurnEnded, hook.Idle}
}
func (hooked) OnFailure() string { return "" }
func (hooked) BeforeStep(_ context.Context, at hook.Where, pending []hook.Pending) (hook.StepDecision, error) {
	return hook.StepDecision{Reject: fmt.Sprint(at), Inject: []string{fmt.Sprint(pending)}, Rest: true}, nil
}
func (hooked) BeforeTool(_ context.Context, _ hook.Where, c hook.ToolCall) (hook.ToolDecision, error) {
	if c.Answer == nil {
		return hook.ToolDecision{Ask: &session.Question{Text: "may " + c.Name + string(c.Arguments), Detail: c.CallID, Multiple: true, Options: []session.Option{{Label: "yes", Description: "once"}}}}, nil
	}
	return hook.ToolDecision{Deny: fmt.Sprint(*c.Answer), Confinement: session.Confinement{Files: session.FilesWorkspaceWrite, Writable: []string{"/w"}, Offline: true}}, nil
}
func (hooked) AfterTool(_ context.Context, _ hook.Where, o hook.ToolOutcome) (hook.OutcomeDecision, error) {
	if o.IsError {
		return hook.OutcomeDecision{}, nil
	}
	empty := ""
	return hook.OutcomeDecision{Replace: &empty, Contexts: []string{o.CallID + o.Name + o.Arguments + o.Text}, Stop: &hook.Stop{Code: "LOOP", Message: "again"}}, nil
}
func (hooked) TurnStopping(context.Context, hook.Where) (hook.StopDecision, error) {
	return hook.StopDecision{Continue: "more", Stop: &hook.Stop{Code: "C", Message: "m"}}, nil
}
func (hooked) RequestFailed(_ context.Context, _ hook.Where, f session.Failure, attempt int) (hook.FailedDecision, error) {
	return hook.FailedDecision{Retry: f == session.Failure{Code: "c", Message: "m", Hint: "h"} && attempt == 3}, nil
}
func (hooked) TurnEnded(_ context.Context, _ hook.Where, ended session.TurnEnded) error {
	return fmt.Errorf("ended %s: %+v", ended.Reason, ended.Error)
}
func (hooked) Idle(_ context.Context, at hook.Where) (hook.IdleDecision, error) {
	if at.Turn == 2 {
		panic("idle hands")
	}
	return hook.IdleDecision{Wait: "a job", FollowUp: "go on", Unfinished: "a goal"}, nil
}

func TestL15_HooksCrossTheWireAndTheirFailuresAreErrors(t *testing.T) {
	t.Parallel()
	p := plugintest.Run(t, serves(sdk.Services{Hooks: hooked{}}, sdk.RoleHooks), plugintest.Host{})
	h, at := p.Hooks(p.Info.HookPoints, "continue"), hook.Where{Session: "s", Turn: 2, Step: 3}
	if !reflect.DeepEqual(h.Points(), hooked{}.Points()) || h.OnFailure() != "continue" {
		t.Errorf("points %v, on failure %q", h.Points(), h.OnFailure())
	}
	step, err := h.BeforeStep(t.Context(), at, []hook.Pending{{Text: "a", Source: session.SourcePlugin, From: "f", Key: "k"}})
	if err != nil || !reflect.DeepEqual(step, hook.StepDecision{Reject: "{s 2 3}", Inject: []string{"[{a plugin f k}]"}, Rest: true}) {
		t.Errorf("before step: %+v %v", step, err)
	}
	call := hook.ToolCall{CallID: "1", Name: "read", Arguments: json.RawMessage("{}")}
	asked, err := h.BeforeTool(t.Context(), at, call)
	want := &session.Question{Kind: session.QuestionOpen, Text: "may read{}", Detail: "1", Multiple: true, Options: []session.Option{{Label: "yes", Description: "once"}}}
	if err != nil || !reflect.DeepEqual(asked.Ask, want) || asked.Deny != "" {
		t.Errorf("before tool: %+v %v", asked, err)
	}
	call.Answer = &session.Answer{ID: "q7", Outcome: session.OutcomeAnswered, Choices: []string{"yes"}, Text: "do"}
	deny, err := h.BeforeTool(t.Context(), at, call)
	bound := session.Confinement{Files: session.FilesWorkspaceWrite, Writable: []string{"/w"}, Offline: true}
	if err != nil || deny.Deny != fmt.Sprint(*call.Answer) || !reflect.DeepEqual(deny.Confinement, bound) {
		t.Errorf("before tool, answered: %+v %v", deny, err)
	}
	after, err := h.AfterTool(t.Context(), at, hook.ToolOutcome{CallID: "1", Name: "n", Arguments: "{", Text: "t"})
	if err != nil || after.Replace == nil || *after.Replace != "" || after.Contexts[0] != "1n{t" || *after.Stop != (hook.Stop{Code: "LOOP", Message: "again"}) {
		t.Errorf("after tool: %+v %v", after, err)
	}
	after, err = h.AfterTool(t.Context(), at, hook.ToolOutcome{IsError: true})
	if err != nil || after.Replace != nil {
		t.Errorf("after tool without an opinion: %+v %v", after, err)
	}
	stop, err := h.TurnStopping(t.Context(), at)
	if err != nil || stop.Continue != "more" || *stop.Stop != (hook.Stop{Code: "C", Message: "m"}) {
		t.Errorf("turn stopping: %+v %v", stop, err)
	}
	failed, err := h.RequestFailed(t.Context(), at, session.Failure{Code: "c", Message: "m", Hint: "h"}, 3)
	if err != nil || !failed.Retry {
		t.Errorf("request failed: %+v %v", failed, err)
	}
	ended := session.TurnEnded{Reason: session.ReasonError, Error: &session.Failure{Code: "AUTH", Message: "no key"}}
	if err := h.TurnEnded(t.Context(), at, ended); err == nil || err.Error() != "ended error: &{Code:AUTH Message:no key Hint:}" {
		t.Errorf("turn ended: %v", err)
	}
	var own *sdk.Error
	if _, err := h.Idle(t.Context(), at); !errors.As(err, &own) || own.Code != sdk.CodePanic {
		t.Errorf("idle: %v", err)
	}
	if d, err := h.Idle(t.Context(), hook.Where{Session: "s"}); err != nil || d != (hook.IdleDecision{Wait: "a job", FollowUp: "go on", Unfinished: "a goal"}) {
		t.Errorf("idle: %+v %v", d, err)
	}
}

// watcher hears of sessions.
type watcher struct{ heard []string }

func (w *watcher) Open(_ context.Context, s compaction.Session) error {
	w.heard = append(w.heard, "open "+s.ID+" "+s.Workspace)
	if s.Workspace == "" {
		return &sdk.Error{Code: "NO_WORKSPACE", Message: "no workspace"}
	}
	return nil
}
func (w *watcher) Close(_ context.Context, id string) { w.heard = append(w.heard, "close "+id) }

func TestSessionsAreAnnounced(t *testing.T) {
	t.Parallel()
	w := &watcher{}
	p := plugintest.Run(t, serves(sdk.Services{Sessions: w}), plugintest.Host{})
	if err := p.OpenSession(t.Context(), compaction.Session{ID: "a", Workspace: "/w"}); err != nil {
		t.Error(err)
	}
	var own *sdk.Error
	if err := p.OpenSession(t.Context(), compaction.Session{ID: "b"}); !errors.As(err, &own) || own.Code != "NO_WORKSPACE" {
		t.Errorf("open without a workspace: %v", err)
	}
	for range 2 {
		if err := p.CloseSession(t.Context(), "a"); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Join(w.heard, ", "); got != "open a /w, open b , close a, close a" {
		t.Errorf("heard: %s", got)
	}
}
