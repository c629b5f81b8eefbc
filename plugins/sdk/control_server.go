package sdk

import (
	"context"
	"log/slog"

	"google.golang.org/grpc"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

type controlServer struct {
	pluginv1.UnimplementedControlServer
	h *HostServer
}

func (c *controlServer) Attach(_ *pluginv1.AttachRequest, stream grpc.ServerStreamingServer[pluginv1.Notice]) error {
	line := make(chan *pluginv1.Notice, 4)
	c.h.mu.Lock()
	c.h.notices[line] = true
	c.h.mu.Unlock()
	defer func() {
		c.h.mu.Lock()
		delete(c.h.notices, line)
		c.h.mu.Unlock()
	}()
	hello := &pluginv1.Notice{Notice: &pluginv1.Notice_Hello{Hello: &pluginv1.Hello{HostVersion: c.h.config.Version}}}
	if err := stream.Send(hello); err != nil {
		return err
	}
	c.h.once.Do(func() { close(c.h.attached) })
	for {
		select {
		case notice := <-line:
			if err := stream.Send(notice); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
	}
}

type modelServer struct {
	pluginv1.UnimplementedModelServer
	h *HostServer
}

func (m *modelServer) Generate(req *pluginv1.GenerateRequest, stream grpc.ServerStreamingServer[pluginv1.GenerateResponse]) error {
	access, err := m.h.access(req.GetSession())
	if err != nil {
		return err
	}
	edits, err := editsFrom(req.GetEdits())
	if err != nil {
		return stream.Send(&pluginv1.GenerateResponse{Message: &pluginv1.GenerateResponse_Error{Error: errorTo(err)}})
	}
	answer, err := access.Generate(stream.Context(), session.Generate{
		SurfaceUntil: req.GetSurfaceUntil(), Append: mapSlice(req.GetAppend(), messageFrom), Model: req.GetModel(),
		Effort: req.GetEffort(), MaxOutputTokens: int(req.GetMaxOutputTokens()), Purpose: llm.Purpose(req.GetPurpose()),
		Edits: edits,
	})
	if err != nil && stream.Context().Err() != nil {
		return accessStatus(err)
	}
	if err != nil {
		return stream.Send(&pluginv1.GenerateResponse{Message: &pluginv1.GenerateResponse_Error{Error: errorTo(err)}})
	}
	return stream.Send(&pluginv1.GenerateResponse{Message: &pluginv1.GenerateResponse_Answer{Answer: generatedTo(answer)}})
}

type diagnosticsServer struct {
	pluginv1.UnimplementedDiagnosticsServer
	h *HostServer
}

func (d *diagnosticsServer) Log(ctx context.Context, req *pluginv1.LogRequest) (*pluginv1.LogResponse, error) {
	if d.h.config.Log == nil {
		return &pluginv1.LogResponse{}, nil
	}
	for _, line := range req.GetLines() {
		d.h.config.Log(ctx, levelFrom(line.GetLevel()), line.GetMessage(), line.GetFields())
	}
	return &pluginv1.LogResponse{}, nil
}

func levelFrom(name string) slog.Level {
	var level slog.Level // info where the name says nothing
	_ = level.UnmarshalText([]byte(name))
	return level
}
