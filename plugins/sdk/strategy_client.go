package sdk

import (
	"context"
	"errors"
	"io"
	"iter"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// Strategy is the plugin's strategy.
func (r *Remote) Strategy() compaction.Strategy {
	return &strategyClient{r: r, rpc: pluginv1.NewStrategyClient(r.conn)}
}

type strategyClient struct {
	r   *Remote
	rpc pluginv1.StrategyClient
}

func (c *strategyClient) Open(ctx context.Context, s compaction.Session) (compaction.Opening, error) {
	ctx, at := newCall(ctx, s.ID, 0, 0)
	resp, err := c.rpc.Open(ctx, &pluginv1.OpenRequest{Context: at, Session: sessionTo(s)})
	if err := c.r.outcome("Open", resp, err); err != nil {
		return compaction.Opening{}, err
	}
	return openingFrom(resp), nil
}

func (c *strategyClient) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	nodes, next, err := firstPage(in.Outline)
	if err != nil {
		return compaction.Proposal{}, err
	}
	ctx, at := newCall(ctx, in.Session, 0, 0)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.Propose(ctx, &pluginv1.ProposeRequest{
		Context: at, Revision: in.Revision, Trigger: triggerTo(in.Trigger), Attempt: int32(in.Attempt),
		Budget: budgetTo(in.Budget), Measured: int32(in.Measured), Source: in.Source, TurnOpen: in.TurnOpen, MayPostpone: in.MayPostpone,
		Instructions: valid(in.Instructions), Note: valid(in.Note), Seed: in.Seed, TimeUnixNano: unixNano(in.Time),
		Outline: nodes, OutlineNext: next,
	})
	for err == nil {
		var resp *pluginv1.ProposeResponse
		if resp, err = stream.Recv(); err != nil {
			break
		}
		switch m := resp.GetMessage().(type) {
		case *pluginv1.ProposeResponse_Progress:
			if in.Progress != nil {
				in.Progress(m.Progress)
			}
		case *pluginv1.ProposeResponse_Error:
			return compaction.Proposal{}, errorFrom(m.Error)
		case *pluginv1.ProposeResponse_Proposal:
			return proposalFrom(m.Proposal)
		}
	}
	if errors.Is(err, io.EOF) {
		return compaction.Proposal{}, c.r.broken("Propose", "ended without a proposal")
	}
	return compaction.Proposal{}, statusError(c.r.name, "Propose", err)
}

// firstPage takes what fits one page off the outline; the plugin asks for the
// rest by the token, which is the index of the next node.
func firstPage(outline iter.Seq2[session.Node, error]) (nodes []*pluginv1.Node, next string, err error) {
	if outline == nil {
		return nil, "", nil
	}
	size := 0
	for n, err := range outline {
		if err != nil {
			return nil, "", err
		}
		wire := nodeTo(n)
		size += proto.Size(wire)
		if size > pageBytes && len(nodes) > 0 {
			return nodes, strconv.Itoa(len(nodes)), nil
		}
		nodes = append(nodes, wire)
	}
	return nodes, "", nil
}
