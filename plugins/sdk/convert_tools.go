package sdk

import (
	"time"

	"github.com/tureen-host/tureen/host/tool"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

func specTo(s tool.Spec) *pluginv1.ToolSpec {
	concurrency := pluginv1.Concurrency_CONCURRENCY_EXCLUSIVE
	if s.Parallel {
		concurrency = pluginv1.Concurrency_CONCURRENCY_PARALLEL
	}
	return &pluginv1.ToolSpec{
		Name: s.Name, Description: s.Description, Schema: s.Schema, Concurrency: concurrency,
		TimeoutMs: int32(s.Timeout.Milliseconds()), NoSpill: s.NoSpill, Guidance: s.Guidance, GuidanceOrder: int32(s.GuidanceOrder),
	}
}

func specFrom(s *pluginv1.ToolSpec) tool.Spec {
	return tool.Spec{
		Name: s.GetName(), Description: s.GetDescription(), Schema: s.GetSchema(),
		Parallel: s.GetConcurrency() == pluginv1.Concurrency_CONCURRENCY_PARALLEL,
		Timeout:  time.Duration(s.GetTimeoutMs()) * time.Millisecond,
		NoSpill:  s.GetNoSpill(), Guidance: s.GetGuidance(), GuidanceOrder: int(s.GetGuidanceOrder()),
	}
}

func callTo(c tool.Call, at *pluginv1.CallContext) *pluginv1.CallToolRequest {
	return &pluginv1.CallToolRequest{Context: at, CallId: c.ID, Name: c.Name, Arguments: c.Arguments, Room: int32(c.Room),
		Confinement: confinementTo(c.Confinement)}
}

func callFrom(c *pluginv1.CallToolRequest) tool.Call {
	at := c.GetContext()
	return tool.Call{
		Session: at.GetSession(), Turn: int(at.GetTurn()), Step: int(at.GetStep()),
		ID: c.GetCallId(), Name: c.GetName(), Arguments: c.GetArguments(), Room: int(c.GetRoom()),
		Confinement: confinementFrom(c.GetConfinement()),
	}
}

var effects = map[tool.Effect]pluginv1.Effect{
	tool.EffectRequestCompaction: pluginv1.Effect_EFFECT_REQUEST_COMPACTION,
	tool.EffectConcludeTurn:      pluginv1.Effect_EFFECT_CONCLUDE_TURN,
	tool.EffectChangeDirectory:   pluginv1.Effect_EFFECT_CHANGE_DIRECTORY,
	tool.EffectReport:            pluginv1.Effect_EFFECT_REPORT,
}

func resultTo(r tool.Result) *pluginv1.ToolResult {
	return &pluginv1.ToolResult{
		Text: valid(r.Text), IsError: r.IsError, Code: r.Code, Note: valid(r.Note), Contexts: mapSlice(r.Contexts, valid),
		Effects: mapSlice(r.Effects, func(e tool.Effect) pluginv1.Effect { return effects[e] }), LeftOut: r.LeftOut,
	}
}

// resultFrom drops effects that this host does not know.
func resultFrom(r *pluginv1.ToolResult) tool.Result {
	out := tool.Result{Text: r.GetText(), IsError: r.GetIsError(), Code: r.GetCode(), Note: r.GetNote(), Contexts: r.GetContexts(),
		LeftOut: max(0, r.GetLeftOut())}
	for _, wire := range r.GetEffects() {
		for effect, value := range effects {
			if value == wire {
				out.Effects = append(out.Effects, effect)
			}
		}
	}
	return out
}
