package fold_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// TestC19_TheBreakdownAddsUpToTheEstimate whatever stands on the surface.
func TestC19_TheBreakdownAddsUpToTheEstimate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := draw(rt, moves).s
		b := s.Breakdown()
		if sum := b.System + b.Tools + b.Owner + b.Notices + b.Checkpoint + b.Assistant + b.Results; sum != s.Estimate() {
			rt.Fatalf("%+v adds up to %d, the estimate is %d", b, sum, s.Estimate())
		}
		tokens := 0
		for _, turn := range s.Turns() {
			tokens += turn.Tokens
			if turn.From > turn.To || s.Surface.Index(turn.From) < 0 || s.Surface.Index(turn.To) < 0 {
				rt.Fatalf("from %d to %d", turn.From, turn.To)
			}
		}
		if tokens != s.Scale(s.Surface.Tokens) {
			rt.Fatalf("the turns have %d tokens, the surface %d", tokens, s.Scale(s.Surface.Tokens))
		}
	})
}

func said(source session.Source, text string) session.Event {
	return session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, text), Source: source}).On(appendOp)
}

// TestC19_EachMessageCountsWhereItBelongs and each turn says what it was about.
func TestC19_EachMessageCountsWhereItBelongs(t *testing.T) {
	t.Parallel()
	events := []session.Event{created()}
	events = append(events, turn(1, system("sys"), session.New(session.KindRequestHeader, session.Header{Tools: []llm.Tool{{Name: "t", Schema: json.RawMessage(`{}`)}}}),
		said(session.SourceContext, "now"), said(session.SourceOwner, "\nfirst line\nsecond"), assistant("a", llm.Usage{}, "x", "y"), result("x", "r"), result("y", "r"), assistant("b", llm.Usage{}))...)
	events = append(events, turn(2, said(session.SourceHost, "mark"), said(session.SourceSteer, "steer"), assistant("c", llm.Usage{}))...)
	// The second result is trimmed and the newest answer condensed in turn 3.
	events = append(events,
		session.New(session.KindToolResult, session.ToolResult{Message: llm.ToolResult("y", "…", false)}).At(3, 1).On(session.Op{Kind: session.OpReplace, From: 10, To: 10}),
		said(session.SourceCheckpoint, "sum").At(3, 1).On(session.Op{Kind: session.OpReplace, From: 18, To: 18}))
	s := state(t, events...)
	each := func(m *llm.Message) int { return llm.Estimate(m) }
	user := func(text string) int { return each(llm.Text(llm.RoleUser, text)) }
	a, _ := session.Decode[session.Assistant](events[7])
	want := fold.Breakdown{
		System: each(llm.Text(llm.RoleSystem, "sys")), Tools: s.ToolTokens(), Owner: user("\nfirst line\nsecond") + user("steer"), Notices: user("now") + user("mark"),
		Checkpoint: user("sum"), Assistant: each(a.Message) + user("b"), Results: each(llm.ToolResult("x", "r", false)) + each(llm.ToolResult("y", "…", false)),
	}
	if got := s.Breakdown(); got != want || want.Tools == 0 {
		t.Errorf("%+v, want %+v", got, want)
	}
	var outline []fold.TurnOutline
	for _, turn := range s.Turns() {
		if turn.Tokens == 0 {
			t.Errorf("%+v has no tokens", turn)
		}
		turn.Tokens = 0
		outline = append(outline, turn)
	}
	if want := []fold.TurnOutline{
		{Turn: 0, From: 4, To: 4}, {Turn: 1, From: 6, To: 21, Prompt: "first line", Steps: 2, Calls: []string{"t"}},
		{Turn: 2, From: 16, To: 17, Prompt: "steer"}, {Turn: 0, From: 22, To: 22},
	}; !reflect.DeepEqual(outline, want) {
		t.Errorf("%+v", outline)
	}
}
