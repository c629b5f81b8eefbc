package fold

import (
	"bytes"
	"slices"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// slot is the place of an event that is missing or was set aside.
type slot struct {
	seq   int64
	event *session.Event // that was set aside, nil for a missing one
	why   string
}

// unit is events that stand together or not at all; why is set where they are to be
// set aside.
type unit struct {
	events []session.Event
	why    string
}

// Bounds of what is held back until it is clear what is missing.
const (
	maxHeld  = 4096
	maxLater = 1024
)

func (s *salvage) hold(p slot) {
	s.held = append(s.held, p)
	if len(s.held) > 2*maxHeld {
		rest := slices.Clone(s.held[maxHeld:])
		s.held = s.held[:maxHeld]
		s.flush(nil)
		s.held = rest
	}
}

// place settles a unit, or puts that off until an event comes that tells what is
// missing before it.
func (s *salvage) place(u unit) {
	if len(s.held) == 0 {
		s.settle(u)
		return
	}
	s.later = append(s.later, u)
	if e := u.one(); e != nil && tells(*e) || len(s.later) > maxLater {
		s.resolve()
	}
}

// one is the event that may stand alone, nil where there is none.
func (u unit) one() *session.Event {
	if u.why != "" || len(u.events) != 1 {
		return nil
	}
	return &u.events[0]
}

// tells tells whether it is clear from an event what is missing before it. What
// opens a turn or a step is no such: the messages behind it say more.
func tells(e session.Event) bool {
	switch e.Kind {
	case session.KindTurnEnded, session.KindStepEnded, session.KindMessageAssistant, session.KindCompactionUndone:
		return true
	case session.KindToolResult:
		return appends(e)
	}
	return false
}

// resolve writes what is missing before what was put off into the places of missing
// events, and settles what was put off.
func (s *salvage) resolve() {
	later := s.later
	s.later = nil
	if bridge := s.bridge(later); len(bridge) > 0 {
		s.flush(bridge)
	}
	for _, u := range later {
		s.settle(u)
	}
}

// blanks counts the places of missing events.
func (s *salvage) blanks() int {
	n := 0
	for _, p := range s.held {
		if p.event == nil {
			n++
		}
	}
	return n
}

// flush writes the held places: the bridge into the last ones of missing events,
// event.lost elsewhere.
func (s *salvage) flush(bridge []session.Event) {
	spare := s.blanks() - len(bridge)
	s.holed = s.holed || len(s.held) > 0
	for _, p := range s.held {
		e := session.New(session.KindLost, session.Lost{Why: p.why, Event: storable(p.event)})
		if p.event == nil {
			if spare--; spare < 0 && len(bridge) > 0 {
				next := bridge[0]
				next.Seq, next.Time = p.seq, s.clock(p)
				if bridge = bridge[1:]; s.stand([]session.Event{next}) == nil {
					s.result.Bridged++
					e = next
				}
			}
		}
		e.Seq, e.Time = p.seq, s.clock(p)
		s.checker.state.Head = p.seq
		s.yield(e)
	}
	s.held = nil
}

// settle lets events stand, as they are or mended, or sets them aside.
func (s *salvage) settle(u unit) {
	out := slices.Clone(u.events)
	if u.why == "" {
		if err := s.stand(out); err != nil {
			u.why = err.Error()
		}
	}
	if u.why != "" {
		for i := range u.events {
			s.result.SetAside++
			s.hold(slot{u.events[i].Seq, &u.events[i], u.why})
		}
		return
	}
	head := s.checker.state.Head
	s.flush(nil)
	s.checker.state.Head = head
	for i, e := range out {
		switch was := u.events[i]; {
		case e.Kind == was.Kind && e.Op == was.Op && bytes.Equal(e.Data, was.Data):
			s.result.Kept++
		case e.Kind == session.KindLost:
			s.result.SetAside++
		default:
			s.result.SetAside++
			s.result.Bridged++
		}
		s.holed = s.holed && e.Kind != session.KindTurnStarted
		s.time = e.Time
		s.yield(e)
	}
}

// clock is the time of what is written into a place.
func (s *salvage) clock(p slot) time.Time {
	if p.event != nil {
		s.time = storable(p.event).Time
	}
	return s.time
}
