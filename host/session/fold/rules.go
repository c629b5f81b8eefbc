package fold

import (
	"slices"

	"github.com/tureen-host/tureen/host/session"
)

// inCompaction are the kinds that may stand between compaction.started and
// compaction.ended.
var inCompaction = map[session.Kind]bool{
	session.KindCompactionStarted: true, session.KindCompactionEnded: true, session.KindRecord: true,
	session.KindMessageUser: true, session.KindMessageSystem: true, session.KindToolResult: true, session.KindNodesDropped: true,
	session.KindLost: true,
}

// rules holds what must be true before an event of a kind is folded.
var rules = map[session.Kind]func(*Checker, session.Event){
	session.KindSessionCreated: func(c *Checker, e session.Event) {
		if e.Seq != 1 {
			c.add(e.Seq, "first", "a second %s", e.Kind)
		}
	},
	session.KindTurnStarted: func(c *Checker, e session.Event) {
		t := c.state.Turn
		if t.Open {
			c.add(e.Seq, "turn", "opens turn %d while turn %d is open", e.Turn, t.Ordinal)
		}
		if e.Turn != t.Ordinal+1 {
			c.add(e.Seq, "turn", "turn %d follows turn %d", e.Turn, t.Ordinal)
		}
	},
	session.KindTurnEnded: func(c *Checker, e session.Event) {
		t := c.state.Turn
		if !t.Open || e.Turn != t.Ordinal {
			c.add(e.Seq, "turn", "ends turn %d, which is not open", e.Turn)
		}
		if t.StepOpen {
			c.add(e.Seq, "step", "ends turn %d while its step %d is open", e.Turn, t.Step)
		}
	},
	session.KindStepStarted: func(c *Checker, e session.Event) {
		t := c.state.Turn
		if !t.Open || t.StepOpen || e.Turn != t.Ordinal || e.Step != t.Step+1 {
			c.add(e.Seq, "step", "opens step %d.%d after step %d.%d", e.Turn, e.Step, t.Ordinal, t.Step)
		}
	},
	session.KindStepEnded: func(c *Checker, e session.Event) {
		t := c.state.Turn
		if !t.StepOpen || e.Step != t.Step {
			c.add(e.Seq, "step", "ends step %d, which is not open", e.Step)
		}
		for _, call := range t.Calls {
			c.add(e.Seq, "call", "ends the step while call %q has no result", call.ID)
		}
	},
	session.KindMessageAssistant: func(c *Checker, e session.Event) {
		if !c.state.Turn.StepOpen {
			c.add(e.Seq, "step", "an answer outside a step")
		}
	},
	session.KindToolStarted: func(c *Checker, e session.Event) {
		p, err := session.Decode[session.ToolStarted](e)
		if err != nil {
			return // the fold names it
		}
		if i := openCall(c.state, p.CallID); i < 0 {
			c.add(e.Seq, "call", "starts call %q, which no answer of this step makes", p.CallID)
		} else if c.state.Turn.Calls[i].Started {
			c.add(e.Seq, "call", "dispatches call %q a second time", p.CallID)
		}
	},
	session.KindToolResult: func(c *Checker, e session.Event) {
		p, err := session.Decode[session.ToolResult](e)
		if err != nil || p.Message == nil || !appends(e) {
			return
		}
		if openCall(c.state, p.Message.CallID) < 0 {
			c.add(e.Seq, "call", "answers call %q, which is not open", p.Message.CallID)
		}
	},
	session.KindInboxClaimed: func(c *Checker, e session.Event) {
		p, err := session.Decode[session.InboxClaimed](e)
		if err != nil {
			return
		}
		for _, id := range p.Items {
			if _, queued := c.state.queued(id); !queued {
				c.add(e.Seq, "inbox", "claims item %d, which is not queued", id)
			}
		}
	},
	session.KindChildSpawned: func(c *Checker, e session.Event) {
		if p, err := session.Decode[session.ChildSpawned](e); err == nil && atWork(c.state, p.ID) {
			c.add(e.Seq, "child", "begins subagent %q, which is at work", p.ID)
		}
	},
	session.KindChildSettled: func(c *Checker, e session.Event) {
		if p, err := session.Decode[session.ChildSettled](e); err == nil && !atWork(c.state, p.ID) {
			c.add(e.Seq, "child", "settles subagent %q, which is not at work", p.ID)
		}
	},
	session.KindCompactionStarted: func(c *Checker, e session.Event) {
		if c.compacting != 0 {
			c.add(e.Seq, "compaction", "begins inside the one begun at event %d", c.compacting)
		}
		c.compacting = e.Seq
	},
	session.KindCompactionEnded: func(c *Checker, e session.Event) {
		if c.compacting == 0 {
			c.add(e.Seq, "compaction", "ends without a start")
		}
		c.compacting = 0
	},
	session.KindCompactionPostponed: func(c *Checker, e session.Event) {
		if c.state.Compaction.Postponed != nil {
			c.add(e.Seq, "compaction", "puts a compaction off a second time")
		}
	},
	session.KindCompactionUndone: func(c *Checker, e session.Event) { // which one it may name is the fold's to say
		if t := c.state.Turn; t.Open {
			c.add(e.Seq, "undo", "takes a compaction back while turn %d is open", t.Ordinal)
		}
	},
}

func atWork(s *State, id string) bool {
	i, known := s.childAt(id)
	return known && s.Children[i].State == session.StateRunning
}

func openCall(s *State, id string) int {
	return slices.IndexFunc(s.Turn.Calls, func(c Call) bool { return c.ID == id })
}
