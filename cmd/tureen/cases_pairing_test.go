package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/compaction/summary"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// strictServer takes whatever is valid and answers it, and counts what is not.
func strictServer(t *testing.T) (llm.Model, *scripted.Server) {
	t.Helper()
	server, err := scripted.Serve(t.Context(), scripted.Options{ContextWindow: 1 << 20, Agent: always{Text: "ok"}, KeepBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	client, err := openai.New(openai.Config{Provider: "scripted", BaseURL: server.BaseURL()})
	if err != nil {
		t.Fatal(err)
	}
	return client, server
}

// sent sends what stands on a surface, followed by a word of the person.
func sent(ctx context.Context, model llm.Model, messages []*llm.Message) error {
	messages = append(slices.Clip(messages), llm.Text(llm.RoleUser, "Go on."))
	tools := []llm.Tool{{Name: "read", Description: "reads", Schema: json.RawMessage(`{"type":"object"}`)}}
	for _, err := range model.Stream(ctx, llm.Request{Model: "scripted", Messages: messages, MaxOutputTokens: 100, Tools: tools}) {
		if err != nil {
			return err
		}
	}
	return nil
}

// history writes a conversation of turns, each with steps of one to four calls.
func history(rt *rapid.T, s *compactiontest.Session) {
	calls := 0
	for range rapid.IntRange(1, 3).Draw(rt, "turns") {
		s.Turn()
		s.User(session.SourceOwner, strings.Repeat("Do the next part. ", rapid.IntRange(1, 20).Draw(rt, "words")))
		for range rapid.IntRange(0, 4).Draw(rt, "steps") {
			var batch []llm.ToolCall
			for range rapid.IntRange(1, 4).Draw(rt, "calls") {
				calls++
				batch = append(batch, llm.ToolCall{ID: fmt.Sprintf("call-%d", calls), Name: "read", Arguments: `{"file_path":"a"}`})
			}
			s.Assistant("", batch...)
			for _, c := range batch {
				s.Result(c.ID, c.Name, strings.Repeat("found ", rapid.IntRange(1, 300).Draw(rt, "found")), rapid.Bool().Draw(rt, "error"))
			}
			if rapid.Bool().Draw(rt, "steered") {
				s.User(session.SourceSteer, "Mind the gap.")
			}
		}
		s.Assistant("This part is done.")
		s.EndTurn(session.ReasonCompleted)
	}
}

func surfaceOf(t *testing.T, events iter.Seq2[session.Event, error]) *fold.Surface {
	t.Helper()
	state := fold.New()
	for e, err := range events {
		if err == nil {
			err = state.Apply(e)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return &state.Surface
}

// cutsABatch tells whether a call stands on one side of a span and its result, or
// another call of the same answer, on the other.
func cutsABatch(nodes []fold.Node, from, to int) bool {
	within := func(i int) bool { return from <= i && i <= to }
	for i, n := range nodes {
		for _, id := range n.CallIDs {
			at := slices.IndexFunc(nodes, func(n fold.Node) bool { return n.CallID == id })
			if within(i) != within(at) {
				return true
			}
		}
	}
	return false
}

// Any history and any two places in it: what lies between them is dropped, or
// condensed, only where no batch is cut, and what is left can always be sent.
func TestP1_C032_NoCutPartsACallFromItsResult(t *testing.T) {
	t.Parallel()
	model, server := strictServer(t)
	rapid.Check(t, func(rt *rapid.T) {
		s := compactiontest.New(t, "any", "You work.")
		history(rt, s)
		surface := surfaceOf(t, s.Events(t.Context(), session.Query{}))
		outline, nodes := surface.Outline(), surface.Nodes
		sample := rapid.IntRange(0, len(nodes)*len(nodes)/2).Draw(rt, "sample")
		for from := 1; from < len(nodes); from++ {
			for to := from; to < len(nodes); to++ {
				span := compaction.Span{From: nodes[from].Seq, To: nodes[to].Seq}
				for _, edit := range []compaction.Edit{{Drop: &span}, {Replace: &compaction.Replace{Span: span, Messages: []*llm.Message{llm.Text(llm.RoleUser, ".")}}}} {
					whole := from == 1 && to == len(nodes)-1
					err := compaction.Check(outline, compaction.Proposal{Revision: 1, Kind: compaction.KindSummary, Edits: []compaction.Edit{edit}}, 1, nil)
					switch refusal := compaction.RefusalOf(err); {
					case cutsABatch(nodes, from, to) != (refusal == compaction.RefusedPair):
						rt.Fatalf("nodes %d to %d of %d: %v", from, to, len(nodes), err)
					case err != nil && refusal != compaction.RefusedPair && refusal != compaction.RefusedSize && !(whole && edit.Drop != nil):
						rt.Fatalf("nodes %d to %d of %d: %v", from, to, len(nodes), err)
					case err != nil:
						continue
					}
					left := edited(rt, surface, edit)
					if unasked(left) {
						continue // the host tries it and refuses
					}
					if err := llm.Validate(append(left, llm.Text(llm.RoleUser, "Go on."))); err != nil {
						rt.Fatalf("without nodes %d to %d of %d: %v", from, to, len(nodes), err)
					}
					if sample--; sample == 0 {
						if err := sent(t.Context(), model, left); err != nil {
							rt.Fatal(err)
						}
					}
				}
			}
		}
	})
	if n := server.Stats(); n.Refused > 0 || n.Requests == 0 {
		t.Errorf("%+v", n)
	}
}

// unasked tells whether an answer follows what is no question.
func unasked(messages []*llm.Message) bool {
	for i, m := range messages {
		if m.Role == llm.RoleAssistant && (i < 2 || messages[i-1].Role == llm.RoleAssistant) {
			return true
		}
	}
	return false
}

// edited is what an edit leaves.
func edited(rt *rapid.T, s *fold.Surface, e compaction.Edit) []*llm.Message {
	s = s.Clone()
	event := session.New(session.KindNodesDropped, struct{}{})
	if e.Drop != nil {
		event = event.On(session.Op{Kind: session.OpDrop, From: e.Drop.From, To: e.Drop.To})
	} else {
		event = session.New(session.KindMessageUser, session.Message{Message: e.Replace.Messages[0]}).
			On(session.Op{Kind: session.OpReplace, From: e.Replace.Span.From, To: e.Replace.Span.To})
	}
	event.Seq = 1 << 40
	if err := s.Apply(event); err != nil {
		rt.Fatal(err)
	}
	return s.Messages(0)
}

// Whatever the strategies propose for any history, at any place where a trigger can
// come, can be sent to a strict server.
func TestP1_C032_EveryStrategyLeavesWholeBatches(t *testing.T) {
	t.Parallel()
	model, server := strictServer(t)
	tree, err := notes.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close() })
	workspace := t.TempDir()
	shelf := func(s compaction.Session) (*notes.Store, error) {
		return tree.Store(notes.Who{Session: s.ID, Created: s.Created, Agent: s.Agent, Provider: s.Provider, Model: s.Model, Workspace: workspace})
	}
	budget, err := compaction.Resolve(compaction.BudgetConfig{}, 1<<16, 1000, "test")
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		ratio := rapid.Float64Range(0, 0.5).Draw(rt, "kept")
		trigger := rapid.SampledFrom([]session.Trigger{session.TriggerPressure, session.TriggerStopping, session.TriggerRequested, session.TriggerOverflow, session.TriggerManual}).Draw(rt, "trigger")
		for _, c := range []struct {
			name string
			compaction.Strategy
		}{
			{"notesoup", notesoup.New(notesoup.Config{Carry: notesoup.CarryRequest}, shelf)},
			{"summary", summary.New(summary.Config{RetainRatio: &ratio})},
			{"trims", trims{}},
		} {
			name, strategy := c.name, c.Strategy
			s := compactiontest.New(t, name, "You work.")
			s.Budget = budget
			s.Model = func(context.Context, []*llm.Message, session.Generate) (session.Generated, error) {
				return session.Generated{Message: llm.Text(llm.RoleAssistant, "So far so good."), Stop: llm.StopEnd}, nil
			}
			s.Open(strategy)
			history(rt, s)
			p, err := strategy.Propose(t.Context(), s.Input(trigger))
			if err != nil || p.IsZero() {
				continue // an answer that is no smaller, a tail that fills the room
			}
			made[name]++
			surface := surfaceOf(t, s.Events(t.Context(), session.Query{}))
			if err := compaction.Check(surface.Outline(), p, p.Revision, nil); err != nil {
				rt.Fatalf("%s: %v", name, err)
			}
			left := surface.Messages(0)
			for _, e := range p.Edits {
				if e.Trim == nil {
					left = edited(rt, surface, e)
					continue
				}
				at := surface.Index(e.Trim.Node)
				m := *left[at]
				m.Blocks = []llm.Block{{Kind: llm.BlockText, Text: compaction.TrimText(m.Text(), e.Trim.Head, e.Trim.Tail)}}
				left[at] = &m
			}
			if err := sent(t.Context(), model, left); err != nil {
				rt.Fatalf("%s on %s: %v", name, trigger, err)
			}
		}
	})
	if n := server.Stats(); n.Refused > 0 || made["notesoup"] == 0 || made["summary"] == 0 || made["trims"] == 0 {
		t.Errorf("%+v after proposals %v", n, made)
	}
}

