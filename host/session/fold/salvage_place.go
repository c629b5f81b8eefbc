package fold

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tureen-host/tureen/host/llm"
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

func (s *salvage) aside(e session.Event, why string) {
	s.result.SetAside++
	s.hold(slot{e.Seq, &e, why})
}

// place lets events stand that belong together, or puts that off until an event
// comes that tells what is missing before them.
func (s *salvage) place(u unit) {
	switch e := u.events[0]; {
	case len(s.held) == 0:
		s.settle(u)
	case len(u.events) == 1 && u.why == "" && opens(e):
		s.open(u)
	case len(u.events) == 1 && u.why == "" && structural(e):
		s.resolve(&e)
	case u.why != "" && len(s.later) == 0:
		s.settle(u)
	default:
		s.putOff(u)
	}
}

func (s *salvage) putOff(u unit) {
	if s.later = append(s.later, u); len(s.later) > maxLater {
		s.resolve(nil)
	}
}

// open takes what opens a turn or a step. What is missing before it is clear, but for
// the message of a user, which its answer may want.
func (s *salvage) open(u unit) {
	if s.opening == nil {
		if _, ok := s.bridge(s.later, &u.events[0]); !ok {
			s.resolve(&u.events[0])
			return
		}
		s.opening = &u.events[0]
	}
	s.putOff(u)
}

func opens(e session.Event) bool {
	return e.Kind == session.KindTurnStarted || e.Kind == session.KindStepStarted
}

// structural tells whether an event can stand in one place only.
func structural(e session.Event) bool {
	switch e.Kind {
	case session.KindTurnStarted, session.KindTurnEnded, session.KindStepStarted, session.KindStepEnded, session.KindMessageAssistant, session.KindCompactionUndone:
		return true
	case session.KindToolResult:
		return appends(e)
	}
	return false
}

// resolve writes what is missing before e, or before what was put off where e is
// nil, into the places that are free, and lets them stand.
func (s *salvage) resolve(e *session.Event) {
	bridge, ok := s.bridge(s.later, e)
	if e != nil {
		u := unit{events: []session.Event{*e}}
		if ok = ok && s.decodes(*e) == nil; !ok && len(s.later) > 0 { // it will hardly stand, whatever comes before it
			if e.Kind == session.KindToolResult {
				u.why = "no answer before it makes its call"
			}
			s.putOff(u)
			return
		}
		s.later = append(s.later, u)
	}
	later := s.later
	s.later, s.opening = nil, nil
	if ok && len(bridge) > 0 {
		s.flush(bridge)
	}
	for _, u := range later {
		s.settle(u)
	}
}

func (s *salvage) decodes(e session.Event) error {
	if prepare := folds[e.Kind]; prepare != nil {
		if _, err := prepare(s.checker.state, e); err != nil {
			return err
		}
	}
	if appends(e) {
		_, err := nodeOf(e)
		return err
	}
	return nil
}

// free picks n of the held places: first those of missing events, then those of
// events whose loss matters least. nil where there are not so many.
func (s *salvage) free(n int) map[int64]bool {
	picked := map[int64]bool{}
	for worth := range 4 {
		for i := len(s.held) - 1; i >= 0 && len(picked) < n; i-- {
			if s.held[i].worth() == worth {
				picked[s.held[i].seq] = true
			}
		}
	}
	if len(picked) < n {
		return nil
	}
	return picked
}

// worth tells what is lost with what a place holds.
func (p slot) worth() int {
	switch {
	case p.event == nil:
		return 0
	case roles[p.event.Kind] == "":
		return 1
	case p.event.Kind == session.KindToolResult:
		return 2
	}
	return 3
}

// flush writes the held places: the bridge into free ones, event.lost elsewhere. A
// bridge for which there is no room is not built.
func (s *salvage) flush(bridge []session.Event) {
	free := s.free(len(bridge))
	for _, p := range s.held {
		e := session.New(session.KindLost, session.Lost{Why: p.why, Event: storable(p.event)})
		if free[p.seq] && len(bridge) > 0 {
			next := bridge[0]
			next.Seq, next.Time = p.seq, s.clock(p)
			if bridge = bridge[1:]; s.stand(next) == nil {
				s.result.Bridged++
				e = next
			}
		}
		e.Seq, e.Time = p.seq, s.clock(p)
		s.checker.state.Head = p.seq
		s.yield(e)
	}
	s.held = nil
}

// settle lets events stand or sets them aside.
func (s *salvage) settle(u unit) {
	if u.why == "" {
		if err := s.stand(u.events...); err != nil {
			u.why = err.Error()
		}
	}
	if u.why != "" {
		if u.why != whyHalf && (s.claimRest(u) || s.mend(u)) {
			return
		}
		for _, e := range u.events {
			s.aside(e, u.why)
		}
		return
	}
	head := s.checker.state.Head
	s.flush(nil)
	s.checker.state.Head = head
	for _, e := range u.events {
		s.result.Kept++
		s.time = e.Time
		s.yield(e)
	}
}

