// Package compactiontest runs a strategy against a small session in memory.
package compactiontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Session is a log in memory with its surface. It is the session.Access of the
// plugin that New names, and applies proposals in one append as the host does.
type Session struct {
	session.Refusing // of what a strategy has no use for

	// Model answers Generate: prefix is the surface up to the node asked for,
	// followed by the appended messages. nil refuses every call.
	Model func(ctx context.Context, prefix []*llm.Message, g session.Generate) (session.Generated, error)
	// Budget is what Meter and Input tell.
	Budget compaction.Budget
	// Refuse, where not nil, is the error of every read of the log.
	Refuse error

	t       testing.TB
	plugin  string
	mu      sync.Mutex
	events  []session.Event
	surface []node
	turn    int
	base    string // node 0 without the strategy's sections
	resets  int
	calls   int
}

type node struct {
	session.Node
	message *llm.Message
}

// Start is the time of a session's first event; each later one is a second on.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// New makes a session of a plugin with node 0 holding prompt.
func New(t testing.TB, plugin, prompt string) *Session {
	s := &Session{t: t, plugin: plugin, base: prompt}
	s.Append(session.New(session.KindSessionCreated, session.Created{ID: "s1", Workspace: "/work", Time: Start}))
	s.System(prompt)
	return s
}

// Append appends an event; a nil Op leaves the surface alone.
func (s *Session) Append(e session.Event) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.append(e)
}

func (s *Session) append(e session.Event) int64 {
	e.Seq = int64(len(s.events)) + 1
	e.Time = Start.Add(time.Duration(e.Seq) * time.Second)
	s.events = append(s.events, e)
	if e.Op != nil {
		s.fold(e)
	}
	return e.Seq
}

// fold applies an event to the surface. Only append and replace occur here.
func (s *Session) fold(e session.Event) {
	n := s.node(e)
	if e.Op.Kind == session.OpAppend {
		s.surface = append(s.surface, n)
		return
	}
	from := slices.IndexFunc(s.surface, func(n node) bool { return n.Seq == e.Op.From })
	to := slices.IndexFunc(s.surface, func(n node) bool { return n.Seq == e.Op.To })
	if e.Op.Kind != session.OpReplace || from < 0 || to < from {
		s.t.Fatalf("event %d does not fold: %+v", e.Seq, *e.Op)
	}
	s.surface = slices.Replace(s.surface, from, to+1, n)
}

func (s *Session) node(e session.Event) node {
	var payload struct {
		Message *llm.Message   `json:"message"`
		Source  session.Source `json:"source"`
	}
	if err := json.Unmarshal(e.Data, &payload); err != nil || payload.Message == nil {
		s.t.Fatalf("event %d (%s) makes no node: %v", e.Seq, e.Kind, err)
	}
	m := payload.Message
	n := session.Node{Seq: e.Seq, Kind: e.Kind, Role: m.Role, Source: payload.Source, Tokens: llm.Estimate(m),
		CallID: m.CallID, Chars: utf8.RuneCountInString(m.Text())}
	for _, c := range m.Calls() {
		n.CallIDs = append(n.CallIDs, c.ID)
	}
	return node{Node: n, message: m}
}

func (s *Session) say(kind session.Kind, payload any) int64 {
	return s.Append(session.New(kind, payload).At(s.turn, 1).On(session.Op{Kind: session.OpAppend}))
}

// System renders node 0 anew.
func (s *Session) System(text string) int64 {
	e := session.New(session.KindMessageSystem, session.Message{Message: llm.Text(llm.RoleSystem, text)})
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.surface) == 0 {
		return s.append(e.On(session.Op{Kind: session.OpAppend}))
	}
	return s.append(e.On(session.Op{Kind: session.OpReplace, From: s.surface[0].Seq, To: s.surface[0].Seq}))
}

// Turn opens a turn.
func (s *Session) Turn() { s.turn++; s.Append(session.New(session.KindTurnStarted, nil).At(s.turn, 0)) }

// EndTurn closes it.
func (s *Session) EndTurn(r session.Reason) {
	s.Append(session.New(session.KindTurnEnded, session.TurnEnded{Reason: r}).At(s.turn, 0))
}

