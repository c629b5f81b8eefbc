package planning

import (
	"context"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// lookBack bounds how many events a question to the log may cost.
const lookBack = 1000

// backwards hands the newest events of some kinds to see until that returns false.
func (d *desk) backwards(ctx context.Context, see func(session.Event) (more bool), kinds ...session.Kind) error {
	for e, err := range d.access.Events(ctx, session.Query{Kinds: kinds, Reverse: true, Limit: lookBack}) {
		if err != nil {
			return err
		}
		if !see(e) {
			return nil
		}
	}
	return nil
}

// opened is the seq of the event with which the host took the session.
func (d *desk) opened(ctx context.Context) (int64, error) {
	for e, err := range d.access.Events(ctx, session.Query{Kinds: []session.Kind{session.KindSessionOpened}, Reverse: true, Limit: 1}) {
		return e.Seq, err
	}
	return 0, nil
}

// within ends a look at the log where an earlier turn begins. Events that stand in
// no turn are passed over.
func within(turn int, see func(session.Event) (more bool)) func(session.Event) bool {
	return func(e session.Event) bool {
		switch e.Turn {
		case turn:
			return see(e)
		case 0:
			return true
		}
		return e.Turn > turn
	}
}

// nudging is what the log says of reminders of open todos.
type nudging struct {
	row         int  // reminders with nothing but todo_write called between
	again       bool // the turn had one for the list as it stands
	worked      bool // a tool was called in the turn
	cut         bool // the newest answer was cut at its limit
	afterCancel bool // the person stopped the turn before
}

// nudged looks at a turn and back to the newest work before it.
func (d *desk) nudged(ctx context.Context, turn int) (n nudging, err error) {
	answered, written, rowEnds, turnEnds := false, false, false, false
	err = d.backwards(ctx, func(e session.Event) bool {
		inTurn := e.Turn == turn
		switch e.Kind {
		case session.KindTurnEnded:
			if ended, err := session.Decode[session.TurnEnded](e); err == nil && !turnEnds {
				n.afterCancel = ended.Reason == session.ReasonCancelled && !ended.Repaired
			}
			turnEnds = true
		case session.KindToolStarted:
			t, err := session.Decode[session.ToolStarted](e)
			write := err == nil && t.Name == toolTodo
			n.worked, written, rowEnds = n.worked || inTurn, written || write, rowEnds || !write
		case session.KindMessageAssistant:
			if m, err := session.Decode[session.Assistant](e); err == nil && !answered {
				n.cut = m.Stop == llm.StopMaxTokens
			}
			answered = true
		case session.KindMessageUser:
			if m, err := session.Decode[session.Message](e); err == nil && m.Source == session.SourcePlugin && strings.HasPrefix(m.Message.Text(), nudgeHead) {
				n.again = n.again || inTurn && !written
				if !rowEnds {
					n.row++
				}
			}
		}
		return !rowEnds || !turnEnds
	}, session.KindTurnEnded, session.KindToolStarted, session.KindMessageAssistant, session.KindMessageUser)
	return n, err
}

// asked tells what became of the newest question of a turn where the agent has not
// gone on since: pending while an answer may still come; declined or unavailable
// where there was none and no tool was called after it; "" in all other cases.
func (d *desk) asked(ctx context.Context, turn int) (session.Outcome, error) {
	var outcome session.Outcome
	late := map[string]bool{}
	worked := false
	err := d.backwards(ctx, func(e session.Event) bool {
		if e.Kind == session.KindToolStarted {
			worked = worked || e.Turn == turn
			return e.Turn >= turn
		}
		a, err := session.Decode[session.Answer](e)
		switch {
		case err != nil || a.Late:
			late[a.ID] = true
			return true
		case e.Turn != turn:
			return e.Turn == 0
		case a.Outcome == session.OutcomePending && !late[a.ID],
			(a.Outcome == session.OutcomeDeclined || a.Outcome == session.OutcomeUnavailable) && !worked:
			outcome = a.Outcome
		}
		return false
	}, session.KindToolStarted, session.KindQuestionAnswered)
	return outcome, err
}

// delegates tells whether a subagent of the session is at work.
func (d *desk) delegates(ctx context.Context) (bool, error) {
	running := false
	settled := map[string]bool{}
	err := d.backwards(ctx, func(e session.Event) bool {
		c, err := session.Decode[struct {
			ID string `json:"id"`
		}](e)
		if err == nil && e.Kind == session.KindChildSettled {
			settled[c.ID] = true
			return true
		}
		running = err == nil && !settled[c.ID]
		return !running
	}, session.KindChildSpawned, session.KindChildSettled)
	return running, err
}

// worked tells whether a tool was called in a turn, those that only look after the
// goal apart.
func (d *desk) worked(ctx context.Context, turn int) (bool, error) {
	worked := false
	err := d.backwards(ctx, within(turn, func(e session.Event) bool {
		t, err := session.Decode[session.ToolStarted](e)
		worked = err == nil && !slices.Contains(goalTools, t.Name)
		return !worked
	}), session.KindToolStarted)
	return worked, err
}

// spokenTo tells whether the person said something in a turn.
func (d *desk) spokenTo(ctx context.Context, turn int) (bool, error) {
	spoken := false
	err := d.backwards(ctx, within(turn, func(e session.Event) bool {
		m, err := session.Decode[session.Message](e)
		spoken = err == nil && (m.Source == session.SourceOwner || m.Source == session.SourceSteer)
		return !spoken
	}), session.KindMessageUser)
	return spoken, err
}

// roundWaits tells whether a round's message is still in the inbox.
func (d *desk) roundWaits(ctx context.Context) (bool, error) {
	waits := false
	claimed := map[int64]bool{}
	err := d.backwards(ctx, func(e session.Event) bool {
		if c, err := session.Decode[session.InboxClaimed](e); e.Kind == session.KindInboxClaimed {
			for _, seq := range c.Items {
				claimed[seq] = err == nil
			}
			return true
		}
		item, err := session.Decode[session.InboxItem](e)
		if err != nil || !isRound(item.Text, item.Source, item.From) {
			return true
		}
		waits = !claimed[e.Seq]
		return false
	}, session.KindInboxQueued, session.KindInboxClaimed)
	return waits, err
}
