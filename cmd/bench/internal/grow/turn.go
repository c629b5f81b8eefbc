package grow

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup"
)

// pace is the time between two events.
const pace = 50 * time.Microsecond

// add emits the next event, placed in the turn and step that are under way.
func (g *Grown) add(e session.Event) {
	at := g.opening[len(g.opening)-1]
	e.Seq, e.Time = g.state.Head+1, at.Time.Add(time.Duration(g.state.Head-at.Seq)*pace)
	g.emit(e)
}

// here adds an event of a kind at the step that is under way.
func (g *Grown) here(kind session.Kind, payload any) {
	g.add(session.New(kind, payload).At(g.state.Turn.Ordinal, g.state.Turn.Step))
}

// said adds a message of the user's role.
func (g *Grown) said(m session.Message) {
	g.add(session.New(session.KindMessageUser, m).At(g.state.Turn.Ordinal, g.state.Turn.Step).On(session.Op{Kind: session.OpAppend}))
}

// turn adds a turn, with a reset before its first step or without.
func (g *Grown) turn(reset bool) {
	g.turns++
	text := fmt.Sprintf("Work through part %d, which is called %s and say when it is done.", g.turns, Word(g.turns))
	g.add(session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextTurn, Source: session.SourceOwner, Text: text, Wake: true}))
	item := g.state.Head
	turn := g.state.Turn.Ordinal + 1
	g.add(session.New(session.KindTurnStarted, session.TurnStarted{}).At(turn, 0))
	if reset {
		g.reset(session.TriggerPressure)
	}
	g.add(session.New(session.KindInboxClaimed, session.InboxClaimed{Items: []int64{item}}).At(turn, 1))
	g.add(session.New(session.KindStepStarted, session.StepStarted{}).At(turn, 1))
	if reset {
		for _, e := range g.contexts {
			e.Turn, e.Step = turn, 1
			g.add(e)
		}
	}
	g.said(session.Message{Message: llm.Text(llm.RoleUser, text), Source: session.SourceOwner, Item: item})
	for range perTurn {
		g.step()
	}
	g.answer(llm.Text(llm.RoleAssistant, fmt.Sprintf("Part %d is done.", g.turns)), llm.StopEnd)
	g.here(session.KindStepEnded, session.StepEnded{})
	g.here(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonCompleted})
}

// step adds a call and its result to the open step, and opens the next one.
func (g *Grown) step() {
	g.inWindow++
	name, plugin, arguments, text := g.call()
	id := fmt.Sprintf("call_%08x", g.rand.Uint32())
	m := &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{
		{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: id, Name: name, Arguments: arguments}}}}
	g.answer(m, llm.StopToolCalls)
	g.here(session.KindToolStarted, session.ToolStarted{CallID: id, Name: name, Plugin: plugin})
	result := session.ToolResult{Message: llm.ToolResult(id, text, false), Name: name, Millis: g.rand.Int64N(5)}
	turn, step := g.state.Turn.Ordinal, g.state.Turn.Step
	g.add(session.New(session.KindToolResult, result).At(turn, step).On(session.Op{Kind: session.OpAppend}))
	g.here(session.KindStepEnded, session.StepEnded{})
	g.add(session.New(session.KindStepStarted, session.StepStarted{}).At(turn, step+1))
}

// call draws a call and what it finds: mostly a read, now and then a command or a note.
func (g *Grown) call() (name, plugin, arguments, text string) {
	n := g.rand.IntN(1 << 20)
	switch g.rand.IntN(10) {
	case 0, 1:
		return "shell", "shell", object("description", "count", "command", fmt.Sprintf("wc -l part-%d.txt", n)), fmt.Sprintf("%d part-%d.txt", n%997, n)
	case 2:
		path := fmt.Sprintf("topic-%d", n%50)
		return "notes_write", notesoup.Name, object("mode", "append", "path", path, "text", fmt.Sprintf("- part %d was looked at", n)),
			fmt.Sprintf("ok notes_write %s.md mode=append rev=%08x durable=yes", path, n)
	}
	return "read", "files", object("file_path", fmt.Sprintf("part-%d.txt", n)), fmt.Sprintf("%d: %s", n, g.log.Text)
}

func object(pairs ...string) string {
	all := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	b, _ := json.Marshal(all) // strings always do
	return string(b)
}

// answer adds what the model said.
func (g *Grown) answer(m *llm.Message, stop llm.StopReason) {
	tokens := g.state.Surface.Tokens + g.state.ToolTokens()
	a := session.Assistant{Message: m, Usage: llm.Usage{Input: tokens, Output: 20}, Stop: stop, Model: g.state.Header.Model, Millis: 1}
	g.add(session.New(session.KindMessageAssistant, a).At(g.state.Turn.Ordinal, g.state.Turn.Step).On(session.Op{Kind: session.OpAppend}))
}

// reset adds a reset of all nodes behind node 0, as notesoup proposes it.
func (g *Grown) reset(trigger session.Trigger) {
	nodes, c := g.state.Surface.Nodes, g.state.Compaction
	system, before := nodes[0], g.state.Surface.Tokens+g.state.ToolTokens()
	g.here(session.KindCompactionStarted, session.CompactionStarted{Ordinal: c.Count + 1, Strategy: notesoup.Name, Kind: "reset",
		Trigger: trigger, Attempt: 1, TokensBefore: before, Revision: g.state.Head})
	old := g.window
	g.window = reopened(old, notesoup.NewWindow(g.state.Created.ID, old.Ordinal+1, g.opening[0].Time.Add(time.Duration(g.state.Head)*pace)))
	record := g.window.Record()
	g.here(session.KindRecord, session.Record{Plugin: notesoup.Name, Kind: record.Kind, Data: record.Data})
	turn, step := g.state.Turn.Ordinal, g.state.Turn.Step
	checkpoint := session.Message{Message: llm.Text(llm.RoleUser, notesoup.Handoff(trigger, g.rand.Uint64())), Source: session.SourceCheckpoint}
	g.add(session.New(session.KindMessageUser, checkpoint).At(turn, step).On(session.Op{Kind: session.OpReplace, From: nodes[1].Seq, To: nodes[len(nodes)-1].Seq}))
	text := strings.Replace(system.Message.Text(), old.Boot, g.window.Boot, 1)
	g.add(session.New(session.KindMessageSystem, session.Message{Message: llm.Text(llm.RoleSystem, text)}).At(turn, step).
		On(session.Op{Kind: session.OpReplace, From: system.Seq, To: system.Seq}))
	g.here(session.KindCompactionEnded, session.CompactionEnded{Ordinal: c.Count + 1, Strategy: notesoup.Name, Kind: "reset", Trigger: trigger,
		TokensBefore: before, TokensAfter: g.state.Surface.Tokens + g.state.ToolTokens(), Relieved: true, Boot: g.window.Boot})
	g.inWindow = 0
}

// reopened is the next window, whose notes are those of the old one.
func reopened(old, next notesoup.Window) notesoup.Window {
	named := func(w notesoup.Window) string {
		return fmt.Sprintf("<notebook window=\"%d\" id=%q time=%q>", w.Ordinal, w.ID, w.Time.Format(time.RFC3339))
	}
	next.Agent, next.Model, next.Project, next.Config = old.Agent, old.Model, old.Project, old.Config
	return next.WithBoot(strings.Replace(old.Boot, named(old), named(next), 1))
}
