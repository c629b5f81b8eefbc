package agent_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/memlog"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// recorded reads a session of testdata/sessions.
func recorded(t *testing.T, name string) []session.Event {
	t.Helper()
	text, err := os.ReadFile("../../testdata/sessions/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var events []session.Event
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text))
	for lines.Scan() {
		var e session.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if lines.Err() != nil || len(events) == 0 {
		t.Fatalf("%s: %d events, %v", name, len(events), lines.Err())
	}
	return events
}

// prefixes resumes prefixes of one recorded session, each in a store of its own,
// with the strategy that made it and a strict endpoint.
type prefixes struct {
	t      *testing.T
	events []session.Event
	server *scripted.Server
	model  *openai.Client
	info   llm.Info
	budget compaction.Budget
	tree   *notes.Tree
	tools  []tool.Provider
	header session.Header
}

func newPrefixes(t *testing.T, name string) *prefixes {
	t.Helper()
	p := &prefixes{t: t, events: recorded(t, name)}
	var err error
	if p.server, err = scripted.Serve(t.Context(), scripted.Options{Model: "scripted", ContextWindow: 32000, MaxOutputTokens: 2000,
		Agent: scripted.AgentFunc(func(llm.Request) scripted.Reply { return scripted.Reply{Text: "went on"} })}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.server.Close() })
	if p.model, err = openai.New(openai.Config{Provider: "openai", BaseURL: p.server.BaseURL(), Model: "scripted", Quirk: "scripted", ContextWindow: 32000, MaxOutputTokens: 2000}); err != nil {
		t.Fatal(err)
	}
	if p.info, err = p.model.Info(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.budget, err = compaction.Resolve(compaction.BudgetConfig{}, 32000, 2000, "profile"); err != nil {
		t.Fatal(err)
	}
	if p.tree, err = notes.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.tree.Close() })
	for _, e := range p.events {
		if e.Kind == session.KindRequestHeader {
			p.header, _ = session.Decode[session.Header](e)
		}
	}
	box := newToolbox("recorded")
	for _, d := range p.header.Tools {
		box.add(tool.Spec{Name: d.Name, Description: d.Description, Schema: d.Schema}, echo)
	}
	p.tools = []tool.Provider{box}
	return p
}

// store makes a log of the first n events; where there is one, with the snapshot
// that the host had stored by then.
func (p *prefixes) store(n int) session.Log {
	p.t.Helper()
	created, err := session.Decode[session.Created](p.events[0])
	if err != nil {
		p.t.Fatal(err)
	}
	log, err := memlog.New().Create(p.t.Context(), created)
	if err != nil {
		p.t.Fatal(err)
	}
	state, head, snapped := fold.New(), 1, 0
	var snap []byte
	for i, e := range p.events[:n] {
		if err := state.Apply(e); err != nil {
			p.t.Fatal(err)
		}
		if e.Kind == session.KindCompactionEnded || e.Kind == session.KindTurnEnded {
			snap, snapped = state.Snapshot(), i+1
		}
	}
	for _, end := range []int{snapped, n} {
		if end > head {
			b := session.Batch{Head: int64(head), Events: p.events[head:end]}
			if end == snapped {
				b.Snapshot = snap
			}
			if _, err := log.Append(p.t.Context(), b); err != nil {
				p.t.Fatal(err)
			}
			head = end
		}
	}
	return log
}

