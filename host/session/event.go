package session

import (
	"encoding/json"
	"fmt"
	"time"
)

// SchemaVersion is the version of the event payloads that this binary writes.
// Readers pass unknown kinds through untouched and refuse a newer store.
const SchemaVersion = 1

// Kind names what happened. The kinds and their payloads are in kinds.go.
type Kind string

// Event is one entry of a log. Events are immutable once appended.
type Event struct {
	Seq  int64           `json:"seq"` // from 1, without gaps; the Log gives it
	V    int             `json:"v"`   // SchemaVersion of Data
	Time time.Time       `json:"time"`
	Kind Kind            `json:"kind"`
	Turn int             `json:"turn,omitempty"` // ordinal from 1; 0 = outside a turn
	Step int             `json:"step,omitempty"` // ordinal within the turn from 1
	Op   *Op             `json:"op,omitempty"`   // what the event does to the surface; nil = nothing
	Data json.RawMessage `json:"data,omitempty"` // the kind's payload
}

// Op is an event's effect on the surface. A node is named by the seq of the
// event that made it. Nothing is deleted from the log: replaced nodes are hidden.
type Op struct {
	Kind OpKind `json:"kind"`
	// From and To are the first and last node, inclusive, that replace and drop
	// hide; both are on the surface at that moment.
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to,omitempty"`
	// After is the node behind which insert puts its own.
	After int64 `json:"after,omitempty"`
}

// OpKind is one of append, replace (own node instead of From..To), insert (own
// node behind After) and drop (no own node).
type OpKind string

const (
	OpAppend  OpKind = "append"
	OpReplace OpKind = "replace"
	OpInsert  OpKind = "insert"
	OpDrop    OpKind = "drop"
)

// New makes an event that a Log may append; Seq and Time are the Log's to set.
// It panics where the payload cannot be JSON, which is a programming error.
func New(kind Kind, payload any) Event {
	data, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("session: payload of %s: %v", kind, err))
	}
	return Event{V: SchemaVersion, Kind: kind, Data: data}
}

// At returns the event placed in a turn and a step.
func (e Event) At(turn, step int) Event {
	e.Turn, e.Step = turn, step
	return e
}

// On returns the event with its effect on the surface.
func (e Event) On(op Op) Event {
	e.Op = &op
	return e
}

// Decode reads the payload.
func Decode[T any](e Event) (T, error) {
	var payload T
	if err := json.Unmarshal(e.Data, &payload); err != nil {
		return payload, fmt.Errorf("event %d (%s): payload does not decode: %w", e.Seq, e.Kind, err)
	}
	return payload, nil
}
