package subagents_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
	"github.com/tureen-host/tureen/plugins/subagents"
)

// house is a host with its sessions. A subagent's session is opened in the plugin
// when it is spawned and closed when it settles, as a host does it.
type house struct {
	t      *testing.T
	plugin *plugintest.Plugin
	access map[string]*lent

	mu  sync.Mutex
	ids int
}

// lent is what the house lends of one session.
type lent struct {
	session.Refusing
	house    *house
	id       string
	depth    int
	events   []session.Event
	children []session.Child
	told     []string
	spawned  []session.Spawn
	refuse   error // of the next Spawn
}

// maxSessions is how many sessions a test may need: the host lends only those that
// are known when it starts.
const maxSessions = 40

func open(t *testing.T, config string) *house {
	t.Helper()
	h := &house{t: t, access: map[string]*lent{}}
	lends := plugintest.Host{Config: json.RawMessage(config)}
	for i := range maxSessions {
		id := fmt.Sprintf("s%d", i)
		h.access[id] = &lent{house: h, id: id}
		lends.Sessions = append(lends.Sessions, compaction.Session{ID: id, Workspace: "/w", Access: h.access[id]})
	}
	h.plugin = plugintest.Run(t, subagents.Plugin("test"), lends)
	for id := range h.access { // only s0 is open; the others will be
		if id != "s0" {
			if err := h.plugin.CloseSession(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
	}
	return h
}

func (l *lent) Spawn(ctx context.Context, s session.Spawn) (session.Child, error) {
	l.house.mu.Lock()
	defer l.house.mu.Unlock()
	if l.refuse != nil {
		err := l.refuse
		l.refuse = nil
		return session.Child{}, err
	}
	l.spawned = append(l.spawned, s)
	l.house.ids++
	c := session.Child{ID: fmt.Sprintf("s%d", l.house.ids), Label: s.Label, Depth: l.depth + 1, State: session.StateRunning}
	l.children = append(l.children, c)
	l.house.access[c.ID].depth = c.Depth
	return c, l.house.plugin.OpenSession(ctx, compaction.Session{ID: c.ID, Workspace: "/w", Parent: l.id, Depth: c.Depth, Spawn: s.Data})
}

// settle ends a subagent of a session.
func (h *house) settle(of, id string) {
	h.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.access[of].children {
		if c := &h.access[of].children[i]; c.ID == id {
			c.State, c.Reason = session.StateSettled, session.ReasonCompleted
		}
	}
	if err := h.plugin.CloseSession(h.t.Context(), id); err != nil {
		h.t.Error(err)
	}
}

func (l *lent) Children(context.Context) ([]session.Child, error) {
	l.house.mu.Lock()
	defer l.house.mu.Unlock()
	return slices.Clone(l.children), nil
}

func (l *lent) Tell(_ context.Context, to, text string) error {
	l.house.mu.Lock()
	defer l.house.mu.Unlock()
	l.told = append(l.told, to+": "+text)
	return nil
}

func (l *lent) Interrupt(_ context.Context, id string) error {
	l.house.mu.Lock()
	defer l.house.mu.Unlock()
	if !slices.ContainsFunc(l.children, func(c session.Child) bool { return c.ID == id && c.State == session.StateRunning }) {
		return errors.New(id + " is not at work")
	}
	return nil
}

func (l *lent) add(e session.Event) {
	l.house.mu.Lock()
	defer l.house.mu.Unlock()
	e.Seq = int64(len(l.events) + 1)
	l.events = append(l.events, e)
}

func (l *lent) Records(_ context.Context, kind string) iter.Seq2[session.Event, error] {
	l.house.mu.Lock()
	defer l.house.mu.Unlock()
	return compactiontest.Records(l.events, subagents.Name, kind)
}

func (l *lent) PutRecord(_ context.Context, kind, key string, data json.RawMessage) error {
	l.add(session.New(session.KindRecord, session.Record{Plugin: subagents.Name, Kind: kind, Key: key, Data: data}))
	return nil
}

func (l *lent) Events(_ context.Context, q session.Query) iter.Seq2[session.Event, error] {
	l.house.mu.Lock()
	events := slices.Clone(l.events)
	l.house.mu.Unlock()
	slices.Reverse(events)
	return func(yield func(session.Event, error) bool) {
		for _, e := range events { // every question here is in reverse
			if slices.Contains(q.Kinds, e.Kind) && (q.Before == 0 || e.Seq < q.Before) && !yield(e, nil) {
				return
			}
		}
	}
}

type args = map[string]any

func (h *house) call(id, name string, a args) tool.Result {
	h.t.Helper()
	return h.callIn(1, id, name, a)
}

func (h *house) callIn(turn int, id, name string, a args) tool.Result {
	raw, err := json.Marshal(a)
	if err != nil {
		h.t.Error(err)
	}
	r, err := h.plugin.Tools().Call(h.t.Context(), tool.Call{Session: id, ID: "c", Name: name, Arguments: raw, Turn: turn}, func(string) {})
	if err != nil {
		h.t.Error(err)
	}
	return r
}

// says calls a tool and wants a piece of text in the answer.
func (h *house) says(want, id, name string, a args) {
	h.t.Helper()
	if r := h.call(id, name, a); !strings.Contains(r.Text, want) {
		h.t.Errorf("%s %s %v: %q, want %q", id, name, a, r.Text, want)
	}
}

var job = args{"task": "do it", "label": "a job"}

// TestC139_DepthTotalAndActiveHoldInTheTree: each refusal says the numbers and what to
// do, and what has ended makes room for another.
func TestC139_DepthTotalAndActiveHoldInTheTree(t *testing.T) {
	t.Parallel()
	h := open(t, `{"max_depth": 2, "max_active": 3, "max_total": 5}`)
	h.says("Started subagent s1.", "s0", "subagent", job)
	h.says("Started subagent s2.", "s1", "subagent", job)
	h.says("Error: no subagent was started: this session is at level 2 below the person's own, and 2 is the most. Do the work yourself", "s2", "subagent", job)
	h.says("Started subagent s3.", "s1", "subagent", job)
	h.says("Error: 3 subagents are at work, and 3 is the most at once.", "s0", "subagent", job)
	h.settle("s1", "s3")
	h.access["s0"].refuse = errors.New("no room on this machine")
	h.says("Error: no subagent was started: no room on this machine", "s0", "subagent", job)
	h.says("Started subagent s4.", "s0", "subagent", job)
	h.settle("s1", "s2")
	h.settle("s0", "s1")
	h.says("Started subagent s5.", "s0", "subagent", job)
	h.says("Error: no subagent was started: there were 5 already, which is all that there may be.", "s0", "subagent", job)
	h.says("Started in all: 5 of at most 5.", "s0", "list_agents", args{})
}

// TestC139_TheTotalOutlivesTheProcess: another process reads it from the log.
func TestC139_TheTotalOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	h := open(t, `{"max_total": 2}`)
	h.says("Started", "s0", "subagent", job)
	h.says("Started", "s0", "subagent", job)
	again := open(t, `{"max_total": 2}`)
	again.access["s0"].events = append([]session.Event{session.New(session.KindRecord, session.Record{Plugin: "other", Kind: "started", Data: json.RawMessage("0")})}, h.access["s0"].events...)
	again.says("Error: no subagent was started: there were 2 already", "s0", "subagent", job)
}

// TestL9_C139_ABranchCountsItsOwn: what was started in the session that it was made
// from is none of its tree.
func TestL9_C139_ABranchCountsItsOwn(t *testing.T) {
	t.Parallel()
	h := open(t, `{"max_total": 2}`)
	h.access["s0"].add(session.New(session.KindSessionCreated, session.Created{ID: "s0", Origin: &session.Origin{Session: "other", Seq: 2, How: session.HowFork}}))
	if err := h.access["s0"].PutRecord(t.Context(), "started", "", json.RawMessage("2")); err != nil {
		t.Fatal(err)
	}
	h.says("Started in all: 0 of at most 2.", "s0", "list_agents", args{})
	h.says("Started", "s0", "subagent", job)
	again := open(t, `{"max_total": 2}`)
	again.access["s0"].events = h.access["s0"].events
	again.says("Started in all: 1 of at most 2.", "s0", "list_agents", args{})
}

// TestS1_ManyAtTheSameTimeKeepToTheLimit: parallel calls do not slip through together.
func TestS1_ManyAtTheSameTimeKeepToTheLimit(t *testing.T) {
	t.Parallel()
	h := open(t, `{"max_active": 7}`)
	started := make(chan bool, 30)
	var calls sync.WaitGroup
	for range cap(started) {
		calls.Go(func() { started <- !h.callIn(1, "s0", "subagent", job).IsError })
	}
	calls.Wait()
	close(started)
	n := 0
	for ok := range started {
		if ok {
			n++
		}
	}
	if n != 7 {
		t.Errorf("%d were started, want 7", n)
	}
}

// TestS2_AForkCountsAsAnyOther: depth, those at work and the total bind both tools
// together; the host is told that it is a fork; what it refuses is told with its code.
func TestS2_AForkCountsAsAnyOther(t *testing.T) {
	t.Parallel()
	h := open(t, `{"max_active": 2, "max_total": 3}`)
	h.says("Started subagent s1.", "s0", "subagent_fork", job)
	h.says("Started subagent s2.", "s0", "subagent", job)
	h.says("Error: 2 subagents are at work, and 2 is the most at once.", "s0", "subagent_fork", job)
	h.says("Error: no subagent was started: this session is at level 1 below the person's own, and 1 is the most.", "s1", "subagent_fork", job)
	if s := h.access["s0"].spawned; len(s) != 2 || !s[0].Fork || s[1].Fork || s[0].Task != "do it" || s[0].Label != "a job" {
		t.Errorf("spawned %+v", s)
	}
	h.settle("s0", "s1")
	h.access["s0"].refuse = &sdk.Error{Code: "FORK_NOTHING", Message: "there is nothing"}
	if r := h.call("s0", "subagent_fork", job); r.Text != "Error: no subagent was started: there is nothing" || r.Code != "FORK_NOTHING" {
		t.Errorf("a refusal: %+v", r)
	}
	h.says("Error: no subagent was started: output_schema", "s0", "subagent_fork", args{"task": "t", "label": "l", "output_schema": args{"type": "array"}})
	h.says("Started subagent s3.", "s0", "subagent_fork", graded)
	if s := h.access["s0"].spawned; len(s) != 3 || !strings.Contains(string(s[2].Data), "grade") {
		t.Errorf("spawned %+v", s)
	}
	h.settle("s0", "s3")
	h.says("Error: no subagent was started: there were 3 already", "s0", "subagent_fork", job)
}

func TestS4_SchemasThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	h := open(t, `{}`)
	for want, schema := range map[string]any{
		`must have "type": "object" at its root`:  args{"type": "array"},
		`must have "type": "object" at its root `: args{"type": []string{"object"}},
		`"type": "object" at its root;`:           args{},
		"is no JSON Schema":                       args{"type": "object", "properties": args{"a": args{"type": "number", "minimum": "much"}}},
		"is no JSON Schema: ":                     args{"type": "object", "properties": args{"a": args{"$ref": "https://example.com/s.json"}}},
		"more than 32768":                         args{"type": "object", "description": strings.Repeat("x", 33_000)},
	} {
		h.says(strings.TrimSpace(want), "s0", "subagent", args{"task": "t", "label": "l", "output_schema": schema})
	}
	if len(h.access["s0"].children) != 0 {
		t.Error("one was started all the same")
	}
}

