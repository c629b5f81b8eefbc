package agent

import (
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// access lends the session to one plugin.
type access struct {
	a      *Agent
	plugin string
}

// Access returns what the host lends a plugin of this session. Capabilities are
// checked by the caller.
func (a *Agent) Access(plugin string) session.Access { return &access{a, plugin} }

func (x *access) Events(ctx context.Context, q session.Query) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		if err := x.a.rec.flush(ctx); err != nil {
			yield(session.Event{}, err)
			return
		}
		for e, err := range x.a.rec.log.Read(ctx, q) {
			if !yield(e, err) {
				return
			}
		}
	}
}

func (x *access) Outline(context.Context) (session.Outline, error) {
	var o session.Outline
	x.a.rec.view(func(s *fold.State) { o = session.Outline{Revision: s.Head, Nodes: s.Surface.Outline()} })
	return o, nil
}

func (x *access) Meter(context.Context) (session.Meter, error) { return x.a.meter(), nil }

// Meter tells how full the context is.
func (a *Agent) Meter() session.Meter { return a.meter() }

func (a *Agent) meter() session.Meter {
	b := a.budget()
	m := session.Meter{Window: b.Window, ResetAt: b.ResetAt, Reserve: b.Reserve}
	a.rec.view(func(s *fold.State) {
		m.Measured, m.Source = s.Measure()
		m.Fixed, m.Ordinal, m.Compactions = s.Fixed(), s.Compaction.Window, s.Compaction.Count
	})
	return m
}

func (x *access) Steer(ctx context.Context, text, key string, wake bool) error {
	return x.a.push(ctx, session.InboxItem{Queue: session.NextStep, Source: session.SourcePlugin, From: x.plugin, Text: text, Key: key, Wake: wake})
}

func (x *access) FollowUp(ctx context.Context, text, key string) error {
	return x.a.push(ctx, session.InboxItem{Queue: session.NextTurn, Source: session.SourcePlugin, From: x.plugin, Text: text, Key: key, Wake: true})
}

func (x *access) Ask(ctx context.Context, q session.Question, timeout time.Duration) (session.Answer, error) {
	q.Kind, q.Plugin = session.QuestionOpen, x.plugin
	return x.a.question(ctx, q, timeout)
}

// Generate sends the session's own prefix and g.Append, once, without retries;
// the call is booked whether it succeeds or not.
func (x *access) Generate(ctx context.Context, g session.Generate) (session.Generated, error) {
	a := x.a
	r := a.request()
	if g.SurfaceUntil != 0 || len(g.Edits) > 0 {
		var err error
		a.rec.view(func(s *fold.State) { r.Messages, err = edited(&s.Surface, g) })
		if err != nil {
			return session.Generated{}, fmt.Errorf("generate: %w", err)
		}
	}
	r.Messages = append(r.Messages, g.Append...)
	if g.Model != "" {
		r.Model = g.Model
	}
	if g.Effort != "" {
		r.Effort = g.Effort
	}
	if g.MaxOutputTokens > 0 {
		r.MaxOutputTokens = g.MaxOutputTokens
	}
	if r.Model == a.Info.Name {
		r.MaxOutputTokens = a.outputCap(r.MaxOutputTokens, a.tokensOf(r.Messages))
	}
	if r.Purpose = g.Purpose; r.Purpose == "" || r.Purpose == llm.PurposeMain {
		r.Purpose = llm.PurposeOther
	}
	if err := llm.Validate(r.Messages); err != nil {
		return session.Generated{}, err
	}
	if err := a.rec.flush(ctx); err != nil {
		return session.Generated{}, err
	}
	began := a.Now()
	a.called(x.plugin)
	answer, _, err := a.stream(ctx, r)
	call := session.ModelCall{Purpose: r.Purpose, Plugin: x.plugin, Millis: a.Now().Sub(began).Milliseconds()}
	if err != nil {
		call.Error = err.Error()
		a.failed(x.plugin, err)
	} else {
		call.Usage = answer.Usage
		a.used(x.plugin, g, answer.Usage)
	}
	at := a.where()
	if cerr := a.rec.commit(ctx, session.New(session.KindModelCall, call).At(at.Turn, at.Step)); cerr != nil {
		return session.Generated{}, cerr
	}
	if err != nil {
		return session.Generated{}, err
	}
	out := session.Generated{Message: answer.Message, Usage: answer.Usage, Stop: answer.Stop}
	if out.Stop != llm.StopMaxTokens && len(answer.Message.Calls()) > 0 { // the wire carries no calls: whoever asked for text is to know
		out.Stop = llm.StopToolCalls
	}
	return out, nil
}

// tokensOf is what messages and tool declarations are likely to come to.
func (a *Agent) tokensOf(messages []*llm.Message) (tokens int) {
	for _, m := range messages {
		tokens += llm.Estimate(m)
	}
	a.rec.view(func(s *fold.State) { tokens = s.Scale(tokens + s.ToolTokens()) })
	return tokens
}

// edited is the part of the surface that a model call is to see.
func edited(s *fold.Surface, g session.Generate) ([]*llm.Message, error) {
	if g.SurfaceUntil != 0 && s.Index(g.SurfaceUntil) < 0 {
		return nil, fmt.Errorf("node %d is not on the surface", g.SurfaceUntil)
	}
	if len(g.Edits) == 0 {
		return s.Messages(g.SurfaceUntil), nil
	}
	view := s.Clone()
	if g.SurfaceUntil != 0 {
		view.Nodes = view.Nodes[:view.Index(g.SurfaceUntil)+1]
	}
	if err := compaction.CheckEdits(view.Outline(), g.Edits); err != nil {
		return nil, err
	}
	b := &builder{surface: view, head: math.MaxInt64 / 2} // beyond every seq of the log
	for _, e := range g.Edits {
		b.edit(e)
	}
	return view.Messages(0), b.err
}
