package sdk

import (
	"fmt"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

var triggers = map[session.Trigger]pluginv1.Trigger{
	session.TriggerPressure:  pluginv1.Trigger_TRIGGER_PRESSURE,
	session.TriggerStopping:  pluginv1.Trigger_TRIGGER_STOPPING,
	session.TriggerRequested: pluginv1.Trigger_TRIGGER_REQUESTED,
	session.TriggerOverflow:  pluginv1.Trigger_TRIGGER_OVERFLOW,
	session.TriggerManual:    pluginv1.Trigger_TRIGGER_MANUAL,
}

func triggerTo(t session.Trigger) pluginv1.Trigger { return triggers[t] }

func triggerFrom(t pluginv1.Trigger) session.Trigger {
	for name, value := range triggers {
		if value == t {
			return name
		}
	}
	return ""
}

var kinds = map[compaction.Kind]pluginv1.ProposalKind{
	compaction.KindTrim:    pluginv1.ProposalKind_PROPOSAL_KIND_TRIM,
	compaction.KindSummary: pluginv1.ProposalKind_PROPOSAL_KIND_SUMMARY,
	compaction.KindReset:   pluginv1.ProposalKind_PROPOSAL_KIND_RESET,
}

func kindTo(k compaction.Kind) pluginv1.ProposalKind { return kinds[k] }

func kindFrom(k pluginv1.ProposalKind) compaction.Kind {
	for name, value := range kinds {
		if value == k {
			return name
		}
	}
	return ""
}

func sectionTo(s compaction.Section) *pluginv1.Section {
	return &pluginv1.Section{Id: s.ID, Order: int32(s.Order), Text: valid(s.Text), Raw: true}
}

func sectionFrom(s *pluginv1.Section) compaction.Section {
	return compaction.Section{ID: s.GetId(), Order: int(s.GetOrder()), Text: s.GetText()}
}

func recordTo(r compaction.Record) *pluginv1.Record {
	return &pluginv1.Record{Kind: r.Kind, Key: r.Key, Json: r.Data}
}

func recordFrom(r *pluginv1.Record) compaction.Record {
	return compaction.Record{Kind: r.GetKind(), Key: r.GetKey(), Data: r.GetJson()}
}

func markTo(m compaction.Mark) *pluginv1.Mark {
	return &pluginv1.Mark{Id: m.ID, Remaining: int32(m.Remaining), Text: valid(m.Text)}
}

func markFrom(m *pluginv1.Mark) compaction.Mark {
	return compaction.Mark{ID: m.GetId(), Remaining: int(m.GetRemaining()), Text: m.GetText()}
}

func openingTo(o compaction.Opening) *pluginv1.OpenResponse {
	return &pluginv1.OpenResponse{
		Sections: mapSlice(o.Sections, sectionTo), Records: mapSlice(o.Records, recordTo), Marks: mapSlice(o.Marks, markTo),
	}
}

func openingFrom(o *pluginv1.OpenResponse) compaction.Opening {
	return compaction.Opening{
		Sections: mapSlice(o.GetSections(), sectionFrom), Records: mapSlice(o.GetRecords(), recordFrom), Marks: mapSlice(o.GetMarks(), markFrom),
	}
}

func proposalTo(p compaction.Proposal) *pluginv1.Proposal {
	return &pluginv1.Proposal{
		Revision: p.Revision, Kind: kindTo(p.Kind), Edits: mapSlice(p.Edits, editTo), Refresh: p.Refresh,
		Sections: mapSlice(p.Sections, sectionTo), Marks: mapSlice(p.Marks, markTo), Records: mapSlice(p.Records, recordTo),
		Steer: mapSlice(p.Steer, valid), ContinueTurn: p.Continue, Boot: valid(p.Boot), Postpone: p.Postpone,
	}
}

func proposalFrom(p *pluginv1.Proposal) (compaction.Proposal, error) {
	out := compaction.Proposal{
		Revision: p.GetRevision(), Kind: kindFrom(p.GetKind()), Refresh: p.GetRefresh(),
		Sections: mapSlice(p.GetSections(), sectionFrom), Marks: mapSlice(p.GetMarks(), markFrom), Records: mapSlice(p.GetRecords(), recordFrom),
		Steer: p.GetSteer(), Continue: p.GetContinueTurn(), Boot: p.GetBoot(), Postpone: p.GetPostpone(),
	}
	var err error
	out.Edits, err = editsFrom(p.GetEdits())
	return out, err
}

func editsFrom(list []*pluginv1.Edit) ([]compaction.Edit, error) {
	var edits []compaction.Edit
	for i, e := range list {
		edit, ok := editFrom(e)
		if !ok {
			return nil, &Error{Code: CodeProtocol, Message: fmt.Sprintf("edit %d is empty or of an unknown kind", i)}
		}
		edits = append(edits, edit)
	}
	return edits, nil
}

func editTo(e compaction.Edit) *pluginv1.Edit {
	switch {
	case e.Trim != nil:
		return &pluginv1.Edit{Edit: &pluginv1.Edit_Trim{Trim: &pluginv1.Trim{
			Node: e.Trim.Node, Head: int32(e.Trim.Head), Tail: int32(e.Trim.Tail)}}}
	case e.Drop != nil:
		return &pluginv1.Edit{Edit: &pluginv1.Edit_Drop{Drop: spanTo(*e.Drop)}}
	case e.Replace != nil:
		return &pluginv1.Edit{Edit: &pluginv1.Edit_Replace{Replace: &pluginv1.Replace{
			Span: spanTo(e.Replace.Span), Messages: mapSlice(e.Replace.Messages, messageTo)}}}
	}
	return &pluginv1.Edit{}
}

func editFrom(e *pluginv1.Edit) (compaction.Edit, bool) {
	switch e := e.GetEdit().(type) {
	case *pluginv1.Edit_Trim:
		return compaction.Edit{Trim: &compaction.Trim{
			Node: e.Trim.GetNode(), Head: int(e.Trim.GetHead()), Tail: int(e.Trim.GetTail())}}, true
	case *pluginv1.Edit_Drop:
		span := spanFrom(e.Drop)
		return compaction.Edit{Drop: &span}, true
	case *pluginv1.Edit_Replace:
		return compaction.Edit{Replace: &compaction.Replace{
			Span: spanFrom(e.Replace.GetSpan()), Messages: mapSlice(e.Replace.GetMessages(), messageFrom)}}, true
	}
	return compaction.Edit{}, false
}

func spanTo(s compaction.Span) *pluginv1.Span { return &pluginv1.Span{From: s.From, To: s.To} }

func spanFrom(s *pluginv1.Span) compaction.Span {
	return compaction.Span{From: s.GetFrom(), To: s.GetTo()}
}
