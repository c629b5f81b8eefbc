package session

import (
	"encoding/json"

	"github.com/tureen-host/tureen/host/llm"
)

// Spawn asks for a subagent: a session of its own that works on Task (S1).
type Spawn struct {
	Task  string          `json:"task"`
	Label string          `json:"label,omitempty"` // a few words for people
	Data  json.RawMessage `json:"data,omitempty"`  // handed to the plugins that open the child
	// Fork has the child begin with this session's log up to its last ended turn (S2).
	Fork bool `json:"fork,omitempty"`
}

// ChildState is where a subagent stands.
type ChildState string

const (
	StateRunning ChildState = "running"
	StateSettled ChildState = "settled"
)

// Child is a subagent of a session.
type Child struct {
	ID     string     `json:"id"` // of its session
	Label  string     `json:"label,omitempty"`
	Depth  int        `json:"depth"`
	State  ChildState `json:"state"`
	Reason Reason     `json:"reason,omitempty"` // of its last turn, once settled
	// Usage is what it and its own subagents used up to when it last settled.
	Usage llm.Usage `json:"usage"`
}

// ChildSpawned stands in the parent's log before the child takes its first step,
// and again each time the child begins to work anew.
type ChildSpawned struct {
	ID    string `json:"id"`
	Label string `json:"label,omitempty"`
	Depth int    `json:"depth"`
	Again bool   `json:"again,omitempty"`
}

// ChildSettled says what a subagent came to. The message to the parent's inbox is
// in the same append.
type ChildSettled struct {
	ID     string          `json:"id"`
	Reason Reason          `json:"reason"`
	Error  *Failure        `json:"error,omitempty"`
	Text   string          `json:"text,omitempty"` // of its last answer
	Report json.RawMessage `json:"report,omitempty"`
	// Usage is what it and its own subagents used since it began to work.
	Usage llm.Usage `json:"usage"`
	// Lost tells that the host stopped while the child ran.
	Lost bool `json:"lost,omitempty"`
}

// Report is the structured result of a session (S4).
type Report struct {
	CallID string          `json:"call_id"`
	Data   json.RawMessage `json:"data"`
}
