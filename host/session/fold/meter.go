package fold

import (
	"math"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Anchor is the newest provider usage that speaks of this surface, and the
// estimate of the same surface at that moment, not scaled. The zero value is none.
type Anchor struct {
	Tokens   int `json:"tokens"`
	Estimate int `json:"estimate"`
}

// Bounds of the ratio between an endpoint's count and the estimate that are
// believed. A usage below the least is distrusted altogether: some endpoints leave
// out what they had cached. The most is text of one token a character, as dumps and
// digits nearly are: the estimate takes a third.
const minRatio, maxRatio = 0.5, 3.0

// How much more must be sent, in estimated tokens, until a count of the prompt that
// did not grow gives away that the endpoint cuts it: half as much again, and at least
// this many.
const minGrowth = 2048

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
		return max(0, s.Anchor.Tokens+s.Scale(s.rough()-s.Anchor.Estimate)), SourceUsage
	}
	return s.Estimate(), SourceEstimate
}

// Estimate returns the estimated tokens of the surface and the tool declarations,
// scaled.
func (s *State) Estimate() int { return s.Scale(s.rough()) }

func (s *State) rough() int { return s.Surface.Tokens + s.ToolTokens() }

// Scale turns tokens as llm.Estimate counts them into what this endpoint is likely
// to count: by the ratio of its newest usage, and not at all before there was one.
func (s *State) Scale(tokens int) int {
	if s.Ratio == 0 {
		return tokens
	}
	return int(math.Ceil(float64(tokens) * s.Ratio))
}

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

// Rough turns tokens of the endpoint into those that llm.Estimate counts: it is what
// Scale undoes.
func (s *State) Rough(tokens int) int {
	if s.Ratio == 0 {
		return tokens
	}
	return int(float64(tokens) / s.Ratio)
}

// Fixed estimates what no compaction removes: node 0 and the tool declarations.
func (s *State) Fixed() int {
	fixed := s.ToolTokens()
	if len(s.Surface.Nodes) > 0 && s.Surface.Nodes[0].Kind == session.KindMessageSystem {
		fixed += s.Surface.Nodes[0].Tokens
	}
	return s.Scale(fixed)
}

// anchor takes a usage as the new anchor, and learns from it what the endpoint
// counts for an estimated token. answer is the estimate of the answer it came with.
func (s *State) anchor(u llm.Usage, answer int) {
	rough, total := s.rough(), u.Total()
	if s.cuts(u.Prompt(), rough-answer) {
		s.CutsPrompt, s.Ratio = true, 0
	}
	if s.CutsPrompt {
		s.Anchor = Anchor{}
		return
	}
	if total == 0 || float64(total) < minRatio*float64(rough) {
		s.Anchor = Anchor{}
		return
	}
	s.Anchor = Anchor{Tokens: total, Estimate: rough}
	if r := float64(total) / float64(max(rough, 1)); r <= maxRatio {
		s.Ratio = r
	}
}

// refused takes what an endpoint counted for a request that it found too long, which
// is this surface, as an anchor. It counts only where it is more than was thought: it
// may be a lower bound, and no refusal is a reason to believe in more room.
func (s *State) refused(input int) {
	rough := s.rough()
	r := float64(input) / float64(max(rough, 1))
	if measured, _ := s.Measure(); input <= measured || r > maxRatio {
		return
	}
	s.Anchor, s.Ratio = Anchor{Tokens: input, Estimate: rough}, r
}

// accept remembers how long a prompt this model has answered. A learned window below
// that is none.
func (s *State) accept(u llm.Usage) {
	s.Accepted = max(s.Accepted, u.Prompt())
	if s.Learned != nil && u.Prompt() > s.Learned.Window {
		s.Learned = nil
	}
}

// cuts takes the endpoint's count of a request of so many estimated tokens, and tells
// whether the endpoint cuts what it is sent: the count stays flat or falls while much
// more is sent. One that falls by more than half is another thing: some endpoints
// leave out what they had cached.
func (s *State) cuts(prompt, rough int) bool {
	last := s.Prompt
	switch {
	case prompt == 0:
		return false
	case last.Tokens == 0 || prompt > last.Tokens || float64(prompt) < minRatio*float64(last.Tokens):
		s.Prompt = Anchor{Tokens: prompt, Estimate: rough}
		return false
	}
	return rough-last.Estimate >= max(minGrowth, last.Estimate/2)
}
