// Package truncate is the baseline strategy: the oldest messages are left out, and
// one line says so. No model is asked.
package truncate

import (
	"context"
	"fmt"
	"slices"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Defaults of Config.
const (
	DefaultTarget      = 0.7
	DefaultRetainRatio = 0.16
)

// Config is what a profile may set. The zero value is the default.
type Config struct {
	// Target is the share of the line down to which a proposal makes room; nil =
	// DefaultTarget.
	Target *float64 `json:"target"`
	// RetainRatio is the share of the input room whose newest messages stay (C5);
	// nil = DefaultRetainRatio.
	RetainRatio *float64 `json:"retain_ratio"`
}

// Strategy leaves out the oldest exchanges, whole: what the person asked first and
// last stays, and so do the newest messages. It is safe for concurrent use and keeps
// nothing of a session.
type Strategy struct{ target, retain float64 }

// New makes the strategy.
func New(c Config) *Strategy {
	s := &Strategy{DefaultTarget, DefaultRetainRatio}
	if c.Target != nil {
		s.target = *c.Target
	}
	if c.RetainRatio != nil {
		s.retain = *c.RetainRatio
	}
	return s
}

// Open shows nothing.
func (s *Strategy) Open(context.Context, compaction.Session) (compaction.Opening, error) {
	return compaction.Opening{}, nil
}

// Propose leaves out messages, the oldest first. Past the line it stops where the
// target is reached and leaves the newest alone; on overflow, by hand and where the
// agent asks, the newest exchange is all that stays of the work. One message tells how
// many are left out, those of earlier proposals counted in. Where nothing would become
// smaller there is nothing to do; nor at a stopping trigger, for the next turn looks
// at the line before its first step. Where a request was too long because of results
// that the model has not seen, the error names them.
func (s *Strategy) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	keep, goal := 0, -1
	switch in.Trigger {
	case session.TriggerPressure:
		if in.Budget.ResetAt <= 0 || in.Measured < in.Budget.ResetAt {
			return compaction.Proposal{}, nil
		}
		keep, goal = in.Budget.Retain(s.retain), in.Measured-int(s.target*float64(in.Budget.ResetAt))
	case session.TriggerOverflow, session.TriggerManual, session.TriggerRequested:
	default:
		return compaction.Proposal{}, nil
	}
	var nodes []session.Node
	for n, err := range in.Outline {
		if err != nil {
			return compaction.Proposal{}, fmt.Errorf("truncate: read the surface: %w", err)
		}
		nodes = append(nodes, n)
	}
	runs := leave(nodes, keep, scaled(goal, in.Measured, nodes))
	if len(runs) == 0 {
		return nothing(in, nodes)
	}
	count := 0
	for _, r := range runs {
		n, err := leftOut(ctx, in.Access, nodes[r.from:r.to])
		if err != nil {
			return compaction.Proposal{}, err
		}
		count += n
	}
	p := compaction.Proposal{Revision: in.Revision, Kind: compaction.KindSummary, Edits: edits(nodes, runs, note(count))}
	if compaction.After(nodes, p, nil) >= total(nodes) {
		return nothing(in, nodes)
	}
	return p, nil
}

// nothing tells why there is nothing to leave out, where that ends the turn.
func nothing(in compaction.Input, nodes []session.Node) (compaction.Proposal, error) {
	if in.Trigger == session.TriggerOverflow && in.Attempt <= 1 {
		if err := compaction.Blame(nodes); err != nil {
			return compaction.Proposal{}, fmt.Errorf("truncate: there is nothing to leave out: %w", err)
		}
	}
	return compaction.Proposal{}, nil
}

// scaled turns measured tokens into those of the nodes: where the endpoint counts less
// than was estimated, what leaves gains less than it seems to. -1 stays: no limit.
func scaled(goal, measured int, nodes []session.Node) int {
	all := total(nodes)
	if goal <= 0 || measured >= all || measured <= 0 {
		return goal
	}
	return (goal*all + measured - 1) / measured
}

func total(nodes []session.Node) (tokens int) {
	for _, n := range nodes {
		tokens += n.Tokens
	}
	return tokens
}

// run is nodes[from:to].
type run struct{ from, to int }

// leave chooses the runs that are left out, before the newest keep tokens and what the
// model has not seen, until so many tokens are gained, -1 = as many as there are.
func leave(nodes []session.Node, keep, goal int) []run {
	end, _ := compaction.BalancedTail(nodes, keep)
	end = min(end, compaction.Seen(nodes))
	balanced := compaction.Boundaries(nodes)
	first, last := requests(nodes)
	var runs []run
	gained := -llm.Estimate(note(len(nodes)))
	for from := first + 1; from < end && (goal < 0 || gained < goal); {
		to := from + 1
		for to < len(nodes) && !balanced[to] {
			to++
		}
		switch {
		case to > end:
			return runs
		case from <= last && last < to: // the request stays, and its batch with it
		case len(runs) > 0 && runs[len(runs)-1].to == from:
			runs[len(runs)-1].to = to
			gained += total(nodes[from:to])
		default:
			runs = append(runs, run{from, to})
			gained += total(nodes[from:to])
		}
		from = to
	}
	return runs
}

// requests are the places of the first message of the person and the newest one, a
// steering one too, the same where there is but one. Where no person asked, the first message that is
// not a context counts.
func requests(nodes []session.Node) (first, last int) {
	owner := func(n session.Node) bool { return n.Source == session.SourceOwner || n.Source == session.SourceSteer }
	if first = slices.IndexFunc(nodes, owner); first >= 0 {
		for i, n := range nodes {
			if owner(n) {
				last = i
			}
		}
		return first, last
	}
	first = max(0, slices.IndexFunc(nodes, func(n session.Node) bool {
		return n.Role == llm.RoleUser && n.Source != session.SourceContext && n.Source != session.SourceCheckpoint
	}))
	return first, first
}

// edits put the note in place of the first run and drop the others.
func edits(nodes []session.Node, runs []run, note *llm.Message) []compaction.Edit {
	var list []compaction.Edit
	for i, r := range runs {
		span := compaction.Span{From: nodes[r.from].Seq, To: nodes[r.to-1].Seq}
		if i == 0 {
			list = append(list, compaction.Edit{Replace: &compaction.Replace{Span: span, Messages: []*llm.Message{note}}})
			continue
		}
		list = append(list, compaction.Edit{Drop: &span})
	}
	return list
}
