package fold_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/session/memlog"
)

// script draws a legal log, move by move, as a host would write it.
type script struct {
	t      *rapid.T
	s      *fold.State
	events []session.Event
	cuts   []int64 // heads after which the log may be cut: the ends of appends
	ids    int
}

// draw draws a log of so many moves.
func draw(t *rapid.T, moves int) *script {
	g := &script{t: t, s: fold.New()}
	g.put(session.New(session.KindSessionCreated, session.Created{ID: "s", Workspace: "/w", Time: time.Unix(1, 0).UTC()}))
	for range moves {
		g.move()
	}
	return g
}

// put appends events together.
func (g *script) put(events ...session.Event) {
	g.t.Helper()
	for _, e := range events {
		e.Seq, e.Time = g.s.Head+1, time.Unix(g.s.Head, 0).UTC()
		if err := g.s.Apply(e); err != nil {
			g.t.Fatalf("the script writes what does not fold: %v", err)
		}
		g.events = append(g.events, e)
	}
	g.cuts = append(g.cuts, g.s.Head)
}

func (g *script) n(most int) int          { return rapid.IntRange(0, most).Draw(g.t, "n") }
func (g *script) chance(one int) bool     { return g.n(one-1) == 0 }
func (g *script) text() string            { return rapid.StringN(1, 12, -1).Draw(g.t, "text") }
func (g *script) id(prefix string) string { g.ids++; return fmt.Sprintf("%s%d", prefix, g.ids) }

func (g *script) at(e session.Event) session.Event { return e.At(g.s.Turn.Ordinal, g.s.Turn.Step) }

func (g *script) move() {
	t := g.s.Turn
	switch {
	case g.chance(4):
		g.aside()
	case !t.Open && g.chance(4):
		g.compact(session.TriggerManual)
	case !t.Open && g.chance(2):
		g.undo()
	case !t.Open:
		g.put(session.New(session.KindTurnStarted, session.TurnStarted{}).At(t.Ordinal+1, 0))
	case g.chance(12):
		g.put(fold.Repair(g.s)...) // the run broke off
	case len(t.Calls) > 0:
		g.tools()
	case t.StepOpen && g.chance(3):
		g.put(session.New(session.KindStepEnded, session.StepEnded{}).At(t.Ordinal, t.Step))
	case t.StepOpen && g.last() == llm.RoleAssistant:
		g.put(session.New(session.KindStepEnded, session.StepEnded{}).At(t.Ordinal, t.Step))
	case t.StepOpen:
		g.answer()
	case g.chance(5):
		g.compact(session.TriggerPressure)
	case g.chance(4):
		g.put(session.New(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonCompleted}).At(t.Ordinal, 0))
	default:
		g.step()
	}
}

func (g *script) last() llm.Role {
	nodes := g.s.Surface.Nodes
	if len(nodes) == 0 {
		return ""
	}
	return nodes[len(nodes)-1].Role
}

// step begins a step with what the inbox holds.
func (g *script) step() {
	turn, step := g.s.Turn.Ordinal, g.s.Turn.Step+1
	events := []session.Event{session.New(session.KindStepStarted, session.StepStarted{})}
	items := slices.Clone(g.s.Inbox)
	if len(items) > 0 {
		items = items[:1+g.n(len(items)-1)]
		claimed := session.InboxClaimed{}
		for _, it := range items {
			claimed.Items = append(claimed.Items, it.Seq)
		}
		events = append([]session.Event{session.New(session.KindInboxClaimed, claimed)}, events...)
	}
	switch nodes := g.s.Surface.Nodes; {
	case len(nodes) == 0:
		events = append(events, system(g.text()))
	case g.chance(8):
		events = append(events, system(g.text()).On(session.Op{Kind: session.OpReplace, From: nodes[0].Seq, To: nodes[0].Seq}))
	case g.chance(8) && (g.last() == llm.RoleUser || g.last() == llm.RoleTool):
		events = append(events, system(g.text()))
	}
	if g.s.Header == nil || g.chance(10) {
		events = append(events, session.New(session.KindRequestHeader, session.Header{Model: fmt.Sprint("m", g.n(1)), ContextWindow: 1000 * g.n(1)}))
	}
	for _, it := range items {
		events = append(events, session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, it.Text), Source: it.Source, Item: it.Seq}).On(appendOp))
	}
	if len(items) == 0 && g.last() != llm.RoleTool || g.chance(6) {
		events = append(events, session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, g.text()), Source: session.SourceContext}).On(appendOp))
	}
	if g.chance(5) {
		events = append(events, session.New(session.KindMarkShown, session.MarkShown{ID: g.id("m")}))
	}
	for i := range events {
		events[i] = events[i].At(turn, step)
	}
	g.put(events...)
}

