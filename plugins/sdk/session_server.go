package sdk

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

type sessionServer struct {
	pluginv1.UnimplementedSessionServer
	h *HostServer
}

// access lends the session, or says in gRPC's words why not.
func (h *HostServer) access(id string) (session.Access, error) {
	access, err := h.config.Access(id)
	if err != nil {
		return nil, accessStatus(err)
	}
	return access, nil
}

func (s *sessionServer) ReadEvents(ctx context.Context, req *pluginv1.ReadEventsRequest) (*pluginv1.ReadEventsResponse, error) {
	access, err := s.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	limit, room := int(req.GetLimit()), pageRoom(req.GetMaxBytes())
	query := session.Query{
		After: req.GetAfterSeq(), Before: req.GetBeforeSeq(), Reverse: req.GetReverse(), Text: req.GetText(),
		Kinds: mapSlice(req.GetKinds(), func(k string) session.Kind { return session.Kind(k) }),
	}
	if limit > 0 {
		query.Limit = limit + 1 // one more tells whether there is more
	}
	page := &pluginv1.ReadEventsResponse{Oversize: map[int64]int64{}}
	used := 0
	for e, err := range access.Events(ctx, query) {
		if err != nil {
			return nil, accessStatus(err)
		}
		wire := eventTo(e)
		size := proto.Size(wire)
		if size > room {
			page.Oversize[e.Seq] = int64(len(e.Data))
			wire.Json = nil
			size = proto.Size(wire)
		}
		if (limit > 0 && len(page.Events) == limit) || (used+size > room && len(page.Events) > 0) {
			page.More = true
			delete(page.Oversize, e.Seq)
			break
		}
		used += size
		page.Events = append(page.Events, wire)
	}
	return page, nil
}

func (s *sessionServer) ReadPart(ctx context.Context, req *pluginv1.ReadPartRequest) (*pluginv1.ReadPartResponse, error) {
	access, err := s.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	for e, err := range access.Events(ctx, session.Query{After: req.GetSeq() - 1, Before: req.GetSeq() + 1, Limit: 1}) {
		if err != nil {
			return nil, accessStatus(err)
		}
		from, total := req.GetOffset(), int64(len(e.Data))
		if from < 0 || from > total {
			return nil, status.Errorf(codes.InvalidArgument, "offset %d is outside of the event's %d bytes", from, total)
		}
		to := min(total, from+int64(pageRoom(req.GetMaxBytes())))
		return &pluginv1.ReadPartResponse{Data: e.Data[from:to], Total: total}, nil
	}
	return nil, status.Errorf(codes.NotFound, "the log has no event %d", req.GetSeq())
}

func (s *sessionServer) ReadOutline(ctx context.Context, req *pluginv1.ReadOutlineRequest) (*pluginv1.ReadOutlineResponse, error) {
	access, err := s.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	outline, err := access.Outline(ctx)
	if err != nil {
		return nil, accessStatus(err)
	}
	if want := req.GetRevision(); want != 0 && want != outline.Revision {
		return nil, status.Errorf(codes.FailedPrecondition, "the log is at %d, not at %d any more: begin again", outline.Revision, want)
	}
	at := 0
	if page := req.GetPage(); page != "" {
		if at, err = strconv.Atoi(page); err != nil || at < 1 || at > len(outline.Nodes) {
			return nil, status.Errorf(codes.InvalidArgument, "page %q is none that was handed out", page)
		}
	}
	resp := &pluginv1.ReadOutlineResponse{Revision: outline.Revision}
	used := 0
	for ; at < len(outline.Nodes); at++ {
		node := nodeTo(outline.Nodes[at])
		used += proto.Size(node)
		if used > pageBytes && len(resp.Nodes) > 0 {
			resp.NextPage = strconv.Itoa(at)
			break
		}
		resp.Nodes = append(resp.Nodes, node)
	}
	return resp, nil
}

func (s *sessionServer) GetMeter(ctx context.Context, req *pluginv1.GetMeterRequest) (*pluginv1.GetMeterResponse, error) {
	access, err := s.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	meter, err := access.Meter(ctx)
	if err != nil {
		return nil, accessStatus(err)
	}
	return meterTo(meter), nil
}

func (s *sessionServer) Steer(ctx context.Context, req *pluginv1.SteerRequest) (*pluginv1.SteerResponse, error) {
	access, err := s.h.access(req.GetSession())
	if err != nil {
		return nil, err
	}
	if req.GetNextTurn() {
		err = access.FollowUp(ctx, req.GetText(), req.GetKey())
	} else {
		err = access.Steer(ctx, req.GetText(), req.GetKey(), req.GetWake())
	}
	if err != nil {
		return nil, accessStatus(err)
	}
	return &pluginv1.SteerResponse{}, nil
}

func pageRoom(asked int32) int {
	if asked <= 0 {
		return pageBytes
	}
	return min(int(asked), maxPageBytes)
}

// accessStatus is the one place where the host's errors become gRPC's.
func accessStatus(err error) error {
	code := codes.Internal
	switch {
	case errors.Is(err, context.Canceled):
		code = codes.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		code = codes.DeadlineExceeded
	case errors.Is(err, session.ErrNotFound):
		code = codes.NotFound
	case errors.Is(err, session.ErrConflict):
		code = codes.Aborted
	case errors.Is(err, ErrDenied):
		code = codes.PermissionDenied
	}
	return status.Error(code, valid(fmt.Sprint(err)))
}
