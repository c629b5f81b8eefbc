package guards

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// CodeAnnounced is how a turn ends whose model only ever announces.
const CodeAnnounced = "ANNOUNCED"

const (
	// nudgeRecord is the kind of the records that nudges are counted by.
	nudgeRecord = "nudge"
	// rowsPerTurn bounds the nudges of one turn: that many times those of a row.
	rowsPerTurn = 3
	// lookBack bounds how many events are read to count them.
	lookBack = 500
)

const (
	stepNudge = "Your answer ends with a step that you announce, but it holds no call, so nothing was done and the turn would end here. " +
		"Take the step now: make the call itself. If nothing is left to do, or something keeps you from it, " +
		"answer with a report of what is done and what is not, and announce nothing."
	callNudge = "Your answer writes a tool call out as text. Text calls nothing, so nothing was done and the turn would end here. " +
		"Make the call through the tool interface now. If nothing is left to do, or something keeps you from it, " +
		"answer with a report of what is done and what is not."
)

// TurnStopping looks at the answer that is about to end a turn. One that announces
// a step gets a nudge; after Nudges of them without a call in between the turn ends
// as blocked. Where the log cannot be read nothing is held up.
func (g *Guards) TurnStopping(ctx context.Context, at hook.Where) (hook.StopDecision, error) {
	if g.config.Nudges == 0 {
		return hook.StopDecision{}, nil
	}
	found, err := g.lastAnswer(ctx, at)
	if err != nil || found == nothing {
		return hook.StopDecision{}, g.passOver(ctx, err)
	}
	row, turn, err := g.nudged(ctx, at)
	if err != nil {
		return hook.StopDecision{}, g.passOver(ctx, err)
	}
	if row >= g.config.Nudges || turn >= g.config.Nudges*rowsPerTurn {
		return hook.StopDecision{Stop: &hook.Stop{Code: CodeAnnounced, Message: fmt.Sprintf(
			"the model announced a step and did not take it, also after %d reminders; prompt it again, or try a model that calls tools reliably", max(row, g.config.Nudges))}}, nil
	}
	data, _ := json.Marshal(nudge{Turn: at.Turn})
	if err := g.host.Session(at.Session).PutRecord(ctx, nudgeRecord, "", data); err != nil {
		return hook.StopDecision{}, g.passOver(ctx, err)
	}
	if found == typedCall {
		return hook.StopDecision{Continue: callNudge}, nil
	}
	return hook.StopDecision{Continue: stepNudge}, nil
}

// nudge is a record of one.
type nudge struct {
	Turn int `json:"turn"`
}

// lastAnswer judges the newest answer of the turn.
func (g *Guards) lastAnswer(ctx context.Context, at hook.Where) (finding, error) {
	access := g.host.Session(at.Session)
	for e, err := range access.Events(ctx, session.Query{Kinds: []session.Kind{session.KindMessageAssistant}, Reverse: true, Limit: 1}) {
		if err != nil {
			return nothing, err
		}
		answer, err := session.Decode[session.Assistant](e)
		if err != nil || e.Turn != at.Turn || answer.Message == nil || answer.Stop == llm.StopMaxTokens || len(answer.Message.Calls()) > 0 {
			return nothing, err
		}
		return judge(answer.Message.Text(), func() []string { return g.tools(ctx, at.Session) }), nil
	}
	return nothing, nil
}

// tools are the names of those that the model was offered.
func (g *Guards) tools(ctx context.Context, id string) []string {
	var names []string
	for e, err := range g.host.Session(id).Events(ctx, session.Query{Kinds: []session.Kind{session.KindRequestHeader}, Reverse: true, Limit: 1}) {
		if err != nil {
			return nil
		}
		header, _ := session.Decode[session.Header](e)
		for _, t := range header.Tools {
			names = append(names, t.Name)
		}
	}
	return names
}

// nudged counts the nudges of the turn, and those since its last call.
func (g *Guards) nudged(ctx context.Context, at hook.Where) (row, turn int, err error) {
	acted := false
	kinds := []session.Kind{session.KindMessageAssistant, session.KindRecord, session.KindTurnStarted}
	for e, err := range g.host.Session(at.Session).Events(ctx, session.Query{Kinds: kinds, Reverse: true, Limit: lookBack}) {
		if err != nil {
			return 0, 0, err
		}
		switch e.Kind {
		case session.KindTurnStarted:
			return row, turn, nil
		case session.KindMessageAssistant:
			answer, err := session.Decode[session.Assistant](e)
			acted = acted || err == nil && answer.Message != nil && len(answer.Message.Calls()) > 0
		case session.KindRecord:
			r, err := session.Decode[session.Record](e)
			var n nudge
			if err != nil || r.Plugin != Name || r.Kind != nudgeRecord || json.Unmarshal(r.Data, &n) != nil || n.Turn != at.Turn {
				continue
			}
			turn++
			if !acted {
				row++
			}
		}
	}
	return row, turn, nil
}

// passOver lets the turn end where the guard cannot do its work.
func (g *Guards) passOver(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	g.logger.Warn("the guard against announced steps cannot read or write the session; the turn ends unwatched", "error", err)
	return nil
}