// User appends a user message.
func (s *Session) User(source session.Source, text string) int64 {
	return s.say(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, text), Source: source})
}

// Assistant appends an answer with calls, and their starts as one wave.
func (s *Session) Assistant(text string, calls ...llm.ToolCall) int64 {
	m := llm.Text(llm.RoleAssistant, text)
	for _, c := range calls {
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &c})
	}
	seq := s.say(session.KindMessageAssistant, session.Assistant{Message: m})
	for _, c := range calls {
		s.Append(session.New(session.KindToolStarted, session.ToolStarted{CallID: c.ID, Name: c.Name}).At(s.turn, 1))
	}
	return seq
}

// Result appends the answer to a call.
func (s *Session) Result(id, name, text string, isError bool) int64 {
	return s.say(session.KindToolResult, session.ToolResult{Message: llm.ToolResult(id, text, isError), Name: name})
}

// Exchange appends a call and its result.
func (s *Session) Exchange(id, name, arguments, result string) int64 {
	s.Assistant("", llm.ToolCall{ID: id, Name: name, Arguments: arguments})
	return s.Result(id, name, result, false)
}

// Opened is the session as a strategy is told of it.
func (s *Session) Opened() compaction.Session {
	return compaction.Session{ID: "s1", Workspace: "/work", Agent: "tureen", Provider: "scripted", Model: "demo",
		Created: Start, Resumed: len(s.events) > 2, Budget: s.Budget, FixedTokens: llm.EstimateText(s.base), Access: s}
}

// Open opens the session with a strategy and shows and records what it asks for.
func (s *Session) Open(strategy compaction.Strategy) compaction.Opening {
	s.t.Helper()
	o, err := strategy.Open(context.Background(), s.Opened())
	if err != nil {
		s.t.Fatalf("open: %v", err)
	}
	s.mu.Lock()
	for _, r := range o.Records {
		s.record(r)
	}
	s.mu.Unlock()
	s.System(s.render(o.Sections))
	return o
}

// Input asks about the surface as it stands.
func (s *Session) Input(trigger session.Trigger) compaction.Input {
	s.mu.Lock()
	nodes, revision := s.nodes(), int64(len(s.events))
	s.mu.Unlock()
	measured := 0
	for _, n := range nodes {
		measured += n.Tokens
	}
	return compaction.Input{Session: "s1", Revision: revision, Trigger: trigger, Attempt: 1, Budget: s.Budget,
		Measured: measured, Source: "estimate", TurnOpen: trigger != session.TriggerManual, Seed: 7,
		Time: Start.Add(time.Hour + time.Duration(revision)*time.Minute), Access: s,
		Outline: func(yield func(session.Node, error) bool) {
			for _, n := range nodes {
				if !yield(n, nil) {
					return
				}
			}
		}}
}

// Compact proposes, checks and applies; it returns the proposal.
func (s *Session) Compact(strategy compaction.Strategy, in compaction.Input) compaction.Proposal {
	s.t.Helper()
	p, err := strategy.Propose(context.Background(), in)
	if err != nil {
		s.t.Fatalf("propose: %v", err)
	}
	if !p.IsZero() {
		s.Apply(p, in.Trigger)
	}
	return p
}

// Apply checks a proposal of replacements and commits it in one append.
func (s *Session) Apply(p compaction.Proposal, trigger session.Trigger) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes := s.nodes()
	if err := compaction.Check(nodes, p, int64(len(s.events)), nil); err != nil {
		s.t.Fatalf("the host would refuse this: %v", err)
	}
	s.resets++
	s.append(session.New(session.KindCompactionStarted, session.CompactionStarted{Ordinal: s.resets, Strategy: s.plugin,
		Kind: string(p.Kind), Trigger: trigger, Attempt: 1, Revision: p.Revision}))
	for _, r := range p.Records {
		s.record(r)
	}
	for _, e := range p.Edits {
		if e.Replace == nil || len(e.Replace.Messages) != 1 {
			s.t.Fatal("only edits that replace a span by one message are applied here")
		}
		s.append(session.New(session.KindMessageUser, session.Message{Message: e.Replace.Messages[0], Source: session.SourceCheckpoint}).
			At(s.turn, 1).On(session.Op{Kind: session.OpReplace, From: e.Replace.Span.From, To: e.Replace.Span.To}))
	}
	if p.Refresh {
		s.append(session.New(session.KindMessageSystem, session.Message{Message: llm.Text(llm.RoleSystem, s.render(p.Sections))}).
			On(session.Op{Kind: session.OpReplace, From: s.surface[0].Seq, To: s.surface[0].Seq}))
	}
	s.append(session.New(session.KindCompactionEnded, session.CompactionEnded{Ordinal: s.resets, Boot: p.Boot}))
}

