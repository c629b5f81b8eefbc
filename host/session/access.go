package session

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"time"

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
	// FollowUp queues a message for the next turn, and begins it where none is
	// going on (L4); key dedupes.
	FollowUp(ctx context.Context, text, key string) error
	// Ask puts a question to the person and waits for the answer, at most for
	// timeout (0 = as long as it takes). A late answer becomes a message.
	Ask(ctx context.Context, q Question, timeout time.Duration) (Answer, error)
	// Spawn begins a subagent and returns at once; its end becomes a message to
	// this session that wakes it (S1, S3).
	Spawn(ctx context.Context, s Spawn) (Child, error)
	// Children lists this session's subagents, oldest first.
	Children(ctx context.Context) ([]Child, error)
	// Tell queues a message to a child or to the parent, and wakes it (S5).
	Tell(ctx context.Context, to, text string) error
	// Interrupt ends what a child is doing; it settles as cancelled.
	Interrupt(ctx context.Context, child string) error
	// Records yields what holds of the calling plugin's records, of one kind or, for
	// "", of all: the newest of each kind and key, as events of KindRecord, oldest
	// first. One with null data is none. The cost is that of what is yielded, however
	// long the log is. One that is written meanwhile may come once more.
	Records(ctx context.Context, kind string) iter.Seq2[Event, error]
	// PutRecord appends a record of the calling plugin, in place of the one of the
	// same kind and key; null data takes that away.
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
	From    string   `json:"from,omitempty"`     // of a user message: the plugin behind it
	Turn    int      `json:"turn,omitempty"`     // that brought it; 0 = none
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
	// Compactions counts those that were applied: where it grew, what stood on the
	// surface may be gone.
	Compactions int `json:"compactions"`
}

// Generate asks for one model call: the surface up to and including a node, then
// Append. Without Edits the surface goes out as it stands, byte for byte the prefix of
// the request before. Edits make another view of it for this call alone: they follow
// the rules of a proposal's and must lie before SurfaceUntil or end there; nothing is
// applied.
type Generate struct {
	SurfaceUntil    int64          `json:"surface_until"` // 0 = the whole surface
	Edits           []Edit         `json:"edits,omitempty"`
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

// Refusing is an Access that refuses everything; embed it where only some methods
// are needed.
type Refusing struct{}

var errRefused = errors.New("this session lends nothing of that kind")

func (Refusing) Events(context.Context, Query) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(Event{}, errRefused) }
}
func (Refusing) Outline(context.Context) (Outline, error) { return Outline{}, errRefused }
func (Refusing) Meter(context.Context) (Meter, error)     { return Meter{}, errRefused }
func (Refusing) Generate(context.Context, Generate) (Generated, error) {
	return Generated{}, errRefused
}
func (Refusing) Steer(context.Context, string, string, bool) error { return errRefused }
func (Refusing) FollowUp(context.Context, string, string) error    { return errRefused }
func (Refusing) Ask(context.Context, Question, time.Duration) (Answer, error) {
	return Answer{}, errRefused
}
func (Refusing) Spawn(context.Context, Spawn) (Child, error) { return Child{}, errRefused }
func (Refusing) Children(context.Context) ([]Child, error)   { return nil, errRefused }
func (Refusing) Tell(context.Context, string, string) error  { return errRefused }
func (Refusing) Interrupt(context.Context, string) error     { return errRefused }
func (Refusing) Records(context.Context, string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(Event{}, errRefused) }
}
func (Refusing) PutRecord(context.Context, string, string, json.RawMessage) error {
	return errRefused
}
