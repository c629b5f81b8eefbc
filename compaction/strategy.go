// Package compaction says how a strategy proposes a smaller surface and how a
// proposal is checked. A strategy proposes, the host applies.
package compaction

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// Strategy decides what replaces what when the context is short. It is called
// from one goroutine per session, and may serve several sessions at once.
type Strategy interface {
	// Open is called before the first step of a session, also on resume, and
	// again when the budget changes.
	Open(ctx context.Context, s Session) (Opening, error)
	// Propose answers a trigger. The zero Proposal means nothing to do.
	Propose(ctx context.Context, in Input) (Proposal, error)
}

// Session is what a strategy knows of the session that it serves.
type Session struct {
	ID        string
	Workspace string          // absolute; where the session was made, and the root of what may be written
	Directory string          // absolute; where tools start from, Workspace or another
	Parent    string          // the session that spawned this one as a subagent, "" = none
	Depth     int             // how many ancestors it has
	Spawn     json.RawMessage // what the spawning plugin handed to the child
	Agent     string          // the agent's name
	Provider  string
	Model     string
	Created   time.Time
	Resumed   bool
	Budget    Budget
	// FixedTokens estimates node 0 without the strategy's own sections plus the
	// tool declarations.
	FixedTokens int
	Access      session.Access
}

// Opening is what a strategy shows from the start of a window.
type Opening struct {
	Sections []Section
	Records  []Record
	Marks    []Mark
}

// Section is a part of the system prompt; frozen until the next compaction.
type Section struct {
	ID    string `json:"id"`
	Order int    `json:"order"`
	Text  string `json:"text"` // never interpolated
}

// Record is an entry of the strategy's own in the log.
type Record struct {
	Kind string          `json:"kind"`
	Key  string          `json:"key,omitempty"`
	Data json.RawMessage `json:"data"`
}

// Mark is a text that the host steers once a window, as soon as the tokens that
// remain of the window are at most Remaining. "{{room}}" in Text becomes the
// room to the reset line at that moment.
type Mark struct {
	ID        string `json:"id"`
	Remaining int    `json:"remaining"`
	Text      string `json:"text"`
}

// Input is one question to a strategy.
type Input struct {
	Session  string
	Revision int64 // head seq; the Proposal echoes it
	Trigger  session.Trigger
	Attempt  int // from 1 within a step
	Budget   Budget
	// Measured is the tokens in use, pending input included; Source says whether
	// it is usage or an estimate.
	Measured int
	Source   string
	// Outline yields the surface's nodes in order, node 0 first. It may fetch pages.
	Outline iter.Seq2[session.Node, error]
	// TurnOpen tells whether a turn is going on, so that the agent continues
	// after the compaction.
	TurnOpen bool
	// MayPostpone tells that the host takes a Proposal that postpones.
	MayPostpone bool
	// Instructions of a manual request, "" otherwise. Note of an armed request.
	Instructions string
	Note         string
	// Seed makes random choices repeatable.
	Seed     uint64
	Time     time.Time
	Access   session.Access
	Progress func(text string) // may be nil
}

// Kind classes a proposal.
type Kind string

const (
	KindTrim    Kind = "trim"
	KindSummary Kind = "summary"
	KindReset   Kind = "reset" // keeps nothing of the conversation
)

// Proposal is what a strategy would do. It changes nothing by itself.
type Proposal struct {
	Revision int64
	Kind     Kind
	Edits    []Edit
	// Sections, where Refresh is true, replace all sections of the Opening.
	Refresh  bool
	Sections []Section
	Records  []Record
	// Marks, where Refresh is true, replace the Opening's.
	Marks []Mark
	// Steer are messages for the step that follows.
	Steer []string
	// Continue tells that the turn goes on after a stopping trigger.
	Continue bool
	// Boot is stored with the compaction event (N18).
	Boot string
	// Postpone, without Edits, puts the compaction off by one step, which is shown
	// Steer. The host takes it only where MayPostpone; after the step it asks again.
	Postpone bool
}

// IsZero tells whether there is nothing to do.
func (p Proposal) IsZero() bool { return len(p.Edits) == 0 }

// Edits change the surface by reference.
type (
	Edit    = session.Edit
	Span    = session.Span
	Trim    = session.Trim
	Replace = session.Replace
)
