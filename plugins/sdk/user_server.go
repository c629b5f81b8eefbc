package sdk

import (
	"context"
	"time"

	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

type userServer struct {
	pluginv1.UnimplementedUserServer
	h *HostServer
}

func (u *userServer) Ask(ctx context.Context, req *pluginv1.AskRequest) (*pluginv1.AskResponse, error) {
	access, err := u.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	q := questionFrom(req.GetQuestion())
	if q == nil || q.Text == "" {
		return nil, badRequest("a question needs a text")
	}
	answer, err := access.Ask(ctx, *q, time.Duration(req.GetTimeoutMs())*time.Millisecond)
	if err != nil {
		return nil, accessStatus(err)
	}
	return &pluginv1.AskResponse{Answer: answerTo(&answer)}, nil
}
