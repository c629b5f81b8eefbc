package fold

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Violation is a rule that a log breaks, at one event.
type Violation struct {
	Seq  int64  `json:"seq"`
	To   int64  `json:"to,omitempty"` // of a stretch: its last event
	Rule string `json:"rule"`
	Text string `json:"text"`
}

// Checker holds a log against the rules, event by event: contiguous seq, turns
// and steps balanced, each call answered once, compactions whole, operations on
// the surface. It keeps going after a violation.
type Checker struct {
	state      *State
	violations []Violation
	compacting int64 // seq of an open compaction.started
}

// NewChecker returns a checker of an empty log.
func NewChecker() *Checker { return &Checker{state: New()} }

// Check holds a whole log against the rules, and its snapshot against a full
// fold. It returns the violations, in order; an error means that the log could
// not be read to its end.
func Check(ctx context.Context, log session.Reader) ([]Violation, error) {
	c := NewChecker()
	snap, snapHead, err := log.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	for e, err := range log.Read(ctx, session.Query{}) {
		if err != nil {
			return c.violations, err
		}
		c.Event(e)
		if snap != nil && e.Seq == snapHead {
			c.snapshot(snap)
		}
	}
	if snap != nil && snapHead > c.state.Head {
		c.add(c.state.Head, "snapshot", "was taken at event %d, the log ends at %d", snapHead, c.state.Head)
	}
	c.End()
	return c.violations, nil
}

// Violations returns what was found so far.
func (c *Checker) Violations() []Violation { return c.violations }

// State returns the fold of the events so far.
func (c *Checker) State() *State { return c.state }

// Event checks the next event and folds it.
func (c *Checker) Event(e session.Event) {
	c.rules(e)
	c.fold(e)
}

func (c *Checker) rules(e session.Event) {
	before := c.state.Head
	switch {
	case e.Seq != before+1:
		c.add(e.Seq, "seq", "follows event %d", before)
		c.state.Head = e.Seq - 1
	case e.Seq == 1 && e.Kind != session.KindSessionCreated:
		c.add(e.Seq, "first", "a log begins with %s, this one with %s", session.KindSessionCreated, e.Kind)
	case e.V > session.SchemaVersion:
		c.add(e.Seq, "version", "written with schema %d, newer than %d", e.V, session.SchemaVersion)
	}
	if rule := rules[e.Kind]; rule != nil {
		rule(c, e)
	}
	if c.compacting != 0 && !inCompaction[e.Kind] {
		c.add(e.Seq, "compaction", "%s stands inside the compaction begun at event %d", e.Kind, c.compacting)
		c.compacting = 0
	}
}

func (c *Checker) fold(e session.Event) {
	if err := c.state.Apply(e); err != nil {
		c.add(e.Seq, "fold", "%s", strings.TrimPrefix(err.Error(), fmt.Sprintf("event %d: ", e.Seq)))
	}
}

// End checks what must hold at the end of a log: nothing half done but an open
// turn, and a surface that may be sent once the open calls are answered.
func (c *Checker) End() {
	if c.compacting != 0 {
		c.add(c.compacting, "compaction", "has no end")
	}
	if err := sound(c.state); err != nil {
		c.add(c.state.Head, "surface", "%v", err)
	}
}

// sound tells whether the surface may be sent once the open calls are answered and
// the next input stands behind it.
func sound(s *State) error {
	messages := s.Surface.Messages(0)
	for _, call := range s.Turn.Calls {
		messages = append(messages, llm.ToolResult(call.ID, "", true))
	}
	if len(messages) == 0 || !s.Turn.Open && messages[len(messages)-1].Role != llm.RoleUser {
		messages = append(messages, llm.Text(llm.RoleUser, "."))
	}
	if last := messages[len(messages)-1].Role; last == llm.RoleAssistant || last == llm.RoleSystem {
		messages = append(messages, llm.Text(llm.RoleUser, "."))
	}
	return llm.Validate(messages)
}

// snapshot holds a stored snapshot against the state. One of another version is not
// used and breaks no rule.
func (c *Checker) snapshot(stored []byte) {
	var format struct{ Version int }
	if json.Unmarshal(stored, &format) == nil && format.Version > 0 && format.Version != snapshotVersion {
		return
	}
	var a, b any
	if json.Unmarshal(stored, &a) != nil || json.Unmarshal(c.state.Snapshot(), &b) != nil {
		c.add(c.state.Head, "snapshot", "does not decode")
		return
	}
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	if !bytes.Equal(x, y) {
		c.add(c.state.Head, "snapshot", "differs from a full fold")
	}
}

func (c *Checker) add(seq int64, rule, format string, args ...any) {
	c.violations = append(c.violations, Violation{Seq: seq, Rule: rule, Text: fmt.Sprintf(format, args...)})
}
