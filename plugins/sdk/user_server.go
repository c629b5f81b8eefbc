package sdk

import (
	"context"
	"math"
	"time"

	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// maxTimeoutMs is the longest time that can be told.
const maxTimeoutMs = math.MaxInt64 / int64(time.Millisecond)

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
	if req.GetTimeoutMs() < 0 {
		return nil, badRequest("timeout_ms is negative; 0 waits as long as it takes")
	}
	timeout := time.Duration(min(req.GetTimeoutMs(), maxTimeoutMs)) * time.Millisecond
	answer, err := access.Ask(ctx, *q, timeout)
	if err != nil {
		return nil, accessStatus(err)
	}
	return &pluginv1.AskResponse{Answer: answerTo(&answer)}, nil
}
