package host

import (
	"context"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// settleLost tells an agent of the subagents that were at work when the host
// stopped, each once. One that had come to its end by then is told of as such.
func (m *member) settleLost(ctx context.Context, a *agent.Agent) error {
	for _, c := range a.Children() {
		if c.State != session.StateRunning {
			continue
		}
		lost, used := m.family.found(ctx, c.ID, 0)
		lost.Usage = used.Sub(c.Usage)
		if err := a.ChildSettled(ctx, lost, settled(called(c.ID, c.Label), lost), true); err != nil {
			return err
		}
		m.family.spending.Book(c.ID, used)
	}
	return nil
}

// found reads from a subagent's log what it came to, and what it and all below it
// have used. A log that does not read tells of nothing.
func (f *family) found(ctx context.Context, id string, level int) (session.ChildSettled, llm.Usage) {
	lost := session.ChildSettled{ID: id, Reason: session.ReasonCancelled, Lost: true}
	r, err := f.host.Store.View(ctx, id)
	if err != nil {
		return lost, llm.Usage{}
	}
	defer r.Close()
	s, err := fold.Load(ctx, r)
	if err != nil {
		return lost, llm.Usage{}
	}
	used := agent.Used(s)
	if level < maxDepth { // whatever the logs say
		for _, c := range s.Running() {
			_, below := f.found(ctx, c.ID, level+1)
			used = used.Add(below.Sub(c.Usage))
		}
	}
	if s.Turn.Open || s.Turn.Ordinal == 0 || len(s.Inbox) > 0 || len(s.Running()) > 0 {
		return lost, used
	}
	end := session.ChildSettled{ID: id, Reason: s.Turn.Last, Error: s.Turn.Error, Text: capped(lastAnswer(s))}
	for e, err := range r.Read(ctx, session.Query{Kinds: []session.Kind{session.KindReport, session.KindTurnStarted}, Reverse: true, Limit: 1}) {
		if p, derr := session.Decode[session.Report](e); err == nil && derr == nil && e.Kind == session.KindReport {
			end.Report = p.Data
		}
	}
	return end, used
}

// lastAnswer is the last that an agent said on its surface.
func lastAnswer(s *fold.State) string {
	for i := len(s.Surface.Nodes) - 1; i >= 0; i-- {
		if n := s.Surface.Nodes[i]; n.Kind == session.KindMessageAssistant && n.Message.Text() != "" {
			return n.Message.Text()
		}
	}
	return ""
}