func (g *script) answer() {
	if g.chance(8) {
		g.put(g.at(session.New(session.KindAttempt, session.Attempt{Code: "NETWORK", Usage: llm.Usage{Input: 3}})))
		return
	}
	var ids []string
	for range g.n(4) {
		ids = append(ids, g.id("c"))
	}
	events := []session.Event{g.at(assistant(g.text(), llm.Usage{Input: 100 * g.n(3), Output: 1}, ids...))}
	for _, id := range ids {
		if g.chance(2) {
			events = append(events, g.at(session.New(session.KindToolStarted, session.ToolStarted{CallID: id, Name: "t"})))
		}
	}
	g.put(events...)
}

// tools answers some of the open calls.
func (g *script) tools() {
	var events []session.Event
	for _, c := range slices.Clone(g.s.Turn.Calls)[:1+g.n(len(g.s.Turn.Calls)-1)] {
		if !c.Started {
			events = append(events, g.at(session.New(session.KindToolStarted, session.ToolStarted{CallID: c.ID, Name: "t"})))
		}
		if g.chance(6) {
			events = append(events, g.at(session.New(session.KindToolSpilled, session.Spilled{CallID: c.ID, Text: "long"})))
		}
		events = append(events, g.at(result(c.ID, g.text())))
		if g.chance(6) {
			events = append(events, g.at(session.New(session.KindCompactionArmed, session.CompactionArmed{CallID: c.ID})))
		}
	}
	g.put(events...)
}

// aside does what has nothing to do with the conversation.
func (g *script) aside() {
	switch g.n(9) {
	case 0, 1:
		g.put(session.New(session.KindInboxQueued, session.InboxItem{Queue: []session.Queue{session.NextTurn, session.NextStep}[g.n(1)], Source: session.SourceOwner, Text: g.id("item "), Wake: true}))
	case 2:
		g.put(g.record())
	case 3:
		g.put(session.New(session.KindSessionOpened, session.Opened{Profile: fmt.Sprint("p", g.n(1)), Strategy: "x", Resumed: true}))
	case 4:
		g.put(session.New(session.KindQuestionAsked, session.Question{ID: g.id("q")}))
	case 5:
		for _, q := range g.s.Questions {
			g.put(session.New(session.KindQuestionAnswered, session.Answer{ID: q.ID, Outcome: []session.Outcome{session.OutcomePending, session.OutcomeAnswered}[g.n(1)]}))
			break
		}
	case 6:
		if running := g.s.Running(); len(running) > 0 && g.chance(2) {
			g.put(session.New(session.KindChildSettled, session.ChildSettled{ID: running[0].ID, Reason: session.ReasonCompleted}))
		} else {
			g.put(session.New(session.KindChildSpawned, session.ChildSpawned{ID: g.id("k"), Depth: 1}))
		}
	case 7:
		g.put(session.New(session.KindSessionArchived, session.Archived{Archived: !g.s.Archived}))
	case 8:
		g.put([]session.Event{session.New(session.KindUndoAsked, session.UndoAsked{}), session.New(session.KindCompactionAsked, session.CompactionAsked{}),
			session.New(session.KindCompactionRest, session.CompactionRest{}), session.New(session.KindLost, session.Lost{Why: "w"})}[g.n(3)])
	case 9:
		g.put(session.New("future.kind", g.n(9)))
	}
}

func (g *script) record() session.Event {
	data := json.RawMessage(fmt.Sprint(g.n(99)))
	return session.New(session.KindRecord, session.Record{Plugin: "p", Kind: "k", Key: fmt.Sprint(g.n(3)), Data: data})
}

