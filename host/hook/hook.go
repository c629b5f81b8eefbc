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

// Pending is a message that the next step is about to show.
type Pending struct {
	Text   string
	Source session.Source
	From   string // the plugin, where one wrote it
	Key    string
}

// StepDecision answers BeforeStep: Reject, where not empty, ends the turn
// blocked; Inject are messages for this step. Rest tells that the plugin has nothing
// more to say before the steps of this session: its process is not asked again, and
// costs nothing.
type StepDecision struct {
	Reject string
	Inject []string
	Rest   bool
}

// ToolCall is a call that is about to run; its arguments fit the schema. Answer is
// what the person said where this plugin asked, nil the first time.
type ToolCall struct {
	CallID    string
	Name      string
	Arguments json.RawMessage
	Answer    *session.Answer
}

// ToolDecision answers BeforeTool. Deny, where not empty, becomes the call's
// error result. Ask, where not nil, is put to the person, and the plugin is asked
// once more with the answer; a second Ask denies. Confinement binds the call. Rest
// tells that the plugin has nothing to say of calls until its strategy puts a compaction
// off: it is not asked before.
type ToolDecision struct {
	Deny        string
	Ask         *session.Question
	Confinement session.Confinement
	Rest        bool
}

// ToolOutcome is what AfterTool sees and may change: every call of an answer,
// those that were refused included. Arguments are as the model wrote them.
type ToolOutcome struct {
	CallID    string
	Name      string
	Arguments string
	Text      string
	IsError   bool
}

// Stop ends the turn as blocked, with a code of the plugin's own in capitals.
type Stop struct {
	Code    string
	Message string
}

// OutcomeDecision answers AfterTool: Replace, where not nil, is the new text;
// Contexts are messages for the next step; Stop, where not nil, ends the turn once
// the batch is done.
type OutcomeDecision struct {
	Replace  *string
	Contexts []string
	Stop     *Stop
}

// StopDecision answers TurnStopping: Continue, where not empty, is a message
// that keeps the turn open (L5). Stop, where not nil, makes it end blocked.
type StopDecision struct {
	Continue string
	Stop     *Stop
}

// FailedDecision answers RequestFailed: Retry repeats the same step (L10).
type FailedDecision struct{ Retry bool }

// IdleDecision answers Idle. Wait, where not empty, says what is still going on
// (L16): the run does not end, and Idle is asked again soon. FollowUp, where not
// empty, is a message that opens the next turn; it counts only while nobody waits.
// After a turn that was cut off or blocked the run goes on for a FollowUp only.
// Unfinished, where not empty, names what was begun in this run and has stopped
// without being reached: a run that ends so does not end well.
type IdleDecision struct {
	Wait       string
	FollowUp   string
	Unfinished string
}

// Hooks is one plugin's say. Points tells which methods the plugin declared;
// the others are never called: embed Passive for them. An error ends the turn
// (L15) unless OnFailure is "continue".
type Hooks interface {
	Name() string
	Points() []Point
	OnFailure() string // continue | end_turn
	BeforeStep(ctx context.Context, at Where, pending []Pending) (StepDecision, error)
	BeforeTool(ctx context.Context, at Where, call ToolCall) (ToolDecision, error)
	AfterTool(ctx context.Context, at Where, outcome ToolOutcome) (OutcomeDecision, error)
	TurnStopping(ctx context.Context, at Where) (StopDecision, error)
	RequestFailed(ctx context.Context, at Where, failure session.Failure, attempt int) (FailedDecision, error)
	TurnEnded(ctx context.Context, at Where, ended session.TurnEnded) error
	Idle(ctx context.Context, at Where) (IdleDecision, error)
}

// Passive has nothing to say at any point. Embedders define Name and Points, and
// the methods of those points.
type Passive struct{}

func (Passive) OnFailure() string { return "end_turn" }
func (Passive) BeforeStep(context.Context, Where, []Pending) (StepDecision, error) {
	return StepDecision{}, nil
}
func (Passive) BeforeTool(context.Context, Where, ToolCall) (ToolDecision, error) {
	return ToolDecision{}, nil
}
func (Passive) AfterTool(context.Context, Where, ToolOutcome) (OutcomeDecision, error) {
	return OutcomeDecision{}, nil
}
func (Passive) TurnStopping(context.Context, Where) (StopDecision, error) {
	return StopDecision{}, nil
}
func (Passive) RequestFailed(context.Context, Where, session.Failure, int) (FailedDecision, error) {
	return FailedDecision{}, nil
}
func (Passive) TurnEnded(context.Context, Where, session.TurnEnded) error { return nil }
func (Passive) Idle(context.Context, Where) (IdleDecision, error)         { return IdleDecision{}, nil }
