package sdk

import (
	"context"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// Hooks is the plugin's say at the points that it declared; onFailure comes
// from the plugin's row in the profile.
func (r *Remote) Hooks(points []hook.Point, onFailure string) hook.Hooks {
	return &hooksClient{r: r, rpc: pluginv1.NewHooksClient(r.conn), points: points, onFailure: onFailure}
}

type hooksClient struct {
	r         *Remote
	rpc       pluginv1.HooksClient
	points    []hook.Point
	onFailure string
}

func (c *hooksClient) Name() string         { return c.r.name }
func (c *hooksClient) Points() []hook.Point { return c.points }
func (c *hooksClient) OnFailure() string    { return c.onFailure }

func (c *hooksClient) BeforeStep(ctx context.Context, at hook.Where, pending []hook.Pending) (hook.StepDecision, error) {
	ctx, call := newCall(ctx, at.Session, at.Turn, at.Step)
	resp, err := c.rpc.BeforeStep(ctx, &pluginv1.BeforeStepRequest{Context: call, Pending: mapSlice(pending, pendingTo)})
	return hook.StepDecision{Reject: resp.GetReject(), Inject: resp.GetInject(), Rest: resp.GetRest()}, c.r.outcome("BeforeStep", resp, err)
}

func (c *hooksClient) BeforeTool(ctx context.Context, at hook.Where, in hook.ToolCall) (hook.ToolDecision, error) {
	ctx, call := newCall(ctx, at.Session, at.Turn, at.Step)
	resp, err := c.rpc.BeforeTool(ctx, &pluginv1.BeforeToolRequest{Context: call, CallId: in.CallID, Name: in.Name, Arguments: in.Arguments, Answer: answerTo(in.Answer)})
	return hook.ToolDecision{Deny: resp.GetDeny(), Ask: questionFrom(resp.GetAsk()), Confinement: confinementFrom(resp.GetConfinement()), Rest: resp.GetRest()}, c.r.outcome("BeforeTool", resp, err)
}

func (c *hooksClient) AfterTool(ctx context.Context, at hook.Where, outcome hook.ToolOutcome) (hook.OutcomeDecision, error) {
	ctx, call := newCall(ctx, at.Session, at.Turn, at.Step)
	resp, err := c.rpc.AfterTool(ctx, &pluginv1.AfterToolRequest{
		Context: call, CallId: outcome.CallID, Name: outcome.Name, Text: valid(outcome.Text), IsError: outcome.IsError,
		Arguments: valid(outcome.Arguments),
	})
	if err := c.r.outcome("AfterTool", resp, err); err != nil {
		return hook.OutcomeDecision{}, err
	}
	return hook.OutcomeDecision{Replace: resp.Replace, Contexts: resp.GetContexts(), Stop: stopFrom(resp.GetStop())}, nil
}

func (c *hooksClient) TurnStopping(ctx context.Context, at hook.Where) (hook.StopDecision, error) {
	ctx, call := newCall(ctx, at.Session, at.Turn, at.Step)
	resp, err := c.rpc.TurnStopping(ctx, &pluginv1.TurnStoppingRequest{Context: call})
	return hook.StopDecision{Continue: resp.GetContinueMessage(), Stop: stopFrom(resp.GetStop())}, c.r.outcome("TurnStopping", resp, err)
}

func (c *hooksClient) RequestFailed(ctx context.Context, at hook.Where, f session.Failure, attempt int) (hook.FailedDecision, error) {
	ctx, call := newCall(ctx, at.Session, at.Turn, at.Step)
	resp, err := c.rpc.RequestFailed(ctx, &pluginv1.RequestFailedRequest{
		Context: call, Code: f.Code, Message: valid(f.Message), Hint: valid(f.Hint), Attempt: int32(attempt),
	})
	return hook.FailedDecision{Retry: resp.GetRetry()}, c.r.outcome("RequestFailed", resp, err)
}

func (c *hooksClient) TurnEnded(ctx context.Context, at hook.Where, ended session.TurnEnded) error {
	ctx, call := newCall(ctx, at.Session, at.Turn, at.Step)
	req := &pluginv1.TurnEndedRequest{Context: call, Reason: string(ended.Reason)}
	if ended.Error != nil {
		req.Code, req.Message = ended.Error.Code, valid(ended.Error.Message)
	}
	resp, err := c.rpc.TurnEnded(ctx, req)
	return c.r.outcome("TurnEnded", resp, err)
}

func (c *hooksClient) Idle(ctx context.Context, at hook.Where) (hook.IdleDecision, error) {
	ctx, call := newCall(ctx, at.Session, at.Turn, at.Step)
	resp, err := c.rpc.Idle(ctx, &pluginv1.IdleRequest{Context: call})
	return hook.IdleDecision{Wait: resp.GetWait(), FollowUp: resp.GetFollowUp(), Unfinished: resp.GetUnfinished()}, c.r.outcome("Idle", resp, err)
}
