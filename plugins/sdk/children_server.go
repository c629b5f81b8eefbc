package sdk

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// childrenServer lends a session's subagents. What the host will not do is an
// answer, since the model may hear of it.
type childrenServer struct {
	pluginv1.UnimplementedChildrenServer
	h *HostServer
}

func (c *childrenServer) Spawn(ctx context.Context, req *pluginv1.SpawnRequest) (*pluginv1.SpawnResponse, error) {
	access, err := c.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	data := jsonOrNil(req.GetDataJson())
	if req.GetTask() == "" || (data != nil && !json.Valid(data)) {
		return nil, badRequest("a subagent needs a task, and data that is JSON")
	}
	child, err := access.Spawn(ctx, session.Spawn{Task: req.GetTask(), Label: req.GetLabel(), Data: data, Fork: req.GetFork()})
	return &pluginv1.SpawnResponse{Error: errorTo(err), Child: childTo(child)}, nil
}

func (c *childrenServer) ListChildren(ctx context.Context, req *pluginv1.ListChildrenRequest) (*pluginv1.ListChildrenResponse, error) {
	access, err := c.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	children, err := access.Children(ctx)
	return &pluginv1.ListChildrenResponse{Error: errorTo(err), Children: mapSlice(children, childTo)}, nil
}

func (c *childrenServer) Tell(ctx context.Context, req *pluginv1.TellRequest) (*pluginv1.TellResponse, error) {
	access, err := c.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	return &pluginv1.TellResponse{Error: errorTo(access.Tell(ctx, req.GetTo(), req.GetText()))}, nil
}

func (c *childrenServer) Interrupt(ctx context.Context, req *pluginv1.InterruptRequest) (*pluginv1.InterruptResponse, error) {
	access, err := c.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	return &pluginv1.InterruptResponse{Error: errorTo(access.Interrupt(ctx, req.GetChild()))}, nil
}

func badRequest(why string) error { return status.Error(codes.InvalidArgument, why) }