// trims is a strategy that trims every tool result that is long enough.
type trims struct{}

func (trims) Open(context.Context, compaction.Session) (compaction.Opening, error) {
	return compaction.Opening{}, nil
}

func (trims) Propose(_ context.Context, in compaction.Input) (compaction.Proposal, error) {
	p := compaction.Proposal{Revision: in.Revision, Kind: compaction.KindTrim}
	for n, err := range in.Outline {
		if err != nil {
			return p, err
		}
		if n.Role == llm.RoleTool && n.Chars > 1000 {
			p.Edits = append(p.Edits, compaction.Edit{Trim: &compaction.Trim{Node: n.Seq, Head: 400, Tail: 400}})
		}
	}
	return p, nil
}

// A batch of three: one call succeeds, the plugin of one answers with an error of the
// wire, the plugin of one dies of a panic. Each has its result, in the order of the
// calls, and the session goes on.
func TestP1_C035_EveryCallOfABatchHasItsResult(t *testing.T) {
	t.Parallel()
	for name, order := range map[string][]string{
		"ok first": {"shell", "errs", "panics"}, "ok last": {"panics", "errs", "shell"}, "twice": {"errs", "shell", "errs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls []any
			for i, tool := range order {
				arguments := object{}
				if tool == "shell" {
					arguments = effect(fmt.Sprintf("c1-%d", i))
				}
				calls = append(calls, tool, arguments)
			}
			rows := ""
			p := planned(t, user(t), []scripted.Reply{batch(1, calls...), batch(2, "shell", effect("c2-0")), {Text: "Done."}})
			for _, fault := range []string{"errs", "panics"} {
				rows += fmt.Sprintf("[[plugins]]\nuse = %q\n", faulty(t, p.sandbox, fault))
			}
			write(t, p.path("work", "crash.toml"), crashProfile+rows)
			p.files = append(slices.Clone(planFiles), "errs", "panics")
			if r := p.ends(t, 0, ""); r.Text != "Done." {
				t.Errorf("%+v", r)
			}
			var results []session.ToolResult
			for _, e := range find(t, p.log(t), session.KindToolResult, func(session.ToolResult) bool { return true }) {
				r, _ := session.Decode[session.ToolResult](e)
				results = append(results, r)
			}
			if len(results) != 4 {
				t.Fatalf("%d results, want 4", len(results))
			}
			for i, tool := range order {
				r := results[i]
				if r.Message.CallID != fmt.Sprintf("c1-%d", i) || r.Name != tool || r.Message.IsError != (tool != "shell") || len(r.Message.Text()) > 1000 || r.Message.Text() == "" {
					t.Errorf("result %d of %s: %s %v %q", i, tool, r.Message.CallID, r.Message.IsError, r.Message.Text())
				}
			}
			if f := p.audit(t, p.lastSession()); !f.none() || p.server.Stats().Refused > 0 {
				t.Errorf("%s; %+v", f.String(), p.server.Stats())
			}
		})
	}
}

