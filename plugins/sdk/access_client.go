package sdk

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// remoteAccess is the session.Access of one session, over the wire.
type remoteAccess struct {
	h  *hostClient
	id string
}

// Events fetches pages while the loop goes on; a payload that is bigger than a
// page is read in parts.
func (a *remoteAccess) Events(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		left := q.Limit
		for {
			page, err := a.eventsPage(ctx, q, left)
			if err != nil {
				yield(session.Event{}, err)
				return
			}
			for _, wire := range page.GetEvents() {
				e, err := a.event(ctx, wire, page.GetOversize()[wire.GetSeq()])
				if !yield(e, err) || err != nil {
					return
				}
				if q.Reverse {
					q.Before = e.Seq
				} else {
					q.After = e.Seq
				}
			}
			if left > 0 {
				if left -= len(page.GetEvents()); left <= 0 {
					return
				}
			}
			if !page.GetMore() || len(page.GetEvents()) == 0 {
				return
			}
		}
	}
}

func (a *remoteAccess) eventsPage(ctx context.Context, q session.Query, limit int) (*pluginv1.ReadEventsResponse, error) {
	page, err := a.h.session.ReadEvents(ctx, &pluginv1.ReadEventsRequest{
		Session: a.id, AfterSeq: q.After, BeforeSeq: q.Before, Limit: int32(limit), Reverse: q.Reverse, Text: q.Text,
		Kinds: mapSlice(q.Kinds, func(k session.Kind) string { return string(k) }),
	})
	return page, hostError("ReadEvents", err)
}

func (a *remoteAccess) event(ctx context.Context, wire *pluginv1.Event, oversize int64) (session.Event, error) {
	e, err := eventFrom(wire)
	if err != nil || oversize == 0 {
		return e, err
	}
	e.Data, err = a.payload(ctx, e.Seq)
	return e, err
}

// payload reads the payload of an event that is too big for a page.
func (a *remoteAccess) payload(ctx context.Context, seq int64) ([]byte, error) {
	var data []byte
	for {
		part, err := a.h.session.ReadPart(ctx, &pluginv1.ReadPartRequest{
			Session: a.id, Seq: seq, Offset: int64(len(data)), MaxBytes: maxPageBytes,
		})
		if err != nil {
			return nil, hostError("ReadPart", err)
		}
		data = append(data, part.GetData()...)
		switch {
		case int64(len(data)) >= part.GetTotal():
			return data, nil
		case len(part.GetData()) == 0:
			return nil, &Error{Code: CodeProtocol, Message: "ReadPart: the host sent an empty part before the end"}
		}
	}
}

// Outline reads all pages of one revision; it begins again, a few times, where
// the log moves on meanwhile.
func (a *remoteAccess) Outline(ctx context.Context) (session.Outline, error) {
	const attempts = 3
	var err error
	for range attempts {
		var out session.Outline
		if out, err = a.outlineOnce(ctx); !errors.Is(err, session.ErrConflict) {
			return out, err
		}
	}
	return session.Outline{}, err
}

func (a *remoteAccess) outlineOnce(ctx context.Context) (session.Outline, error) {
	var out session.Outline
	for page := ""; ; {
		resp, err := a.outlinePage(ctx, out.Revision, page)
		if err != nil {
			return session.Outline{}, err
		}
		out.Revision = resp.GetRevision()
		out.Nodes = append(out.Nodes, mapSlice(resp.GetNodes(), nodeFrom)...)
		if page = resp.GetNextPage(); page == "" {
			return out, nil
		}
	}
}

func (a *remoteAccess) outlinePage(ctx context.Context, revision int64, page string) (*pluginv1.ReadOutlineResponse, error) {
	resp, err := a.h.session.ReadOutline(ctx, &pluginv1.ReadOutlineRequest{Session: a.id, Revision: revision, Page: page})
	return resp, hostError("ReadOutline", err)
}

func (a *remoteAccess) Meter(ctx context.Context) (session.Meter, error) {
	resp, err := a.h.session.GetMeter(ctx, &pluginv1.GetMeterRequest{Session: a.id})
	return meterFrom(resp), hostError("GetMeter", err)
}

// Generate returns an *llm.Error where the model's request failed.
func (a *remoteAccess) Generate(ctx context.Context, g session.Generate) (session.Generated, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := a.h.model.Generate(ctx, &pluginv1.GenerateRequest{
		Session: a.id, SurfaceUntil: g.SurfaceUntil, Append: mapSlice(g.Append, messageTo), Model: g.Model,
		Effort: g.Effort, MaxOutputTokens: int32(g.MaxOutputTokens), Purpose: string(g.Purpose),
		Edits: mapSlice(g.Edits, editTo),
	})
	for err == nil {
		var resp *pluginv1.GenerateResponse
		if resp, err = stream.Recv(); err != nil {
			break
		}
		switch m := resp.GetMessage().(type) {
		case *pluginv1.GenerateResponse_Error:
			return session.Generated{}, modelErrorFrom(m.Error)
		case *pluginv1.GenerateResponse_Answer:
			return generatedFrom(m.Answer), nil
		}
	}
	if errors.Is(err, io.EOF) {
		return session.Generated{}, &Error{Code: CodeProtocol, Message: "Generate ended without an answer"}
	}
	return session.Generated{}, hostError("Generate", err)
}

func (a *remoteAccess) Steer(ctx context.Context, text, key string, wake bool) error {
	_, err := a.h.session.Steer(ctx, &pluginv1.SteerRequest{Session: a.id, Text: valid(text), Key: key, Wake: wake})
	return hostError("Steer", err)
}

func (a *remoteAccess) FollowUp(ctx context.Context, text, key string) error {
	_, err := a.h.session.Steer(ctx, &pluginv1.SteerRequest{Session: a.id, Text: valid(text), Key: key, Wake: true, NextTurn: true})
	return hostError("Steer", err)
}

func generatedTo(g session.Generated) *pluginv1.Generated {
	return &pluginv1.Generated{Text: valid(g.Message.Text()), Stop: string(g.Stop), Usage: usageTo(g.Usage)}
}

func generatedFrom(g *pluginv1.Generated) session.Generated {
	return session.Generated{
		Message: llm.Text(llm.RoleAssistant, g.GetText()), Usage: usageFrom(g.GetUsage()), Stop: llm.StopReason(g.GetStop()),
	}
}

// modelErrorFrom gives a failed model request its own type back.
func modelErrorFrom(e *pluginv1.PluginError) error {
	switch code := llm.Code(e.GetCode()); code {
	case llm.CodeAuth, llm.CodeQuota, llm.CodeRateLimit, llm.CodeOverflow, llm.CodeInvalidRequest, llm.CodeServer,
		llm.CodeTransport, llm.CodeTimeout, llm.CodeAborted, llm.CodeEmptyResponse, llm.CodeMalformed, llm.CodeStreamClosed, llm.CodeNotFound:
		return &llm.Error{Code: code, Message: e.GetMessage()}
	}
	return errorFrom(e)
}