func (s *Session) record(r compaction.Record) {
	s.append(session.New(session.KindRecord, session.Record{Plugin: s.plugin, Kind: r.Kind, Key: r.Key, Data: r.Data}))
}

func (s *Session) render(sections []compaction.Section) string {
	text := s.base
	for _, sec := range sections {
		text += "\n\n" + sec.Text
	}
	return text
}

// Messages is what the model would be sent.
func (s *Session) Messages() []*llm.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var messages []*llm.Message
	for _, n := range s.surface {
		messages = append(messages, n.message)
	}
	return messages
}

// Calls is the number of model calls made through Generate.
func (s *Session) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func (s *Session) nodes() []session.Node {
	var nodes []session.Node
	for _, n := range s.surface {
		nodes = append(nodes, n.Node)
	}
	return nodes
}

// Events implements session.Access.
func (s *Session) Events(_ context.Context, q session.Query) iter.Seq2[session.Event, error] {
	s.mu.Lock()
	events, refuse := slices.Clone(s.events), s.Refuse
	s.mu.Unlock()
	if q.Reverse {
		slices.Reverse(events)
	}
	return func(yield func(session.Event, error) bool) {
		if refuse != nil {
			yield(session.Event{}, refuse)
			return
		}
		n := 0
		for _, e := range events {
			if e.Seq <= q.After || q.Before > 0 && e.Seq >= q.Before || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, e.Kind) {
				continue
			}
			if n++; q.Limit > 0 && n > q.Limit || !yield(e, nil) {
				return
			}
		}
	}
}

// Outline implements session.Access.
func (s *Session) Outline(context.Context) (session.Outline, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return session.Outline{Revision: int64(len(s.events)), Nodes: s.nodes()}, nil
}

// Meter implements session.Access.
func (s *Session) Meter(context.Context) (session.Meter, error) {
	in := s.Input(session.TriggerPressure)
	return session.Meter{Window: s.Budget.Window, Measured: in.Measured, Source: in.Source, ResetAt: s.Budget.ResetAt,
		Reserve: s.Budget.Reserve, Fixed: llm.EstimateText(s.base), Ordinal: s.resets + 1}, nil
}

// Generate implements session.Access.
func (s *Session) Generate(ctx context.Context, g session.Generate) (session.Generated, error) {
	s.mu.Lock()
	s.calls++
	var prefix []*llm.Message
	found := g.SurfaceUntil == 0
	for _, n := range s.surface {
		prefix = append(prefix, n.message)
		if n.Seq == g.SurfaceUntil {
			found = true
			break
		}
	}
	s.mu.Unlock()
	if !found {
		return session.Generated{}, fmt.Errorf("node %d is not on the surface", g.SurfaceUntil)
	}
	if s.Model == nil {
		return session.Generated{}, errors.New("this session lends no model")
	}
	prefix = append(prefix, g.Append...)
	if err := llm.Validate(prefix); err != nil {
		return session.Generated{}, err
	}
	return s.Model(ctx, prefix, g)
}

// Steer implements session.Access.
func (s *Session) Steer(_ context.Context, text, key string, wake bool) error {
	s.Append(session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextStep, Source: session.SourcePlugin,
		From: s.plugin, Text: text, Key: key, Wake: wake}))
	return nil
}

// PutRecord implements session.Access.
func (s *Session) PutRecord(_ context.Context, kind, key string, data json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(compaction.Record{Kind: kind, Key: key, Data: data})
	return nil
}
