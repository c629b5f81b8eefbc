package sdk

import (
	"context"
	"iter"

	"google.golang.org/grpc"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

type strategyServer struct {
	pluginv1.UnimplementedStrategyServer
	s *Server
}

func (v *strategyServer) Open(ctx context.Context, req *pluginv1.OpenRequest) (*pluginv1.OpenResponse, error) {
	info := req.GetSession()
	access := v.s.hostAccess().Session(info.GetId())
	opening, err := protect(func() (compaction.Opening, error) {
		return v.s.use().Strategy.Open(ctx, sessionFrom(info, access))
	})
	if err != nil {
		return &pluginv1.OpenResponse{Error: v.s.failure(err)}, nil
	}
	return openingTo(opening), nil
}

func (v *strategyServer) Propose(req *pluginv1.ProposeRequest, stream grpc.ServerStreamingServer[pluginv1.ProposeResponse]) error {
	ctx := withInvocation(stream.Context(), req.GetContext().GetInvocationId())
	progress := newProgress(func(text string) error {
		return stream.Send(&pluginv1.ProposeResponse{Message: &pluginv1.ProposeResponse_Progress{Progress: text}})
	})
	proposal, err := protect(func() (compaction.Proposal, error) {
		return v.s.use().Strategy.Propose(ctx, v.input(ctx, req, progress.say))
	})
	progress.end()
	out := &pluginv1.ProposeResponse{Message: &pluginv1.ProposeResponse_Proposal{Proposal: proposalTo(proposal)}}
	if err == nil {
		if big := tooBig("the proposal", out); big != nil {
			err = big
		}
	}
	if err != nil {
		out = &pluginv1.ProposeResponse{Message: &pluginv1.ProposeResponse_Error{Error: v.s.failure(err)}}
	}
	return stream.Send(out)
}

func (v *strategyServer) input(ctx context.Context, req *pluginv1.ProposeRequest, progress func(string)) compaction.Input {
	id := req.GetContext().GetSession()
	access := v.s.hostAccess().access(id)
	return compaction.Input{
		Session: id, Revision: req.GetRevision(), Trigger: triggerFrom(req.GetTrigger()), Attempt: int(req.GetAttempt()),
		Budget: budgetFrom(req.GetBudget()), Measured: int(req.GetMeasured()), Source: req.GetSource(),
		Outline:  outlineOf(ctx, access, req),
		TurnOpen: req.GetTurnOpen(), MayPostpone: req.GetMayPostpone(), Instructions: req.GetInstructions(), Note: req.GetNote(),
		Seed: req.GetSeed(), Time: fromUnixNano(req.GetTimeUnixNano()),
		Access: access, Progress: progress,
	}
}

// outlineOf yields the page that came with the request, then fetches the rest.
func outlineOf(ctx context.Context, access *remoteAccess, req *pluginv1.ProposeRequest) iter.Seq2[session.Node, error] {
	return func(yield func(session.Node, error) bool) {
		for _, n := range req.GetOutline() {
			if !yield(nodeFrom(n), nil) {
				return
			}
		}
		for page := req.GetOutlineNext(); page != ""; {
			next, err := access.outlinePage(ctx, req.GetRevision(), page)
			if err != nil {
				yield(session.Node{}, err)
				return
			}
			for _, n := range next.GetNodes() {
				if !yield(nodeFrom(n), nil) {
					return
				}
			}
			page = next.GetNextPage()
		}
	}
}
