package fold

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Node is one message of the surface. Its Message is immutable.
type Node struct {
	session.Node
	Message *llm.Message `json:"-"`
}

// Surface is the ordered messages that the model sees next (C1). Node 0 is the
// system prompt.
type Surface struct {
	Nodes  []Node `json:"nodes"`
	Tokens int    `json:"tokens"` // estimate over all nodes
	// Generation counts the replacements, so that a caller can tell whether the
	// surface shrank between two looks.
	Generation int `json:"generation"`
}

// Clone returns a surface that can be changed without changing s.
func (s *Surface) Clone() *Surface {
	c := *s
	c.Nodes = slices.Clone(s.Nodes)
	return &c
}

// Messages returns the messages in order, up to and including node until; 0
// means all.
func (s *Surface) Messages(until int64) []*llm.Message {
	out := make([]*llm.Message, 0, len(s.Nodes)+1)
	for i := range s.Nodes {
		out = append(out, s.Nodes[i].Message)
		if until != 0 && s.Nodes[i].Seq == until {
			break
		}
	}
	return out
}

// Outline returns the nodes without their messages.
func (s *Surface) Outline() []session.Node {
	out := make([]session.Node, len(s.Nodes))
	for i := range s.Nodes {
		out[i] = s.Nodes[i].Node
	}
	return out
}

// Apply performs an event's effect. An event without one changes nothing.
func (s *Surface) Apply(e session.Event) error {
	if e.Op == nil {
		return nil
	}
	if e.Op.Kind == session.OpDrop {
		from, to, err := s.span(e)
		if err != nil {
			return err
		}
		s.splice(from, to, nil)
		return nil
	}
	node, err := nodeOf(e)
	if err != nil {
		return err
	}
	switch e.Op.Kind {
	case session.OpAppend:
		s.Nodes = append(s.Nodes, node)
		s.Tokens += node.Tokens
	case session.OpReplace:
		from, to, err := s.span(e)
		if err != nil {
			return err
		}
		s.splice(from, to, &node)
	case session.OpInsert:
		at := s.Index(e.Op.After)
		if at < 0 {
			return fmt.Errorf("event %d: inserts behind node %d, which is not on the surface", e.Seq, e.Op.After)
		}
		s.Nodes = slices.Insert(s.Nodes, at+1, node)
		s.Tokens += node.Tokens
	default:
		return fmt.Errorf("event %d: unknown surface operation %q", e.Seq, e.Op.Kind)
	}
	return nil
}

// Index returns the position of the node with that seq, -1 if it is not there.
func (s *Surface) Index(seq int64) int {
	for i := len(s.Nodes) - 1; i >= 0; i-- {
		if s.Nodes[i].Seq == seq {
			return i
		}
	}
	return -1
}

func (s *Surface) span(e session.Event) (from, to int, err error) {
	from, to = s.Index(e.Op.From), s.Index(e.Op.To)
	switch {
	case from < 0 || to < 0:
		return 0, 0, fmt.Errorf("event %d: span %d..%d is not on the surface", e.Seq, e.Op.From, e.Op.To)
	case from > to:
		return 0, 0, fmt.Errorf("event %d: span %d..%d runs backwards", e.Seq, e.Op.From, e.Op.To)
	case from == 0 && (to != 0 || e.Kind != session.KindMessageSystem):
		return 0, 0, fmt.Errorf("event %d: node 0 can only be replaced by another system message", e.Seq)
	}
	return from, to, nil
}

func (s *Surface) splice(from, to int, node *Node) {
	for _, n := range s.Nodes[from : to+1] {
		s.Tokens -= n.Tokens
	}
	if node == nil {
		s.Nodes = slices.Delete(s.Nodes, from, to+1)
	} else {
		if old := s.Nodes[from]; from == to && old.Kind == node.Kind { // the same, in other words
			node.Turn = old.Turn
		}
		s.Nodes = slices.Replace(s.Nodes, from, to+1, *node)
		s.Tokens += node.Tokens
	}
	s.Generation++
}

// restore puts a surface from before in the place of this one.
func (s *Surface) restore(nodes []Node) {
	s.Nodes, s.Tokens = nodes, 0
	for i := range nodes {
		s.Tokens += nodes[i].Tokens
	}
	s.Generation++
}

func nodeOf(e session.Event) (Node, error) {
	n := Node{Node: session.Node{Seq: e.Seq, Kind: e.Kind, Turn: e.Turn}}
	switch e.Kind {
	case session.KindMessageSystem, session.KindMessageUser:
		p, err := session.Decode[session.Message](e)
		if err != nil {
			return n, err
		}
		n.Message, n.Source, n.From = p.Message, p.Source, p.From
	case session.KindMessageAssistant:
		p, err := session.Decode[session.Assistant](e)
		if err != nil {
			return n, err
		}
		n.Message = p.Message
	case session.KindToolResult:
		p, err := session.Decode[session.ToolResult](e)
		if err != nil {
			return n, err
		}
		n.Message = p.Message
	default:
		return n, fmt.Errorf("event %d: a %s event cannot be a node", e.Seq, e.Kind)
	}
	if n.Message == nil {
		return n, fmt.Errorf("event %d: the %s payload has no message", e.Seq, e.Kind)
	}
	n.Role, n.CallID = n.Message.Role, n.Message.CallID
	n.Tokens = llm.Estimate(n.Message)
	for _, b := range n.Message.Blocks {
		n.Chars += utf8.RuneCountInString(b.Text)
		if b.Call != nil {
			n.CallIDs = append(n.CallIDs, b.Call.ID)
			n.Chars += utf8.RuneCountInString(b.Call.Arguments)
		}
	}
	return n, nil
}
