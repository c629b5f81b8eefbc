// Package hook names the points of the loop where plugins have a say, and the
// decisions they may take. A hook that nobody declared costs nothing.
package hook

import (
	"context"
	"encoding/json"

	"github.com/tureen-host/tureen/host/session"
)

// Point is a place in the loop.
type Point string

const (
	BeforeStep    Point = "before_step"
	BeforeTool    Point = "before_tool"
	AfterTool     Point = "after_tool"
	TurnStopping  Point = "turn_stopping"
	RequestFailed Point = "request_failed"
	TurnEnded     Point = "turn_ended"
	Idle          Point = "idle"
)

// Where places an invocation.
type Where struct {
	Session string
	Turn    int
	Step    int
}

// StepDecision answers BeforeStep: Reject, where not empty, ends the turn
// blocked; Inject are messages for this step.
type StepDecision struct {
	Reject string
	Inject []string
}

// ToolDecision answers BeforeTool. Deny, where not empty, becomes the call's
// error result.
type ToolDecision struct{ Deny string }

// ToolOutcome is what AfterTool sees and may change.
type ToolOutcome struct {
	CallID  string
	Name    string
	Text    string
	IsError bool
}

// OutcomeDecision answers AfterTool: Replace, where not nil, is the new text;
// Contexts are messages for the next step.
type OutcomeDecision struct {
	Replace  *string
	Contexts []string
}

// StopDecision answers TurnStopping: Continue, where not empty, is a message
// that keeps the turn open (L5).
type StopDecision struct{ Continue string }

// FailedDecision answers RequestFailed: Retry repeats the same step (L10).
type FailedDecision struct{ Retry bool }

// Hooks is one plugin's say. Points tells which methods the plugin declared;
// the others are never called. An error ends the turn (L15) unless OnFailure is
// "continue".
type Hooks interface {
	Name() string
	Points() []Point
	OnFailure() string // continue | end_turn
	BeforeStep(ctx context.Context, at Where, pending []string) (StepDecision, error)
	BeforeTool(ctx context.Context, at Where, callID, name string, arguments json.RawMessage) (ToolDecision, error)
	AfterTool(ctx context.Context, at Where, outcome ToolOutcome) (OutcomeDecision, error)
	TurnStopping(ctx context.Context, at Where) (StopDecision, error)
	RequestFailed(ctx context.Context, at Where, failure session.Failure, attempt int) (FailedDecision, error)
	TurnEnded(ctx context.Context, at Where, reason session.Reason) error
	Idle(ctx context.Context, at Where) error
}
