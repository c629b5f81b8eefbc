package summary

import (
	"context"
	"errors"
	"math"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

const (
	marginShare  = 20 // a request stays a 20th of the window below it: estimates err
	leanShare    = 4  // of the window: the least output that a call is given at first
	leanTokens   = 1024
	scantTokens  = 512 // no call is given less, whatever the window
	mostRatio    = 16  // nothing counts more for a token of ours
	clearlyBelow = 0.9 // of the line
)

// gauge prices a compaction request. Tokens are those of the nodes unless told
// otherwise; ratio turns them into what the endpoint is likely to count.
type gauge struct {
	window int // of the model that runs it, in its own tokens; 0 = unknown
	ratio  float64
	fixed  int // node 0 and the tool declarations
	ask    int // the instruction
	most   int // output cap
}

// gauge learns from the meter what the endpoint counts for a token of ours. Another
// model than the session's may count more than that endpoint does, but no less than
// we estimate. Where the request before was refused as too long, the host tells what was
// counted, and where no number came it was at least the window.
func (s *Strategy) gauge(ctx context.Context, in compaction.Input, nodes []session.Node, ask string) gauge {
	g := gauge{window: in.Budget.Window, ratio: 1, fixed: nodes[0].Tokens, ask: estimate(ask), most: s.outputCap(in.Budget)}
	m, err := in.Access.Meter(ctx)
	if said := tokens(nodes[1:]); err == nil && said > 0 && m.Measured > m.Fixed {
		g.ratio = min(max(float64(m.Measured-m.Fixed)/float64(said), 0.5), mostRatio)
		g.fixed = max(g.fixed, int(float64(m.Fixed)/g.ratio))
	}
	if in.Trigger == session.TriggerOverflow {
		g = g.refused(max(in.Measured, in.Budget.Window), g.fixed+tokens(nodes[1:]))
	}
	if s.config.ContextWindow > 0 {
		g.window, g.ratio = s.config.ContextWindow, max(g.ratio, 1)
	}
	return g
}

// refused is the gauge after a request was refused in which the endpoint counted so
// many tokens where we estimated said.
func (g gauge) refused(counted, said int) gauge {
	if said > 0 {
		g.ratio = max(g.ratio, min(float64(counted)/float64(said), mostRatio))
	}
	return g
}

// overflowed is the gauge after a call of our own about so many tokens of conversation
// was refused as too long; ok is false where the refusal tells nothing to go by. Where
// it names no number, the estimate was too low by at least a half.
func (g gauge) overflowed(err error, said int) (_ gauge, ok bool) {
	var failure *llm.Error
	if said <= 0 || !errors.As(err, &failure) || failure.Code != llm.CodeOverflow {
		return g, false
	}
	if failure.Requested <= 0 {
		g.ratio = min(1.5*g.ratio, mostRatio)
	}
	if failure.Window > 0 && (g.window <= 0 || failure.Window < g.window) {
		g.window = failure.Window
	}
	return g.refused(max(failure.Requested, g.window), g.fixed+g.ask+said), g.window > 0
}

func (g gauge) count(tokens int) int { return int(math.Ceil(float64(tokens) * g.ratio)) }

// lean is the output cap that a call keeps as long as anything else can give way.
func (g gauge) lean() int { return min(g.most, max(leanTokens, g.window/leanShare)) }

// whole is the output cap of one call about so many tokens of conversation; ok is
// false where they do not fit into one.
func (g gauge) whole(said int) (limit int, ok bool) {
	if g.window <= 0 {
		return g.most, true
	}
	limit = min(g.most, g.window-g.window/marginShare-g.count(g.fixed+g.ask+said))
	return limit, limit >= g.lean()
}

// room is how much conversation a call with this output cap may be about.
func (g gauge) room(limit int) int {
	return int(float64(g.window-g.window/marginShare-limit)/g.ratio) - g.fixed - g.ask
}

// held is what a checkpoint of so many output tokens may come to: where a token of the
// endpoint is more text than one of ours, more than that.
func (g gauge) held(limit int) int {
	return int(1.5*float64(limit)/g.ratio) + llm.Estimate(frame("", nil, false))
}

func estimate(text string) int { return llm.Estimate(llm.Text(llm.RoleUser, text)) }

func tokens(nodes []session.Node) int {
	total := 0
	for _, n := range nodes {
		total += n.Tokens
	}
	return total
}
