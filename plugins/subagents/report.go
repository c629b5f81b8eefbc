package subagents

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// reportTool hands in a structured result (S4).
const reportTool = "structured_output"

// maxNudges is how often a turn that would end without its result is kept open.
const maxNudges = 2

const (
	textReport = "Hand in the result of your task. Call it once, when all is done: the arguments are the result, and they must fit the schema. The call ends your turn."
	textOwed   = "The agent above you wants your result as data. When you are done, call structured_output once, alone and last; its arguments are your result. " +
		"An answer in words does not count as the result, and nobody reads it in its place."
	textNudge = "Your turn is about to end and you have not handed in your result. Call structured_output now; its arguments are the result. " +
		"If the task cannot be done, say so in the fields that fit best."
)

func reportSpec(schema json.RawMessage) tool.Spec {
	return tool.Spec{Name: reportTool, Description: textReport, Schema: schema, Guidance: textOwed, GuidanceOrder: 1310}
}

// report takes a result: one a turn, and none while subagents are at work whose
// results may belong into it.
func (p *Provider) report(ctx context.Context, call tool.Call) (tool.Result, error) {
	m := p.member(call.Session)
	if m == nil || m.schema == nil {
		return tool.Failed("NOT_OWED", "nobody asked for a structured result here"), nil
	}
	running, err := p.running(ctx, call.Session)
	if err != nil {
		return tool.Result{}, err
	}
	if running > 0 {
		return tool.Failed("SUBAGENTS_AT_WORK", fmt.Sprintf("%s at work; end your turn, and hand in your result once you were told what came of it", subagents(running))), nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	done, err := p.reported(ctx, m, call.Turn)
	if err != nil {
		return tool.Result{}, err
	}
	if done {
		return tool.Failed("REPORTED", "your result is handed in already, and it stands. End your turn"), nil
	}
	m.reported = call.Turn
	return tool.Result{Text: "Your result is handed in.", Note: string(call.Arguments),
		Effects: []tool.Effect{tool.EffectReport, tool.EffectConcludeTurn}}, nil
}

// reported tells whether the result of a turn is there: this process knows of it, or
// the log does. The caller holds m.mu.
func (p *Provider) reported(ctx context.Context, m *member, turn int) (bool, error) {
	if m.reported == turn {
		return true, nil
	}
	q := session.Query{Kinds: []session.Kind{session.KindReport, session.KindTurnStarted}, Reverse: true, Limit: 1}
	for e, err := range p.host.Session(m.id).Events(ctx, q) {
		if err != nil {
			return false, fmt.Errorf("look for an earlier result: %w", err)
		}
		return e.Kind == session.KindReport, nil
	}
	return false, nil
}

func (p *Provider) running(ctx context.Context, id string) (int, error) {
	children, err := p.host.Session(id).Children(ctx)
	n := 0
	for _, c := range children {
		if c.State == session.StateRunning {
			n++
		}
	}
	return n, err
}

// Points implements hook.Hooks.
func (p *Provider) Points() []hook.Point { return []hook.Point{hook.TurnStopping} }

// TurnStopping keeps a turn open whose result is missing, at most twice; then it
// ends as blocked, so that the agent above hears that there is none.
func (p *Provider) TurnStopping(ctx context.Context, at hook.Where) (hook.StopDecision, error) {
	m := p.member(at.Session)
	if m == nil || m.schema == nil {
		return hook.StopDecision{}, nil
	}
	running, err := p.running(ctx, at.Session)
	if err != nil || running > 0 {
		return hook.StopDecision{}, err // their end opens another turn
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	done, err := p.reported(ctx, m, at.Turn)
	if err != nil || done {
		return hook.StopDecision{}, err
	}
	if m.nudged != at.Turn {
		m.nudged, m.nudges = at.Turn, 0
	}
	if m.nudges == maxNudges {
		return hook.StopDecision{Stop: &hook.Stop{Code: "NO_STRUCTURED_RESULT",
			Message: fmt.Sprintf("it gave no structured result, though it was told to %d times", maxNudges)}}, nil
	}
	m.nudges++
	return hook.StopDecision{Continue: textNudge}, nil
}
