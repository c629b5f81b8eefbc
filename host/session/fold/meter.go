package fold

import (
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Anchor is the newest provider usage that speaks of this surface, and the
// estimate of the same surface at that moment. The zero value is none.
type Anchor struct {
	Tokens   int `json:"tokens"`
	Estimate int `json:"estimate"`
}

// Where a measured figure comes from.
const (
	SourceUsage    = "usage"
	SourceEstimate = "estimate"
)

// Measure returns the tokens in use: the anchor plus the estimated change since,
// or the estimate alone where there is no anchor (C2). It never falls below
// nothing and never takes absent usage for zero.
func (s *State) Measure() (tokens int, source string) {
	if s.Anchor.Tokens > 0 {
		return max(0, s.Anchor.Tokens+s.Estimate()-s.Anchor.Estimate), SourceUsage
	}
	return s.Estimate(), SourceEstimate
}

// Estimate returns the estimated tokens of the surface and the tool declarations.
func (s *State) Estimate() int { return s.Surface.Tokens + s.ToolTokens() }

// ToolTokens estimates the tool declarations of the newest header.
func (s *State) ToolTokens() int {
	if s.Header == nil {
		return 0
	}
	if s.toolTokens.header != s.HeaderSeq {
		s.toolTokens.header, s.toolTokens.tokens = s.HeaderSeq, llm.EstimateTools(s.Header.Tools)
	}
	return s.toolTokens.tokens
}

// Fixed estimates what no compaction removes: node 0 and the tool declarations.
func (s *State) Fixed() int {
	fixed := s.ToolTokens()
	if len(s.Surface.Nodes) > 0 && s.Surface.Nodes[0].Kind == session.KindMessageSystem {
		fixed += s.Surface.Nodes[0].Tokens
	}
	return fixed
}

// anchor takes a usage as the new anchor where it counts at least what the
// estimate does; a smaller one is distrusted.
func (s *State) anchor(u llm.Usage) {
	estimate := s.Estimate()
	if total := u.Total(); total >= estimate && total > 0 {
		s.Anchor = Anchor{Tokens: total, Estimate: estimate}
		return
	}
	s.Anchor = Anchor{}
}