var graded = args{"task": "grade", "label": "grade", "output_schema": args{"type": "object", "required": []string{"grade"}, "properties": args{"grade": args{"type": "integer"}}}}

func (h *house) stopping(id string, turn int) hook.StopDecision {
	h.t.Helper()
	d, err := h.plugin.Hooks([]hook.Point{hook.TurnStopping}, "end_turn").TurnStopping(h.t.Context(), hook.Where{Session: id, Turn: turn})
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

// TestS4_AResultIsHandedInOnceATurn: with its effects; again only in another turn; not
// while a subagent of its own is at work; and not by who does not owe one.
func TestS4_AResultIsHandedInOnceATurn(t *testing.T) {
	t.Parallel()
	h := open(t, `{"max_depth": 2}`)
	h.says("Started subagent s1.", "s0", "subagent", graded)
	specs, err := h.plugin.Tools().Tools(t.Context(), "s1")
	if err != nil || len(specs) != 6 || specs[5].Name != "structured_output" || !strings.Contains(string(specs[5].Schema), "grade") {
		t.Fatalf("tools of s1: %+v, %v", specs, err)
	}
	if _, err := tool.NewRegistry(t.Context(), "s1", []tool.Provider{h.plugin.Tools()}); err != nil {
		t.Error(err)
	}
	if specs, _ := h.plugin.Tools().Tools(t.Context(), "s0"); len(specs) != 5 {
		t.Errorf("s0 has %d tools", len(specs))
	}
	h.says("Error: nobody asked for a structured result here", "s0", "structured_output", args{"grade": 1})
	h.says("Started subagent s2.", "s1", "subagent", job)
	h.says("Error: 1 subagent is at work", "s1", "structured_output", args{"grade": 1})
	if d := h.stopping("s1", 1); d.Continue != "" || d.Stop != nil {
		t.Errorf("who waits for a subagent is kept: %+v", d)
	}
	h.settle("s1", "s2")
	r := h.call("s1", "structured_output", args{"grade": 1})
	if r.IsError || r.Note != `{"grade":1}` || !slices.Equal(r.Effects, []tool.Effect{tool.EffectReport, tool.EffectConcludeTurn}) {
		t.Errorf("result %+v", r)
	}
	h.says("Error: your result is handed in already", "s1", "structured_output", args{"grade": 2})
	if d := h.stopping("s1", 1); d.Continue != "" || d.Stop != nil {
		t.Errorf("who has handed it in is kept: %+v", d)
	}
	// Another process of the plugin knows it from the log.
	h.access["s1"].add(session.New(session.KindTurnStarted, session.TurnStarted{}))
	h.access["s1"].add(session.New(session.KindReport, session.Report{Data: json.RawMessage(`{}`)}))
	if err := h.plugin.CloseSession(t.Context(), "s1"); err != nil {
		t.Fatal(err)
	}
	spawn, _ := json.Marshal(args{"output_schema": graded["output_schema"]})
	if err := h.plugin.OpenSession(t.Context(), compaction.Session{ID: "s1", Workspace: "/w", Parent: "s0", Depth: 1, Spawn: spawn}); err != nil {
		t.Fatal(err)
	}
	h.says("Error: your result is handed in already", "s1", "structured_output", args{"grade": 2})
	// A message opened another turn.
	h.access["s1"].add(session.New(session.KindTurnStarted, session.TurnStarted{}))
	if r := h.callIn(2, "s1", "structured_output", args{"grade": 2}); r.IsError {
		t.Errorf("in another turn: %+v", r)
	}
}

// TestS4_WhoOwesAResultIsToldTwice: then the turn ends as blocked.
func TestS4_WhoOwesAResultIsToldTwice(t *testing.T) {
	t.Parallel()
	h := open(t, `{}`)
	h.says("Started subagent s1.", "s0", "subagent", graded)
	for turn := range 2 {
		for range 2 {
			if d := h.stopping("s1", turn+1); !strings.Contains(d.Continue, "Call structured_output now") || d.Stop != nil {
				t.Errorf("turn %d: %+v", turn+1, d)
			}
		}
		if d := h.stopping("s1", turn+1); d.Continue != "" || d.Stop == nil || d.Stop.Code != "NO_STRUCTURED_RESULT" {
			t.Errorf("turn %d ends with %+v", turn+1, d)
		}
	}
	if d := h.stopping("s0", 1); d.Continue != "" || d.Stop != nil {
		t.Errorf("s0 owes nothing: %+v", d)
	}
}

func TestS5_MessagesGoToRelativesOnly(t *testing.T) {
	t.Parallel()
	h := open(t, `{"max_active": 1}`)
	h.says("Started subagent s1.", "s0", "subagent", job)
	h.says("Sent. It is read at the next step.", "s0", "send_message", args{"agent_id": "s1", "message": "hello"})
	h.says("Sent. It is read at the next step.", "s1", "send_message", args{"agent_id": "s0", "message": "found it"})
	h.says(`Error: there is no agent "s9" for you`, "s0", "send_message", args{"agent_id": "s9", "message": "hello"})
	h.says(`Error: there is no agent "" for you`, "s0", "send_message", args{"agent_id": "", "message": "hello"})
	h.says("s1 is being stopped.", "s0", "interrupt_agent", args{"agent_id": "s1"})
	h.settle("s0", "s1")
	h.says("Error: nothing was stopped: s1 is not at work", "s0", "interrupt_agent", args{"agent_id": "s1"})
	h.says("Sent. s1 had ended and goes on", "s0", "send_message", args{"agent_id": "s1", "message": "more"})
	h.says("Started subagent s2.", "s0", "subagent", job)
	h.says("Error: 1 subagent is at work, and 1 is the most at once.", "s0", "send_message", args{"agent_id": "s1", "message": "more"})
	h.says("s1  ended: completed  a job\ns2  at work  a job\nAt work in all: 1 of at most 1.", "s0", "list_agents", args{})
	h.says("No subagents of this session.\nThe agent above: s0\n", "s2", "list_agents", args{})
	if told := h.access["s0"].told; !slices.Equal(told, []string{"s1: hello", "s1: more"}) {
		t.Errorf("told %q", told)
	}
	text, err := h.plugin.Commands().Run(t.Context(), "s0", "agents", "")
	if err != nil || !strings.Contains(text, "s2  at work  a job") {
		t.Errorf("/agents: %q, %v", text, err)
	}
}

func TestSP4_ASubagentKnowsWhereItStands(t *testing.T) {
	t.Parallel()
	h := open(t, `{}`)
	h.says("Started subagent s1.", "s0", "subagent", job)
	for id, want := range map[string][]string{"s0": nil, "s1": {`The agent above you has the id "s0"`, "Subagent depth: 1 of at most 1"}} {
		contexts, err := h.plugin.Prompt().Contexts(t.Context(), id)
		if err != nil || len(contexts) != len(want) {
			t.Fatalf("contexts of %s: %+v, %v", id, contexts, err)
		}
		for i, c := range contexts {
			if !strings.Contains(c.Text, want[i]) {
				t.Errorf("context of %s: %q, want %q", id, c.Text, want[i])
			}
		}
	}
}
