package fold

import (
	"slices"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// damaged words what closes that which damage left open.
var damaged = closing{
	started: "Error: the stored session was damaged here, and the result of this call is gone. The call was started and may have taken effect. " +
		"Look at the actual state before you repeat it, unless it merely reads or can safely be done twice.",
	waiting: "Error: the stored session was damaged here, and what became of this call is not known. " +
		"Look at the actual state before you make it again, unless it merely reads or can safely be done twice.",
	failure: session.Failure{Code: "DAMAGED", Message: "the end of this turn was lost to damage of the stored session"},
}

// What stands where a message was lost that others need before them.
const (
	textLostUser   = "(The stored session was damaged here; the message that stood in this place is lost.)"
	textLostSystem = "(The stored session was damaged here; the instructions that stood in this place are lost until they are written anew.)"
)

// bridge is what has to happen before an event can stand.
type bridge struct {
	turn   Turn
	events []session.Event
	room   func(events int) bool // is there any for so many?
	blank  int                   // places of missing events
	failed bool
}

// bridge returns the events that are missing between the state and e, with later
// standing right before e; where e is nil, before later. False means that no events,
// or more than there is room for, would let it stand.
func (s *salvage) bridge(later []unit, e *session.Event) ([]session.Event, bool) {
	state := s.checker.state
	b := &bridge{turn: state.Turn, room: func(n int) bool { return s.free(n) != nil }}
	for _, p := range s.held {
		if p.event == nil {
			b.blank++
		}
	}
	b.turn.Calls = append([]Call(nil), state.Turn.Calls...)
	switch {
	case s.opening != nil:
		b.before(*s.opening)
	case e != nil:
		b.before(*e)
	default:
		b.reach(later)
	}
	appended := messages(later)
	if len(appended) > 0 && appended[0].Kind != session.KindToolResult {
		b.answer()
	}
	if e != nil && e.Kind == session.KindMessageAssistant {
		appended = append(appended, *e)
	}
	b.messages(state, appended, claims(later))
	if n := len(state.Surface.Nodes); e != nil && e.Kind == session.KindStepEnded && len(appended) == 0 && n > 0 &&
		state.Surface.Nodes[n-1].Role == llm.RoleAssistant && len(state.Turn.Calls) == 0 && len(b.events) < b.blank {
		b.message(llm.RoleUser, session.KindMessageUser, textLostUser) // what the next step answers may be lost
	}
	return b.events, !b.failed
}

func messages(units []unit) []session.Event {
	var found []session.Event
	for _, u := range units {
		if e := u.events[0]; u.why == "" && len(u.events) == 1 && appends(e) {
			found = append(found, e)
		}
	}
	return found
}

// claims are the inbox items that units claim.
func claims(units []unit) map[int64]bool {
	items := map[int64]bool{}
	for _, u := range units {
		if e := u.events[0]; u.why == "" && e.Kind == session.KindInboxClaimed {
			p, _ := session.Decode[session.InboxClaimed](e)
			for _, item := range p.Items {
				items[item] = true
			}
		}
	}
	return items
}

// before has everything be so that a structural event fits.
func (b *bridge) before(e session.Event) {
	switch e.Kind {
	case session.KindTurnStarted:
		if b.closeTurn(); b.turn.Ordinal < e.Turn-1 {
			b.openTurn(e.Turn - 1)
			b.closeTurn()
		}
		b.failed = b.failed || b.turn.Ordinal != e.Turn-1
	case session.KindTurnEnded:
		b.openTurn(e.Turn)
		b.closeStep()
	case session.KindStepStarted:
		if b.openTurn(e.Turn); b.turn.StepOpen && b.turn.Step < e.Step {
			b.closeStep()
		}
		if e.Step > 1 && b.turn.Step < e.Step-1 {
			b.openStep(e.Turn, e.Step-1)
			b.closeStep()
		}
		b.failed = b.failed || b.turn.StepOpen || b.turn.Step != e.Step-1
	case session.KindStepEnded:
		b.openStep(e.Turn, e.Step)
		b.answer()
	case session.KindMessageAssistant:
		b.openStep(e.Turn, e.Step)
		b.answer()
	case session.KindCompactionUndone:
		b.closeTurn()
	case session.KindToolResult:
		b.answerBefore(e)
	}
}

// answerBefore gives the calls a result that were answered before another: results
// come in the order of the calls.
func (b *bridge) answerBefore(e session.Event) {
	p, err := session.Decode[session.ToolResult](e)
	at := -1
	if err == nil && p.Message != nil {
		at = slices.IndexFunc(b.turn.Calls, func(c Call) bool { return c.ID == p.Message.CallID })
	}
	if at < 0 {
		b.failed = true
		return
	}
	after := b.turn.Calls[at:]
	b.turn.Calls = b.turn.Calls[:at]
	b.answer()
	b.turn.Calls = after
}

// reach opens the newest turn and step that any of the events names.
func (b *bridge) reach(units []unit) {
	turn, step := b.turn.Ordinal, b.turn.Step
	for _, u := range units {
		if e := u.events[0]; u.why == "" && (e.Turn > turn || e.Turn == turn && e.Step > step) {
			turn, step = e.Turn, e.Step
		}
	}
	switch {
	case turn == b.turn.Ordinal && step == b.turn.Step:
	case turn == b.turn.Ordinal && !b.turn.Open:
	case step == 0:
		b.openTurn(turn)
	default:
		b.openStep(turn, step)
	}
}

func (b *bridge) add(e session.Event) {
	b.events = append(b.events, e)
	b.failed = b.failed || !b.room(len(b.events))
}

// answer gives each open call a result.
func (b *bridge) answer() {
	for _, c := range b.turn.Calls {
		b.add(session.New(session.KindToolResult, damaged.result(c)).At(b.turn.Ordinal, b.turn.Step).On(session.Op{Kind: session.OpAppend}))
	}
	b.turn.Calls = nil
}

func (b *bridge) closeStep() {
	b.answer()
	if b.turn.StepOpen {
		b.add(session.New(session.KindStepEnded, session.StepEnded{Repaired: true}).At(b.turn.Ordinal, b.turn.Step))
	}
	b.turn.StepOpen = false
}

func (b *bridge) closeTurn() {
	b.closeStep()
	if b.turn.Open {
		failure := damaged.failure
		b.add(session.New(session.KindTurnEnded, session.TurnEnded{Reason: session.ReasonError, Error: &failure, Repaired: true}).At(b.turn.Ordinal, 0))
	}
	b.turn.Open = false
}

// openTurn has a turn be open, with those before it closed.
func (b *bridge) openTurn(ordinal int) {
	for b.turn.Ordinal < ordinal && !b.failed {
		b.closeTurn()
		b.turn = Turn{Ordinal: b.turn.Ordinal + 1, Open: true}
		b.add(session.New(session.KindTurnStarted, session.TurnStarted{}).At(b.turn.Ordinal, 0))
	}
	b.failed = b.failed || b.turn.Ordinal != ordinal || !b.turn.Open && ordinal > 0
}

// openStep has a step be open, with those before it closed.
func (b *bridge) openStep(turn, step int) {
	b.openTurn(turn)
	for b.turn.Step < step && !b.failed {
		b.closeStep()
		b.turn.Step, b.turn.StepOpen = b.turn.Step+1, true
		b.add(session.New(session.KindStepStarted, session.StepStarted{}).At(turn, b.turn.Step))
	}
	b.failed = b.failed || b.turn.Step != step || !b.turn.StepOpen
}

// messages has a user's message stand before an answer. Where there is room, once a
// step began, it has a system message stand first and a user's behind it, and inbox
// items leave the inbox whose messages stand.
func (b *bridge) messages(s *State, appended []session.Event, claimed map[int64]bool) {
	nodes := s.Surface.Nodes
	last, spoken := llm.RoleSystem, s.spoken()
	if len(nodes) > 0 {
		last = nodes[len(nodes)-1].Role
	}
	var claim session.InboxClaimed
	wanting := false
	for _, e := range append(b.events[:len(b.events):len(b.events)], appended...) {
		switch {
		case e.Kind == session.KindMessageUser:
			last, spoken = llm.RoleUser, true
			if p, err := session.Decode[session.Message](e); err == nil && !claimed[p.Item] && queued(s, p.Item) && !slices.Contains(claim.Items, p.Item) {
				claim.Items = append(claim.Items, p.Item)
			}
		case e.Kind == session.KindToolResult:
			last = llm.RoleTool
		case e.Kind == session.KindMessageAssistant:
			wanting = wanting || last == llm.RoleAssistant || !spoken
		}
	}
	if wanting {
		b.message(llm.RoleUser, session.KindMessageUser, textLostUser)
	}
	began := s.Totals.Steps > 0 || b.turn.Step > 0
	if !wanting && !spoken && began && len(b.events) < b.blank {
		b.message(llm.RoleUser, session.KindMessageUser, textLostUser)
	}
	first := len(appended) > 0 && appended[0].Kind != session.KindMessageSystem || len(appended) == 0 && began
	if len(nodes) == 0 && first && b.room(len(b.events)+1) {
		system := b.events
		b.events = nil
		b.message(llm.RoleSystem, session.KindMessageSystem, textLostSystem)
		b.events = append(b.events, system...)
	}
	if len(claim.Items) > 0 && b.room(len(b.events)+1) {
		b.add(session.New(session.KindInboxClaimed, claim).At(b.turn.Ordinal, b.turn.Step))
	}
}

func queued(s *State, item int64) bool {
	return slices.ContainsFunc(s.Inbox, func(it Item) bool { return it.Seq == item })
}

func (b *bridge) message(role llm.Role, kind session.Kind, text string) {
	source := session.SourceHost
	if role == llm.RoleSystem {
		source = ""
	}
	b.add(session.New(kind, session.Message{Message: llm.Text(role, text), Source: source}).At(b.turn.Ordinal, b.turn.Step).On(session.Op{Kind: session.OpAppend}))
}
