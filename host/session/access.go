package session

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/tureen-host/tureen/host/llm"
)

// Access is what the host lends a plugin of one session, on both sides of the
// process boundary. It is safe for concurrent use. Every method may be refused for
// want of a capability.
type Access interface {
	// Events reads the log; at most what q selects.
	Events(ctx context.Context, q Query) iter.Seq2[Event, error]
	// Outline lists the surface's nodes in order, without their text.
	Outline(ctx context.Context) (Outline, error)
	// Meter tells how full the context is.
	Meter(ctx context.Context) (Meter, error)
	// Generate makes one model call on the session's own prefix; logged, priced
	// and cancelled by the host.
	Generate(ctx context.Context, g Generate) (Generated, error)
	// Steer queues a message for the next step; key dedupes.
	Steer(ctx context.Context, text, key string, wake bool) error
	// PutRecord appends a record of the calling plugin. Records are read as
	// events of KindRecord.
	PutRecord(ctx context.Context, kind, key string, data json.RawMessage) error
}

// Node is one message of the surface, in outline.
type Node struct {
	Seq     int64    `json:"seq"`
	Kind    Kind     `json:"kind"`
	Role    llm.Role `json:"role"`
	Source  Source   `json:"source,omitempty"`
	Tokens  int      `json:"tokens"`
	CallIDs []string `json:"call_ids,omitempty"` // an assistant's calls, in order
	CallID  string   `json:"call_id,omitempty"`  // the call that a tool result answers
	Chars   int      `json:"chars"`              // code points of the text
}

// Outline is the surface without its text at one revision of the log.
type Outline struct {
	Revision int64  `json:"revision"` // head seq
	Nodes    []Node `json:"nodes"`    // node 0 first
}

// Meter tells how full the context is, in tokens.
type Meter struct {
	Window   int    `json:"window"` // 0 = unknown
	Measured int    `json:"measured"`
	Source   string `json:"source"` // usage | estimate
	ResetAt  int    `json:"reset_at"`
	Reserve  int    `json:"reserve"` // Window - ResetAt
	Fixed    int    `json:"fixed"`   // node 0 and tool declarations
	Ordinal  int    `json:"ordinal"` // window ordinal from 1
}

// Generate asks for one model call: the surface up to and including a node, as
// it stands, then Append.
type Generate struct {
	SurfaceUntil    int64          `json:"surface_until"` // 0 = the whole surface
	Append          []*llm.Message `json:"append"`
	Model           string         `json:"model,omitempty"`
	Effort          string         `json:"effort,omitempty"`
	MaxOutputTokens int            `json:"max_output_tokens,omitempty"`
	Purpose         llm.Purpose    `json:"purpose,omitempty"`
}

// Generated is its answer.
type Generated struct {
	Message *llm.Message   `json:"message"`
	Usage   llm.Usage      `json:"usage"`
	Stop    llm.StopReason `json:"stop"`
}