// One answer with the same id twice, or with an id that an earlier answer had: every
// call runs once and is answered, and the ids are unique on the wire.
func TestP2_C042_OneIdForSeveralCalls(t *testing.T) {
	t.Parallel()
	same := func(n int, calls ...any) scripted.Reply {
		r := batch(n, calls...)
		for i := range r.Calls {
			r.Calls[i].ID = "call_x"
		}
		return r
	}
	ran := func(n int) object {
		return object{"description": "run", "command": fmt.Sprintf("echo %d >> ran.txt", n)}
	}
	p := planned(t, user(t), []scripted.Reply{same(1, "shell", ran(1), "shell", ran(2), "read", reads("a.md")), same(2, "shell", ran(3)), {Text: "Done."}})
	p.ends(t, 0, "")
	if got, _ := os.ReadFile(p.path("work", "ran.txt")); string(got) != "1\n2\n3\n" {
		t.Errorf("the commands left %q", got)
	}
	f := auditLog(p.log(t), nil)
	if !f.none() || p.server.Stats().Refused > 0 {
		t.Errorf("%s; %+v", f.String(), p.server.Stats())
	}
	bodies := p.server.Requests()
	ids := wireIDs(t, bodies[len(bodies)-1])
	if unique := slices.Compact(slices.Sorted(slices.Values(ids.calls))); len(ids.calls) != 4 || len(unique) != 4 || !slices.Equal(ids.calls, ids.results) {
		t.Errorf("calls %q, results %q", ids.calls, ids.results)
	}
}

type onWire struct{ calls, results []string }

// wireIDs are the ids of calls and of results in a body, in order.
func wireIDs(t *testing.T, body []byte) (ids onWire) {
	t.Helper()
	var b struct {
		Messages []struct {
			CallID string `json:"tool_call_id"`
			Calls  []struct {
				ID string `json:"id"`
			} `json:"tool_calls"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&b); err != nil {
		t.Fatal(err)
	}
	for _, m := range b.Messages {
		for _, c := range m.Calls {
			ids.calls = append(ids.calls, c.ID)
		}
		if m.CallID != "" {
			ids.results = append(ids.results, m.CallID)
		}
	}
	return ids
}
