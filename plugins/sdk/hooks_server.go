package sdk

import (
	"context"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

type hooksServer struct {
	pluginv1.UnimplementedHooksServer
	s *Server
}

func (h *hooksServer) BeforeStep(ctx context.Context, req *pluginv1.BeforeStepRequest) (*pluginv1.BeforeStepResponse, error) {
	d, err := protect(func() (hook.StepDecision, error) {
		return h.s.use().Hooks.BeforeStep(ctx, whereFrom(req.GetContext()), mapSlice(req.GetPending(), pendingFrom))
	})
	return &pluginv1.BeforeStepResponse{Error: h.s.failure(err), Reject: valid(d.Reject), Inject: mapSlice(d.Inject, valid), Rest: d.Rest}, nil
}

func (h *hooksServer) BeforeTool(ctx context.Context, req *pluginv1.BeforeToolRequest) (*pluginv1.BeforeToolResponse, error) {
	d, err := protect(func() (hook.ToolDecision, error) {
		return h.s.use().Hooks.BeforeTool(ctx, whereFrom(req.GetContext()), hook.ToolCall{
			CallID: req.GetCallId(), Name: req.GetName(), Arguments: req.GetArguments(), Answer: answerFrom(req.GetAnswer())})
	})
	return &pluginv1.BeforeToolResponse{Error: h.s.failure(err), Deny: valid(d.Deny), Ask: questionTo(d.Ask), Confinement: confinementTo(d.Confinement), Rest: d.Rest}, nil
}

func (h *hooksServer) AfterTool(ctx context.Context, req *pluginv1.AfterToolRequest) (*pluginv1.AfterToolResponse, error) {
	outcome := hook.ToolOutcome{CallID: req.GetCallId(), Name: req.GetName(), Arguments: req.GetArguments(), Text: req.GetText(), IsError: req.GetIsError()}
	d, err := protect(func() (hook.OutcomeDecision, error) {
		return h.s.use().Hooks.AfterTool(ctx, whereFrom(req.GetContext()), outcome)
	})
	out := &pluginv1.AfterToolResponse{Error: h.s.failure(err), Contexts: mapSlice(d.Contexts, valid), Stop: stopTo(d.Stop)}
	if d.Replace != nil {
		text := valid(*d.Replace)
		out.Replace = &text
	}
	return out, nil
}

func (h *hooksServer) TurnStopping(ctx context.Context, req *pluginv1.TurnStoppingRequest) (*pluginv1.TurnStoppingResponse, error) {
	d, err := protect(func() (hook.StopDecision, error) {
		return h.s.use().Hooks.TurnStopping(ctx, whereFrom(req.GetContext()))
	})
	return &pluginv1.TurnStoppingResponse{Error: h.s.failure(err), ContinueMessage: valid(d.Continue), Stop: stopTo(d.Stop)}, nil
}

func (h *hooksServer) RequestFailed(ctx context.Context, req *pluginv1.RequestFailedRequest) (*pluginv1.RequestFailedResponse, error) {
	failure := session.Failure{Code: req.GetCode(), Message: req.GetMessage(), Hint: req.GetHint()}
	d, err := protect(func() (hook.FailedDecision, error) {
		return h.s.use().Hooks.RequestFailed(ctx, whereFrom(req.GetContext()), failure, int(req.GetAttempt()))
	})
	return &pluginv1.RequestFailedResponse{Error: h.s.failure(err), Retry: d.Retry}, nil
}

func (h *hooksServer) TurnEnded(ctx context.Context, req *pluginv1.TurnEndedRequest) (*pluginv1.TurnEndedResponse, error) {
	ended := session.TurnEnded{Reason: session.Reason(req.GetReason())}
	if req.GetCode() != "" {
		ended.Error = &session.Failure{Code: req.GetCode(), Message: req.GetMessage()}
	}
	_, err := protect(func() (struct{}, error) {
		return struct{}{}, h.s.use().Hooks.TurnEnded(ctx, whereFrom(req.GetContext()), ended)
	})
	return &pluginv1.TurnEndedResponse{Error: h.s.failure(err)}, nil
}

func (h *hooksServer) Idle(ctx context.Context, req *pluginv1.IdleRequest) (*pluginv1.IdleResponse, error) {
	d, err := protect(func() (hook.IdleDecision, error) {
		return h.s.use().Hooks.Idle(ctx, whereFrom(req.GetContext()))
	})
	return &pluginv1.IdleResponse{Error: h.s.failure(err), Wait: valid(d.Wait), FollowUp: valid(d.FollowUp), Unfinished: valid(d.Unfinished)}, nil
}