// stand folds events that belong together, or tells why they cannot stand.
func (s *salvage) stand(events ...session.Event) error {
	state := s.checker.state
	before := state.Head
	for _, e := range events {
		if _, err := e.Time.MarshalJSON(); err != nil || len(e.Data) > 0 && !json.Valid(e.Data) {
			return errors.New("its time or its payload is no JSON")
		}
	}
	state.Head = events[0].Seq - 1
	e := events[0]
	if len(events) == 1 && (e.Op == nil || e.Op.Kind == session.OpAppend) && e.Kind != session.KindCompactionUndone {
		err := fits(state, e)
		if err == nil {
			err = s.checker.try(e)
		}
		if err != nil {
			state.Head = before
		}
		return err
	}
	trial := &Checker{state: state.clone()}
	state.Head = before
	for _, e := range events {
		if err := trial.try(e); err != nil {
			return err
		}
	}
	if err := sound(trial.state); err != nil {
		return err
	}
	*state = *trial.state
	return nil
}

// storable is an event as JSON can have it.
func storable(e *session.Event) *session.Event {
	if e == nil {
		return nil
	}
	out := *e
	if !json.Valid(e.Data) && len(e.Data) > 0 {
		out.Data, _ = json.Marshal(string(e.Data))
	}
	if len(out.Data) == 0 {
		out.Data = nil
	}
	if _, err := e.Time.MarshalJSON(); err != nil {
		out.Time = time.Time{}
	}
	return &out
}

// clock is the time of what is written into a place.
func (s *salvage) clock(p slot) time.Time {
	if p.event != nil {
		s.time = storable(p.event).Time
	}
	return s.time
}

// try checks and folds an event; an error leaves the state as it was.
func (c *Checker) try(e session.Event) error {
	head, compacting := c.state.Head, c.compacting
	c.violations = nil
	c.rules(e)
	if len(c.violations) == 0 {
		c.fold(e)
	}
	if len(c.violations) == 0 {
		return nil
	}
	why := c.violations[0]
	c.violations, c.compacting, c.state.Head = nil, compacting, head
	return fmt.Errorf("%s: %s", why.Rule, why.Text)
}

// fits tells whether a message may stand at the end of the surface.
func fits(s *State, e session.Event) error {
	if e.Op == nil {
		return nil
	}
	n, err := nodeOf(e)
	if err != nil {
		return err
	}
	nodes := s.Surface.Nodes
	last := llm.Role("")
	if len(nodes) > 0 {
		last = nodes[len(nodes)-1].Role
	}
	switch {
	case roles[n.Kind] != n.Role:
		return fmt.Errorf("its message is one of role %q", n.Role)
	case n.Role != llm.RoleTool && len(s.Turn.Calls) > 0:
		return fmt.Errorf("call %q has no result yet", s.Turn.Calls[0].ID)
	case n.Role == llm.RoleSystem && last != "" && last != llm.RoleUser && last != llm.RoleTool:
		return fmt.Errorf("it follows a message of role %q", last)
	case n.Role == llm.RoleAssistant && last == llm.RoleAssistant:
		return fmt.Errorf("it follows a message of role %q", last)
	case n.Role == llm.RoleAssistant && !s.spoken():
		return fmt.Errorf("no message of a user stands before it")
	case n.Role != llm.RoleAssistant && len(n.CallIDs) > 0:
		return fmt.Errorf("a message of role %q makes calls", n.Role)
	}
	return newCalls(s, n)
}

var roles = map[session.Kind]llm.Role{session.KindMessageSystem: llm.RoleSystem, session.KindMessageUser: llm.RoleUser,
	session.KindMessageAssistant: llm.RoleAssistant, session.KindToolResult: llm.RoleTool}

// newCalls tells whether a node's calls have names and ids of their own.
func newCalls(s *State, n Node) error {
	for i, c := range n.Message.Calls() {
		if c.ID == "" || c.Name == "" {
			return fmt.Errorf("a call of it has no id or no name")
		}
		if slices.Contains(n.CallIDs[:i], c.ID) {
			return fmt.Errorf("it makes call %q twice", c.ID)
		}
		for j := range s.Surface.Nodes {
			if slices.Contains(s.Surface.Nodes[j].CallIDs, c.ID) {
				return fmt.Errorf("call %q stands on the surface already", c.ID)
			}
		}
	}
	return nil
}

func (s *State) spoken() bool {
	return slices.ContainsFunc(s.Surface.Nodes, func(n Node) bool { return n.Role == llm.RoleUser })
}
