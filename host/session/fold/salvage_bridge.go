package fold

import (
	"slices"

	"github.com/tureen-host/tureen/host/session"
)

// CodeDamaged is how a turn ends whose end was lost to damage.
const CodeDamaged = "DAMAGED"

// damaged words what closes that which damage left open.
var damaged = closing{
	started: "Error: the stored session was damaged here, and the result of this call is gone. The call was started and may have taken effect. " +
		"Look at the actual state before you repeat it, unless it merely reads or can safely be done twice.",
	waiting: "Error: the stored session was damaged here, and what became of this call is not known. " +
		"Look at the actual state before you make it again, unless it merely reads or can safely be done twice.",
	question: "the stored session was damaged while the person was asked",
	batch:    "the batch was lost to damage of the stored session",
	failure:  session.Failure{Code: CodeDamaged, Message: "the end of this turn was lost to damage of the stored session"},
	reason:   session.ReasonError,
	unsure:   true,
}

// bridge is what has to happen before events can stand.
type bridge struct {
	turn   Turn
	events []session.Event
	room   int  // for events
	began  bool // a step has begun by then, or may have
	failed bool
}

// bridge returns the events that are missing between the state and units that
// follow; none where there is no room for them.
func (s *salvage) bridge(units []unit) []session.Event {
	state := s.checker.state
	b := &bridge{turn: state.Turn, room: s.blanks(), began: state.Totals.Steps > 0}
	b.structure(units)
	said := messages(units)
	if len(said) > 0 && said[0].Kind != session.KindToolResult {
		b.answer()
	}
	if b.failed {
		return nil
	}
	b.messages(state, said)
	b.claim(state, units)
	return b.events
}

// structure has turns and steps be so that the first of the units fits that says
// how, or else so that the newest step is open that any of them names.
func (b *bridge) structure(units []unit) {
	for _, u := range units {
		if e := u.one(); e != nil && (tells(*e) || opens(*e)) {
			try := *b
			if try.before(*e); !try.failed {
				*b = try
				return
			}
		}
	}
	b.reach(units)
}

func opens(e session.Event) bool {
	return e.Kind == session.KindTurnStarted || e.Kind == session.KindStepStarted
}

// before has everything be so that an event fits that tells, or opens.
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
		b.began = true
	case session.KindStepStarted:
		if b.openTurn(e.Turn); b.turn.StepOpen && b.turn.Step < e.Step {
			b.closeStep()
		}
		if e.Step > 1 && b.turn.Step < e.Step-1 {
			b.openStep(e.Turn, e.Step-1)
			b.closeStep()
		}
		b.failed = b.failed || b.turn.StepOpen || b.turn.Step != e.Step-1
	case session.KindStepEnded, session.KindMessageAssistant:
		b.openStep(e.Turn, e.Step)
		b.answer()
	case session.KindCompactionUndone:
		b.closeTurn()
	case session.KindToolResult:
		b.answerBefore(e)
	}
}

// answerBefore gives the calls a result that were answered before another, since
// results come in the order of the calls; all of them, where that one answers a call
// of an answer that is lost.
func (b *bridge) answerBefore(e session.Event) {
	b.openStep(e.Turn, e.Step)
	after := []Call(nil)
	if p, err := session.Decode[session.ToolResult](e); err == nil && p.Message != nil {
		if at := slices.IndexFunc(b.turn.Calls, func(c Call) bool { return c.ID == p.Message.CallID }); at >= 0 {
			b.turn.Calls, after = b.turn.Calls[:at], b.turn.Calls[at:]
		}
	}
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
	b.failed = b.failed || len(b.events) > b.room
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
		b.began = true
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
		b.turn.Step, b.turn.StepOpen, b.began = b.turn.Step+1, true, true
		b.add(session.New(session.KindStepStarted, session.StepStarted{}).At(turn, b.turn.Step))
	}
	b.failed = b.failed || b.turn.Step != step || !b.turn.StepOpen
}
