// Package tool says what a tool is and who provides it, and runs the calls of
// one answer in order.
package tool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// Spec declares a tool. Within a session a tool's Spec does not change (SP8).
type Spec struct {
	Name        string // [A-Za-z0-9_-]{1,64}
	Description string
	Schema      json.RawMessage // an object-rooted JSON Schema; the host validates arguments with it
	// Parallel calls may run beside each other; any other call is a barrier (L19).
	Parallel bool
	// Timeout is the tool's own deadline, 0 = the host's default of 2 minutes (T6).
	Timeout time.Duration
	// NoSpill is for a tool that pages by itself: its results are shown whole up to
	// spill.MaxPaged, four times what others may show (C14).
	NoSpill bool
	// Guidance is the tool's sentence in the system prompt, shown only while the
	// tool is (SP9), at GuidanceOrder.
	Guidance      string
	GuidanceOrder int
}

// Call is one dispatched call. Arguments is a JSON object that fits the schema.
type Call struct {
	Session   string
	Turn      int
	Step      int
	ID        string
	Name      string
	Arguments json.RawMessage
	// Room is what is left before the reset line when the batch began, in tokens as
	// llm.EstimateText counts them, -1 where unknown; page budgets shrink with it.
	Room int
	// Confinement is what hooks bound the call to; a tool that changes files or
	// reaches other machines keeps to it.
	Confinement session.Confinement
}

// Effect is what a result asks of the host.
type Effect string

const (
	// EffectRequestCompaction arms a compaction after the batch; honoured only
	// from the active strategy's plugin.
	EffectRequestCompaction Effect = "request_compaction"
	// EffectConcludeTurn ends the turn after the batch (T15).
	EffectConcludeTurn Effect = "conclude_turn"
	// EffectChangeDirectory: Note is an absolute directory from which tools start
	// from now on (T22).
	EffectChangeDirectory Effect = "change_directory"
	// EffectReport: Note is a JSON text, the structured result of the session (S4).
	EffectReport Effect = "report"
)

// Result is what a call came to. A failure that the model may correct is a
// Result with IsError, never a Go error; its text starts with "Error: " (T3).
type Result struct {
	Text    string
	IsError bool
	Code    string // for the log only
	Effects []Effect
	// Note goes with an effect.
	Note string
	// Contexts are messages for the next step, after the results (T15).
	Contexts []string
	// LeftOut is how many bytes the tool has left out of Text for good.
	LeftOut int64
}

// Failed makes the error result for message.
func Failed(code, message string) Result {
	return Result{Text: "Error: " + message, IsError: true, Code: code}
}

// Provider offers tools of one plugin. A Go error from Call means that the
// provider is gone or broke its promise: the host answers the call with an
// error result (T2). Progress may be called from any goroutine until Call returns.
type Provider interface {
	Name() string // the plugin's name
	Tools(ctx context.Context, session string) ([]Spec, error)
	Call(ctx context.Context, call Call, progress func(text string)) (Result, error)
}
