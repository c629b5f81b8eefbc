package sdk

import (
	"context"
	"strconv"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/tureen-host/tureen/host/tool"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

type toolsServer struct {
	pluginv1.UnimplementedToolsServer
	s *Server
}

func (t *toolsServer) ListTools(ctx context.Context, req *pluginv1.ListToolsRequest) (*pluginv1.ListToolsResponse, error) {
	specs, err := protect(func() ([]tool.Spec, error) {
		return t.s.use().Tools.Tools(ctx, req.GetContext().GetSession())
	})
	if err != nil {
		return &pluginv1.ListToolsResponse{Error: t.s.failure(err)}, nil
	}
	first := 0
	if page := req.GetPage(); page != "" {
		first, err = strconv.Atoi(page)
		if err != nil || first < 1 || first >= len(specs) {
			return nil, status.Errorf(codes.InvalidArgument, "page %q is none that was handed out", page)
		}
	}
	out := &pluginv1.ListToolsResponse{}
	size := 0
	for i := first; i < len(specs); i++ {
		spec := specTo(specs[i])
		size += proto.Size(spec)
		if size > pageBytes && len(out.Tools) > 0 {
			out.NextPage = strconv.Itoa(i)
			break
		}
		out.Tools = append(out.Tools, spec)
	}
	return out, nil
}

func (t *toolsServer) CallTool(req *pluginv1.CallToolRequest, stream grpc.ServerStreamingServer[pluginv1.CallToolResponse]) error {
	ctx := withInvocation(stream.Context(), req.GetContext().GetInvocationId())
	progress := newProgress(func(text string) error {
		return stream.Send(&pluginv1.CallToolResponse{Message: &pluginv1.CallToolResponse_Progress{Progress: text}})
	})
	result, err := protect(func() (tool.Result, error) {
		return t.s.use().Tools.Call(ctx, callFrom(req), progress.say)
	})
	progress.end()
	out, text := resultTo(result), ""
	if len(out.Text) > pieceBytes {
		var lost int64
		text, lost = bounded(out.Text)
		out.Text, out.LeftOut = "", out.LeftOut+lost
	}
	if err == nil {
		if big := tooBig("the result of "+req.GetName(), out); big != nil {
			err = big
		}
	}
	if err != nil {
		return stream.Send(&pluginv1.CallToolResponse{Message: &pluginv1.CallToolResponse_Error{Error: t.s.failure(err)}})
	}
	err = pieces(text, func(piece string) error {
		return stream.Send(&pluginv1.CallToolResponse{Message: &pluginv1.CallToolResponse_Text{Text: piece}})
	})
	if err != nil {
		return err
	}
	return stream.Send(&pluginv1.CallToolResponse{Message: &pluginv1.CallToolResponse_Result{Result: out}})
}
