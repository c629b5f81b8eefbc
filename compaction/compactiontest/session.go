// Package compactiontest runs a strategy against a small session in memory.
package compactiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
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

	id      string
	parent  string
	t       TB
	plugin  string
	mu      sync.Mutex
	events  []session.Event
	surface []node
	turn    int
	base    string // node 0 without the strategy's sections
	resets  int
	calls   int
	invalid error                 // of the first model call since fault that no host would make
	away    error                 // of outline and meter
	paused  func(context.Context) // before an outline
}

// TB is what a test hands over; nil where no test is at hand.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

type node struct {
	session.Node
	message *llm.Message
}

// Start is the time of a session's first event; each later one is a second on.
var Start = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

// New makes the session "s1" of a plugin with node 0 holding prompt.
func New(t TB, plugin, prompt string) *Session { return named(t, "s1", plugin, prompt) }

func named(t TB, id, plugin, prompt string) *Session {
	s := &Session{t: t, id: id, plugin: plugin, base: prompt}
	s.Append(session.New(session.KindSessionCreated, session.Created{ID: id, Workspace: "/work", Time: Start}))
	s.System(prompt)
	return s
}

// fatal ends the test, or the program where there is none.
func (s *Session) fatal(format string, args ...any) {
	if s.t == nil {
		panic(fmt.Sprintf(format, args...))
	}
	s.t.Helper()
	s.t.Fatalf(format, args...)
}

// Copy is a session of its own with the same log, under another id.
func (s *Session) Copy(id string) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &Session{Model: s.Model, Budget: s.Budget, id: id, t: s.t, plugin: s.plugin, base: s.base,
		events: slices.Clone(s.events), surface: slices.Clone(s.surface), turn: s.turn, resets: s.resets}
}

// Spawned makes it the session of a subagent; its parent is another one.
func (s *Session) Spawned(parent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := session.New(session.KindSessionCreated, session.Created{ID: s.id, Workspace: "/work", Time: Start, Parent: parent, Depth: 1})
	e.Seq, e.Time = s.events[0].Seq, s.events[0].Time
	s.events[0], s.parent = e, parent
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

// fold applies an event to the surface.
func (s *Session) fold(e session.Event) {
	if e.Op.Kind == session.OpAppend {
		s.surface = append(s.surface, s.node(e))
		return
	}
	at := func(seq int64) int { return slices.IndexFunc(s.surface, func(n node) bool { return n.Seq == seq }) }
	from, to := at(e.Op.From), at(e.Op.To)
	switch after := at(e.Op.After); {
	case e.Op.Kind == session.OpInsert && after >= 0:
		s.surface = slices.Insert(s.surface, after+1, s.node(e))
	case e.Op.Kind == session.OpReplace && from >= 0 && to >= from:
		s.surface = slices.Replace(s.surface, from, to+1, s.node(e))
	case e.Op.Kind == session.OpDrop && from >= 0 && to >= from:
		s.surface = slices.Delete(s.surface, from, to+1)
	default:
		s.fatal("event %d does not fold: %+v", e.Seq, *e.Op)
	}
}

func (s *Session) node(e session.Event) node {
	var payload struct {
		Message *llm.Message   `json:"message"`
		Source  session.Source `json:"source"`
	}
	if err := json.Unmarshal(e.Data, &payload); err != nil || payload.Message == nil {
		s.fatal("event %d (%s) makes no node: %v", e.Seq, e.Kind, err)
	}
	m := payload.Message
	n := session.Node{Seq: e.Seq, Kind: e.Kind, Turn: e.Turn, Role: m.Role, Source: payload.Source, Tokens: llm.Estimate(m),
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
	return compaction.Session{ID: s.id, Parent: s.parent, Workspace: "/work", Agent: "tureen", Provider: "scripted", Model: "demo",
		Created: Start, Resumed: len(s.events) > 2, Budget: s.Budget, FixedTokens: llm.EstimateText(s.base), Access: s}
}

// Open opens the session with a strategy and shows and records what it asks for.
func (s *Session) Open(strategy compaction.Strategy) compaction.Opening {
	o, err := strategy.Open(context.Background(), s.Opened())
	if err != nil {
		s.fatal("open: %v", err)
	}
	s.Show(o)
	return o
}

// Show shows and records what an opening asks for.
func (s *Session) Show(o compaction.Opening) {
	s.mu.Lock()
	for _, r := range o.Records {
		s.record(r)
	}
	s.mu.Unlock()
	s.System(s.render(o.Sections))
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
	return compaction.Input{Session: s.id, Revision: revision, Trigger: trigger, Attempt: 1, Budget: s.Budget,
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

// fault is what was wrong with a model call, told once.
func (s *Session) fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.invalid
	s.invalid = nil
	return err
}

func (s *Session) nodes() []session.Node {
	var nodes []session.Node
	for _, n := range s.surface {
		nodes = append(nodes, n.Node)
	}
	return nodes
}