// resume opens the agent as the host does.
func (p *prefixes) resume(log session.Log) *agent.Agent {
	p.t.Helper()
	state, err := fold.Load(p.t.Context(), log)
	if err != nil {
		p.t.Fatal(err)
	}
	full, err := fold.Full(p.t.Context(), log)
	if err != nil {
		p.t.Fatal(err)
	}
	if !bytes.Equal(state.Snapshot(), full.Snapshot()) || shownBy(state) != shownBy(full) {
		p.t.Errorf("event %d: the state from the snapshot differs from that of a full fold", full.Head)
	}
	tools, err := tool.NewRegistry(p.t.Context(), log.ID(), p.tools)
	if err != nil {
		p.t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	store := func(s compaction.Session) (*notes.Store, error) {
		return p.tree.Store(notes.Who{Session: s.ID, Created: s.Created, Agent: s.Agent, Provider: s.Provider, Model: s.Model, Workspace: s.Workspace})
	}
	a, err := agent.Open(p.t.Context(), agent.Options{Log: log, State: state, Model: p.model, Info: p.info, Tools: tools, Hooks: hook.NewChain(logger), Logger: logger,
		Name: "tureen", Budget: p.budget,
		Strategy: agent.Strategy{Strategy: notesoup.New(notesoup.Config{Carry: notesoup.CarryRequest}, store), Name: notesoup.Name, Plugin: notesoup.Name, Auto: true}})
	if err == nil {
		err = a.Begin(p.t.Context())
	}
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

func shownBy(s *fold.State) string {
	b, _ := json.Marshal(s.Surface.Messages(0))
	return string(b)
}

func check(t *testing.T, log session.Log) (rules []string) {
	t.Helper()
	violations, err := fold.Check(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		rules = append(rules, v.Rule+": "+v.Text)
	}
	return rules
}

// bootOf is the notebook in the system message that a log shows.
func bootOf(t *testing.T, log session.Log) string {
	t.Helper()
	state, err := fold.Full(t.Context(), log)
	if err != nil {
		t.Fatal(err)
	}
	if len(state.Surface.Nodes) == 0 {
		return ""
	}
	w, _ := notesoup.FindWindow(state.Surface.Nodes[0].Message.Text())
	return w.Boot
}

// TestR1_EveryPrefixOfARecordedSessionResumes cuts a whole session at each event:
// the repaired log holds to the rules, the next request is accepted by a strict
// endpoint and shows what the person asked for, and the window's boot stays as it
// was, byte for byte. Where a reset that the cut left armed fires, boot and
// conversation are the strategy's to choose.
func TestR1_EveryPrefixOfARecordedSessionResumes(t *testing.T) {
	t.Parallel()
	p := newPrefixes(t, "rich.jsonl")
	const task = "Work the plan off."
	compacting, asked, resumed := false, false, 0
	for n := 1; n <= len(p.events); n++ {
		e := p.events[n-1]
		switch e.Kind {
		case session.KindInboxQueued:
			asked = true
		case session.KindInboxClaimed: // one append with the step that shows it
			asked = false
		case session.KindMessageUser:
			m, _ := session.Decode[session.Message](e)
			asked = asked || m.Item != 0
		case session.KindCompactionStarted:
			compacting = true
		case session.KindCompactionEnded:
			compacting = false
		}
		log := p.store(n)
		if compacting { // one append: no crash leaves it half done, and Check would tell
			if rules := check(t, log); len(rules) == 0 {
				t.Errorf("prefix %d: half a compaction breaks no rule", n)
			}
			continue
		}
		resumed++
		before, armed := bootOf(t, log), false
		a := p.resume(log)
		if rules := check(t, log); len(rules) > 0 {
			t.Errorf("prefix %d (%s): after the repair: %q", n, e.Kind, rules)
		}
		state, _ := fold.Full(t.Context(), log)
		armed = state.Compaction.Armed != nil
		if err := a.Prompt(t.Context(), "continue"); err != nil {
			t.Fatal(err)
		}
		reason, failure, err := a.Run(t.Context())
		if err != nil || reason != session.ReasonCompleted {
			t.Errorf("prefix %d (%s): the resumed run ended %s %+v %v", n, e.Kind, reason, failure, err)
		}
		if rules := check(t, log); len(rules) > 0 {
			t.Errorf("prefix %d (%s): after the run: %q", n, e.Kind, rules)
		}
		if after := bootOf(t, log); before != "" && !armed && after != before {
			t.Errorf("prefix %d (%s): the boot is another one", n, e.Kind)
		}
		bodies := p.server.Requests()
		if last := string(bodies[len(bodies)-1]); asked && !armed && !strings.Contains(last, task) {
			t.Errorf("prefix %d (%s): the request does not show what was asked for", n, e.Kind)
		}
	}
	if s := p.server.Stats(); s.Refused > 0 {
		t.Errorf("%d of %d requests were refused", s.Refused, s.Requests)
	}
	t.Logf("%d of %d prefixes resumed, %d requests", resumed, len(p.events), p.server.Stats().Requests)
}
