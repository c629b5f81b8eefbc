package compactiontest

import (
	"context"
	"slices"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Compact proposes, checks and applies; it returns the proposal.
func (s *Session) Compact(strategy compaction.Strategy, in compaction.Input) compaction.Proposal {
	p, err := strategy.Propose(context.Background(), in)
	if err != nil {
		s.fatal("propose: %v", err)
	}
	if !p.IsZero() {
		s.Apply(p, in.Trigger)
	}
	return p
}

// Apply checks a proposal and commits it in one append.
func (s *Session) Apply(p compaction.Proposal, trigger session.Trigger) {
	if err := s.Try(p, trigger); err != nil {
		s.fatal("the host would refuse this: %v", err)
	}
}

// Try is Apply for a proposal that the host may refuse: nothing has changed then.
func (s *Session) Try(p compaction.Proposal, trigger session.Trigger) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := compaction.Check(s.nodes(), p, int64(len(s.events)), nil); err != nil {
		return err
	}
	s.resets++
	s.append(session.New(session.KindCompactionStarted, session.CompactionStarted{Ordinal: s.resets, Strategy: s.plugin,
		Kind: string(p.Kind), Trigger: trigger, Attempt: 1, Revision: p.Revision}))
	for _, r := range p.Records {
		s.record(r)
	}
	for _, e := range p.Edits {
		s.edit(e)
	}
	if p.Refresh {
		s.append(session.New(session.KindMessageSystem, session.Message{Message: llm.Text(llm.RoleSystem, s.render(p.Sections))}).
			On(session.Op{Kind: session.OpReplace, From: s.surface[0].Seq, To: s.surface[0].Seq}))
	}
	s.append(session.New(session.KindCompactionEnded, session.CompactionEnded{Ordinal: s.resets, Boot: p.Boot}))
	return nil
}

// edit appends what the host appends for an edit that was checked.
func (s *Session) edit(e compaction.Edit) {
	switch {
	case e.Trim != nil:
		i := slices.IndexFunc(s.surface, func(n node) bool { return n.Seq == e.Trim.Node })
		m := s.surface[i].message
		s.append(session.New(session.KindToolResult, session.ToolResult{Message: trimmed(m, *e.Trim), Code: "TRIMMED"}).
			At(s.turn, 1).On(session.Op{Kind: session.OpReplace, From: e.Trim.Node, To: e.Trim.Node}))
	case e.Drop != nil:
		s.append(session.New(session.KindNodesDropped, struct{}{}).On(session.Op{Kind: session.OpDrop, From: e.Drop.From, To: e.Drop.To}))
	case e.Replace != nil:
		op := session.Op{Kind: session.OpReplace, From: e.Replace.Span.From, To: e.Replace.Span.To}
		for _, m := range e.Replace.Messages {
			seq := s.append(session.New(session.KindMessageUser, session.Message{Message: m, Source: session.SourceCheckpoint}).At(s.turn, 1).On(op))
			op = session.Op{Kind: session.OpInsert, After: seq}
		}
	}
}

func trimmed(m *llm.Message, t compaction.Trim) *llm.Message {
	return llm.ToolResult(m.CallID, compaction.TrimText(m.Text(), t.Head, t.Tail), m.IsError)
}
