package prune

import (
	"context"
	"fmt"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Defaults of Config.
const (
	DefaultTarget      = 0.7
	DefaultRetainRatio = 0.16
)

// What a mask leaves of a result, in code points: enough to see what it was, and
// the notice by which the host tells where the whole of a long one is kept.
const (
	Masked   = 1536 // a result of at most that many is not masked
	MaskHead = 256
	MaskTail = 512
)

// Config is what a profile may set. The zero value is the default.
type Config struct {
	// Target is the share of the line down to which a proposal makes room (the
	// low-water mark); nil = DefaultTarget.
	Target *float64 `json:"target"`
	// RetainRatio is the share of the input room whose newest messages stay as
	// they are (C5); nil = DefaultRetainRatio.
	RetainRatio *float64 `json:"retain_ratio"`
}

// Strategy masks old observations: what tools answered long ago goes first, for it
// can be asked for again, while what was thought and said stays. Such masking keeps
// up with summaries on software work at half of their cost (Lindenbauer et al., "The
// Complexity Trap", 2025). It is safe for concurrent use and keeps nothing of a
// session.
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

// Propose cuts results, the oldest first, and none that the model has not seen. Past
// the line it stops at the low-water mark, so that the room up to the line must fill
// again before the next proposal, and leaves the newest results alone. On overflow,
// by hand and where the agent asks, everything goes that may. Where nothing would
// become smaller there is nothing to do; nor at a stopping trigger, for the next turn
// looks at the line before its first step. Where a request was too long because of
// results that the model has not seen, the error names them.
func (s *Strategy) Propose(_ context.Context, in compaction.Input) (compaction.Proposal, error) {
	keep, goal := 0, 0
	switch in.Trigger {
	case session.TriggerPressure:
		if in.Budget.ResetAt <= 0 || in.Measured < in.Budget.ResetAt {
			return compaction.Proposal{}, nil
		}
		keep, goal = in.Budget.Retain(s.retain), in.Measured-int(s.target*float64(in.Budget.ResetAt))
	case session.TriggerOverflow, session.TriggerManual, session.TriggerRequested:
		goal = -1
	default:
		return compaction.Proposal{}, nil
	}
	var nodes []session.Node
	for n, err := range in.Outline {
		if err != nil {
			return compaction.Proposal{}, fmt.Errorf("prune: read the surface: %w", err)
		}
		nodes = append(nodes, n)
	}
	edits := masks(nodes, keep, scaled(goal, in.Measured, nodes))
	if len(edits) == 0 && in.Trigger == session.TriggerOverflow && in.Attempt <= 1 {
		if err := compaction.Blame(nodes); err != nil {
			return compaction.Proposal{}, fmt.Errorf("prune: there is nothing to cut: %w", err)
		}
	}
	if len(edits) == 0 {
		return compaction.Proposal{}, nil
	}
	return compaction.Proposal{Revision: in.Revision, Kind: compaction.KindTrim, Edits: edits}, nil
}

// scaled turns measured tokens into those of the nodes: where the endpoint counts less
// than was estimated, a cut gains less than it seems to. -1 stays: no limit.
func scaled(goal, measured int, nodes []session.Node) int {
	total := 0
	for _, n := range nodes {
		total += n.Tokens
	}
	if goal <= 0 || measured >= total || measured <= 0 {
		return goal
	}
	return (goal*total + measured - 1) / measured
}

// masks cuts results before the newest keep tokens until so many tokens are gained, -1
// = as many as there are: long ones to their head and tail (C12), then each to a mask.
func masks(nodes []session.Node, keep, goal int) []compaction.Edit {
	end, _ := compaction.BalancedTail(nodes, keep)
	end = min(end, compaction.Seen(nodes))
	cuts := make(map[int]cut)
	gained := 0
	for _, l := range []level{{Long, Head, Tail}, {Masked, MaskHead, MaskTail}} {
		for i := 0; i < end && (goal < 0 || gained < goal); i++ {
			if c, ok := l.cut(nodes[i]); ok {
				gained += c.gain - cuts[i].gain
				cuts[i] = c
			}
		}
	}
	var edits []compaction.Edit
	for i := range end {
		if c, ok := cuts[i]; ok {
			edits = append(edits, c.edit)
		}
	}
	return edits
}

// level is one depth of cutting.
type level struct{ over, head, tail int }

type cut struct {
	edit compaction.Edit
	gain int // tokens
}

func (l level) cut(n session.Node) (cut, bool) {
	if n.Role != llm.RoleTool || n.Chars <= l.over {
		return cut{}, false
	}
	e := trim(n, l.head, l.tail)
	gain := n.Tokens - compaction.After([]session.Node{n}, compaction.Proposal{Edits: []compaction.Edit{e}}, nil)
	return cut{e, gain}, gain > 0
}
