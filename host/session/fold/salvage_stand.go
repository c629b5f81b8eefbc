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

// stand folds events that stand together, or tells why they cannot. Where some are
// written anew for that, it puts the new ones in their place.
func (s *salvage) stand(events []session.Event) error {
	for _, e := range events {
		if _, err := e.Time.MarshalJSON(); err != nil || len(e.Data) > 0 && !json.Valid(e.Data) {
			return errors.New("its time or its payload is no JSON")
		}
	}
	e, state := events[0], s.checker.state
	if len(events) > 1 || e.Op != nil && e.Op.Kind != session.OpAppend || e.Kind == session.KindCompactionUndone {
		return s.together(events)
	}
	before := state.Head
	state.Head = e.Seq - 1
	err := fits(state, e)
	if err == nil {
		err = s.checker.try(e)
	}
	if err == nil {
		return nil
	}
	if state.Head = before; e.Kind == session.KindInboxClaimed {
		return s.together(events)
	}
	return err
}

// together is stand on a copy of the state.
func (s *salvage) together(events []session.Event) error {
	trial := &Checker{state: s.checker.state.clone()}
	trial.state.Head = events[0].Seq - 1
	out := slices.Clone(events)
	for i, e := range events {
		err := trial.try(e)
		if err == nil {
			continue
		}
		mended, ok := mend(trial.state, e)
		if !ok && (len(events) == 1 || e.Op == nil) {
			return err
		}
		if !ok {
			mended = session.New(session.KindLost, session.Lost{Why: "what it replaces is lost", Event: storable(&e)}).At(e.Turn, e.Step)
			mended.Seq, mended.Time = e.Seq, e.Time
		}
		if err := trial.try(mended); err != nil {
			return err
		}
		out[i] = mended
	}
	if trial.compacting != 0 {
		return errors.New(whyHalf)
	}
	if err := sound(trial.state); err != nil {
		return err
	}
	copy(events, out)
	*s.checker.state = *trial.state
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