// compact applies a compaction of some kind, in one append.
func (g *script) compact(trigger session.Trigger) {
	nodes := g.s.Surface.Nodes
	if len(nodes) < 2 || len(g.s.Turn.Calls) > 0 {
		return
	}
	kind, edits := g.edits(nodes)
	if len(edits) == 0 {
		return
	}
	ordinal := g.s.Compaction.Count + 1
	events := []session.Event{session.New(session.KindCompactionStarted, session.CompactionStarted{Ordinal: ordinal, Kind: kind, Trigger: trigger})}
	for range g.n(2) {
		events = append(events, g.record())
	}
	events = append(events, edits...)
	if g.chance(2) {
		events = append(events, system(g.text()).On(session.Op{Kind: session.OpReplace, From: nodes[0].Seq, To: nodes[0].Seq}))
	}
	events = append(events, session.New(session.KindCompactionEnded, session.CompactionEnded{Ordinal: ordinal, Kind: kind, Trigger: trigger, Relieved: g.chance(2)}))
	if g.chance(4) {
		events = append(events, session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextStep, Text: g.id("steer ")}))
	}
	for i := range events {
		events[i] = g.at(events[i])
	}
	g.put(events...)
}

// edits draws the edits of a compaction after which the surface may be sent.
func (g *script) edits(nodes []fold.Node) (kind string, events []session.Event) {
	from := 1 + g.n(len(nodes)-2)
	to := from + g.n(len(nodes)-1-from)
	switch g.n(3) {
	case 0:
		for _, n := range nodes {
			if n.Kind == session.KindToolResult && g.chance(2) {
				events = append(events, session.New(session.KindToolResult, session.ToolResult{Message: llm.ToolResult(n.CallID, "…", false), Code: "TRIMMED"}).
					On(session.Op{Kind: session.OpReplace, From: n.Seq, To: n.Seq}))
			}
		}
		return "trim", events
	case 1:
		drop := session.New(session.KindNodesDropped, struct{}{}).On(session.Op{Kind: session.OpDrop, From: nodes[from].Seq, To: nodes[to].Seq})
		if g.sendable(drop) {
			return "summary", []session.Event{drop}
		}
	case 2:
		if e := g.checkpoint(nodes[from].Seq, nodes[to].Seq); g.sendable(e) {
			return "summary", []session.Event{e}
		}
	}
	return "reset", append(events, g.checkpoint(nodes[1].Seq, nodes[len(nodes)-1].Seq))
}

func (g *script) checkpoint(from, to int64) session.Event {
	return session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, g.text()), Source: session.SourceCheckpoint}).
		On(session.Op{Kind: session.OpReplace, From: from, To: to})
}

func (g *script) sendable(e session.Event) bool {
	surface := g.s.Surface.Clone()
	e.Seq = g.s.Head + 1
	return surface.Apply(e) == nil && llm.Validate(append(surface.Messages(0), llm.Text(llm.RoleUser, "."))) == nil
}

// undo takes the newest compaction back, where that can be.
func (g *script) undo() {
	e, again, err := g.s.Undo("")
	if err != nil {
		return
	}
	events := []session.Event{e}
	for _, a := range again {
		r := g.events[a.Seq-1]
		if a.None {
			p, _ := session.Decode[session.Record](r)
			p.Data = json.RawMessage("null")
			r = session.New(session.KindRecord, p)
		}
		events = append(events, r)
	}
	g.put(events...)
}

// stored is a log of the events, with a snapshot at head snap where that is not 0.
func stored(t rapid.TB, events []session.Event, snap int64) session.Reader {
	t.Helper()
	ctx := context.Background()
	created, _ := session.Decode[session.Created](events[0])
	log, err := memlog.New().Create(ctx, created)
	if err != nil {
		t.Fatal(err)
	}
	s := fold.New()
	for first := range log.Read(ctx, session.Query{}) {
		events = append([]session.Event{first}, events[1:]...)
	}
	for _, e := range events {
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
		b := session.Batch{Head: e.Seq - 1, Events: []session.Event{e}}
		if e.Seq == snap {
			b.Snapshot = s.Snapshot()
		}
		if e.Seq == 1 {
			continue
		}
		if _, err := log.Append(ctx, b); err != nil {
			t.Fatal(err)
		}
	}
	return log
}
