package compactiontest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Generate implements session.Access.
func (s *Session) Generate(ctx context.Context, g session.Generate) (session.Generated, error) {
	s.mu.Lock()
	s.calls++
	prefix, err := s.view(g)
	if err == nil {
		prefix = append(prefix, g.Append...)
		err = llm.Validate(prefix)
	}
	if err != nil && s.invalid == nil {
		s.invalid = err
	}
	s.mu.Unlock()
	switch {
	case err != nil:
		return session.Generated{}, err
	case s.Model == nil:
		return session.Generated{}, errors.New("this session lends no model")
	}
	return s.Model(ctx, prefix, g)
}

// view is the surface that a model call asks for, its edits applied.
func (s *Session) view(g session.Generate) ([]*llm.Message, error) {
	end := len(s.surface)
	if g.SurfaceUntil != 0 {
		if end = slices.IndexFunc(s.surface, func(n node) bool { return n.Seq == g.SurfaceUntil }) + 1; end == 0 {
			return nil, fmt.Errorf("node %d is not on the surface", g.SurfaceUntil)
		}
	}
	if len(g.Edits) > 0 {
		if err := compaction.CheckEdits(s.nodes()[:end], g.Edits); err != nil {
			return nil, err
		}
	}
	edits := g.Edits
	var messages []*llm.Message
	for i := 0; i < end; i++ {
		if len(edits) == 0 || first(edits[0]) != s.surface[i].Seq {
			messages = append(messages, s.surface[i].message)
			continue
		}
		e := edits[0]
		edits = edits[1:]
		switch {
		case e.Trim != nil:
			messages = append(messages, trimmed(s.surface[i].message, *e.Trim))
			continue
		case e.Replace != nil:
			messages = append(messages, e.Replace.Messages...)
		}
		for s.surface[i].Seq != last(e) {
			i++
		}
	}
	return messages, nil
}

// first and last are the nodes that a checked edit begins and ends at.
func first(e session.Edit) int64 {
	switch {
	case e.Trim != nil:
		return e.Trim.Node
	case e.Drop != nil:
		return e.Drop.From
	}
	return e.Replace.Span.From
}

func last(e session.Edit) int64 {
	switch {
	case e.Trim != nil:
		return e.Trim.Node
	case e.Drop != nil:
		return e.Drop.To
	}
	return e.Replace.Span.To
}
