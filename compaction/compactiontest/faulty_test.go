package compactiontest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// faulty is a decent strategy: the model condenses what is old. It has one fault, of
// the name of the check that finds it; "" = none.
type faulty struct {
	fault string
	nonce int64

	mu     sync.Mutex
	asked  int
	opened session.Access // by the session that was opened last
}

var instances atomic.Int64

func newFaulty(fault string) compaction.Strategy {
	return &faulty{fault: fault, nonce: instances.Add(1)}
}

func (f *faulty) Open(_ context.Context, s compaction.Session) (compaction.Opening, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.opened = s.Access
	if f.fault == "opening" {
		return compaction.Opening{Sections: []compaction.Section{{Text: "a section without an id"}}}, nil
	}
	return compaction.Opening{}, nil
}

func (f *faulty) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	f.mu.Lock()
	f.asked++
	asked, opened := f.asked, f.opened
	f.mu.Unlock()
	var nodes []session.Node
	for n, err := range in.Outline {
		if err != nil {
			return compaction.Proposal{}, err
		}
		nodes = append(nodes, n)
	}
	keep := 0
	switch in.Trigger {
	case session.TriggerPressure:
		if f.fault == "relief" {
			return compaction.Proposal{}, nil
		}
		keep = in.Budget.Retain(0.16)
	case session.TriggerOverflow, session.TriggerManual:
	case session.TriggerRequested, session.TriggerStopping:
		return compaction.Proposal{}, nil
	default:
		if f.fault == "unknown-trigger" {
			return put(in, nodes, 0, len(nodes)-1, "of no matter"), nil
		}
		return compaction.Proposal{}, nil
	}
	if f.fault == "unknown-window" {
		_ = in.Measured / in.Budget.Window
	}
	if p, ok := f.alone(in, nodes); ok {
		return p, nil
	}
	cut, ok := compaction.BalancedTail(nodes, keep)
	if !ok || !slices.ContainsFunc(nodes[1:cut], func(n session.Node) bool { return n.Source != session.SourceCheckpoint }) {
		return compaction.Proposal{}, nil
	}
	text, err := f.condense(ctx, in, nodes[1:cut])
	if err != nil {
		return compaction.Proposal{}, err
	}
	switch f.fault {
	case "instructions":
		if in.Instructions != "" {
			text = in.Instructions
		}
	case "restart":
		text += fmt.Sprint(" by ", f.nonce)
	case "repeats":
		text += fmt.Sprint(" for question ", asked)
	case "sessions":
		text += first(ctx, opened)
	}
	p := put(in, nodes, 1, cut-1, text)
	if f.fault == "pages" && cut > 501 {
		p = put(in, nodes, 1, 501, text) // which is taken for all
		p.Kind = compaction.KindReset
	}
	if compaction.After(nodes, p, nil) >= compaction.After(nodes, compaction.Proposal{}, nil) {
		return compaction.Proposal{}, nil
	}
	if parallel(nodes[:cut]) {
		f.spoil(&p, in, nodes, cut)
	}
	return p, nil
}

// alone has the faults that show where one message is all there is.
func (f *faulty) alone(in compaction.Input, nodes []session.Node) (compaction.Proposal, bool) {
	if len(nodes) != 2 {
		return compaction.Proposal{}, false
	}
	made := nodes[1].Source == session.SourceCheckpoint
	if f.fault == "settles" && made || f.fault == "nothing" && !made {
		p := put(in, nodes, 1, 1, strings.Repeat("a fresh start ", 20))
		p.Kind = compaction.KindReset
		return p, true
	}
	return compaction.Proposal{}, false
}

func (f *faulty) condense(ctx context.Context, in compaction.Input, span []session.Node) (string, error) {
	if f.fault == "cancel" {
		ctx = context.WithoutCancel(ctx)
	}
	until := span[len(span)-1].Seq
	if f.fault == "calls" && parallel(span) {
		i := slices.IndexFunc(span, func(n session.Node) bool { return len(n.CallIDs) > 1 })
		until = span[i].Seq // the results are missing
	}
	answer, err := in.Access.Generate(ctx, session.Generate{SurfaceUntil: until, Append: []*llm.Message{llm.Text(llm.RoleUser, "What happened?")}})
	var refused *llm.Error
	switch {
	case f.fault == "calls" && err != nil && parallel(span):
		return "something", nil
	case f.fault == "failures" && errors.As(err, &refused) && refused.Code == llm.CodeOverflow:
		return " ", nil
	case err != nil:
		return "", err
	}
	if text := strings.TrimSpace(answer.Message.Text()); text != "" {
		return text, nil
	}
	return "", errors.New("the model said nothing")
}

// spoil has the faults that show where an answer made several calls.
func (f *faulty) spoil(p *compaction.Proposal, in compaction.Input, nodes []session.Node, cut int) {
	switch f.fault {
	case "pairs":
		if nodes[cut-1].Role == llm.RoleTool {
			*p = put(in, nodes, 1, cut-2, "all but the last result")
		}
	case "edits":
		p.Edits = append(p.Edits, p.Edits[0])
	case "system":
		*p = put(in, nodes, 0, cut-1, "all of it")
	case "kind":
		p.Kind = compaction.KindTrim
	case "revision":
		p.Revision++
	case "texts":
		*p = put(in, nodes, 1, cut-1, "\n")
	case "smaller":
		*p = put(in, nodes, 1, cut-1, strings.Repeat("word for word ", 50_000))
	case "sendable":
		if cut < len(nodes) && nodes[cut].Role == llm.RoleAssistant {
			p.Edits = []compaction.Edit{{Drop: &compaction.Span{From: nodes[1].Seq, To: nodes[cut-1].Seq}}}
		}
	}
}

func put(in compaction.Input, nodes []session.Node, from, to int, text string) compaction.Proposal {
	return compaction.Proposal{Revision: in.Revision, Kind: compaction.KindSummary, Edits: []compaction.Edit{{Replace: &compaction.Replace{
		Span:     compaction.Span{From: nodes[from].Seq, To: nodes[to].Seq},
		Messages: []*llm.Message{llm.Text(llm.RoleUser, text)},
	}}}}
}

func parallel(nodes []session.Node) bool {
	return slices.ContainsFunc(nodes, func(n session.Node) bool { return len(n.CallIDs) > 1 })
}

// first is what the person said first in a session.
func first(ctx context.Context, log session.Access) string {
	for e, err := range log.Events(ctx, session.Query{Kinds: []session.Kind{session.KindMessageUser}, Limit: 1}) {
		if m, decodeErr := session.Decode[session.Message](e); err == nil && decodeErr == nil {
			return m.Message.Text()
		}
	}
	return ""
}
