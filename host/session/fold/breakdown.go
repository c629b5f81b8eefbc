package fold

import (
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// Breakdown says what the context is filled with, in estimated tokens (C19).
type Breakdown struct {
	System     int `json:"system"`     // node 0 and later system messages
	Tools      int `json:"tools"`      // declarations
	Owner      int `json:"owner"`      // the person's words
	Notices    int `json:"notices"`    // of host and plugins, runtime contexts included
	Checkpoint int `json:"checkpoint"` // what compactions left
	Assistant  int `json:"assistant"`  // answers, reasoning and calls included
	Results    int `json:"results"`    // of tools
}

// Breakdown adds up the surface and the tool declarations; the sum is Estimate.
func (s *State) Breakdown() Breakdown {
	b := Breakdown{Tools: s.ToolTokens()}
	for i := range s.Surface.Nodes {
		n := &s.Surface.Nodes[i]
		switch {
		case n.Kind == session.KindMessageSystem:
			b.System += n.Tokens
		case n.Kind == session.KindMessageAssistant:
			b.Assistant += n.Tokens
		case n.Kind == session.KindToolResult:
			b.Results += n.Tokens
		case n.Source == session.SourceCheckpoint:
			b.Checkpoint += n.Tokens
		case n.personal():
			b.Owner += n.Tokens
		default:
			b.Notices += n.Tokens
		}
	}
	sum, scaled := 0, 0
	for _, part := range []*int{&b.System, &b.Tools, &b.Owner, &b.Notices, &b.Checkpoint, &b.Assistant, &b.Results} {
		sum += *part
		*part = s.Scale(sum) - scaled // so that the rounded parts add up too
		scaled += *part
	}
	return b
}

// personal tells whether the person said it.
func (n *Node) personal() bool {
	return n.Source == session.SourceOwner || n.Source == session.SourceSteer
}

// TurnOutline is one turn as far as it stands on the surface (C19).
type TurnOutline struct {
	Turn   int      `json:"turn"` // 0 = what no turn brought
	From   int64    `json:"from"` // smallest and largest seq of its nodes
	To     int64    `json:"to"`
	Prompt string   `json:"prompt,omitempty"` // first line of the person's words
	Steps  int      `json:"steps"`            // answers on the surface
	Calls  []string `json:"calls,omitempty"`  // names of tools, each once, in order of first use
	Tokens int      `json:"tokens"`
}

// Turns lists the turns on the surface, oldest first. Node 0 and what compactions
// left belong to no turn; they are one entry wherever they stand side by side.
func (s *State) Turns() []TurnOutline {
	var turns []TurnOutline
	for i := range s.Surface.Nodes {
		n := &s.Surface.Nodes[i]
		turn := n.Turn
		if n.Kind == session.KindMessageSystem || n.Source == session.SourceCheckpoint {
			turn = 0
		}
		if len(turns) == 0 || turns[len(turns)-1].Turn != turn {
			turns = append(turns, TurnOutline{Turn: turn, From: n.Seq})
		}
		turns[len(turns)-1].add(n)
	}
	sum, scaled := 0, 0
	for i := range turns {
		sum += turns[i].Tokens
		turns[i].Tokens = s.Scale(sum) - scaled
		scaled += turns[i].Tokens
	}
	return turns
}

func (t *TurnOutline) add(n *Node) {
	t.From, t.To = min(t.From, n.Seq), max(t.To, n.Seq)
	t.Tokens += n.Tokens
	if t.Prompt == "" && n.personal() {
		t.Prompt, _, _ = strings.Cut(strings.TrimSpace(n.Message.Text()), "\n")
	}
	if n.Kind != session.KindMessageAssistant {
		return
	}
	t.Steps++
	for _, c := range n.Message.Calls() {
		if !slices.Contains(t.Calls, c.Name) {
			t.Calls = append(t.Calls, c.Name)
		}
	}
}
