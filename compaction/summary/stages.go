package summary

import (
	"math"
	"sort"
	"unicode/utf8"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

const (
	maxStages = 12
	leastKept = 512 // code points of a result that a stage is shown at the least
)

// levels are to how many code points results are cut in what a stage is shown: not at
// all, and shorter where there would be too many stages.
var levels = []int{math.MaxInt, 5120, 2048}

// part is what one stage condenses: nodes[from:to], with results cut where the whole
// would not fit.
type part struct {
	from, to int
	trims    []compaction.Edit
	tokens   int // what is left of them
}

// plan cuts nodes[from:] into parts that each fit a call with an output cap of limit,
// beside a checkpoint of held tokens from the second one on, and into no more than most.
// No call is parted from its result. The error is errStages or a *largeError.
func (g gauge) plan(nodes []session.Node, from, held, limit, level, most int) ([]part, error) {
	var parts []part
	ends := units(nodes)
	for at := from; at < len(nodes); {
		room := g.room(limit)
		if at > 1 {
			room -= held
		}
		if len(parts) >= most {
			return nil, errStages
		}
		p, err := fill(nodes, ends, at, room, level)
		if err != nil {
			return nil, err
		}
		parts, at = append(parts, p), p.to
	}
	return parts, nil
}

// fill takes as many whole units from nodes[at:] as room has place for. A single one
// that is too large has its results cut.
func fill(nodes []session.Node, ends []int, at, room, level int) (part, error) {
	p := part{from: at, to: at}
	for p.to < len(nodes) {
		unit := nodes[p.to:ends[p.to]]
		trims, size := shorten(unit, level)
		if size > room {
			if p.to > at {
				break
			}
			if trims, size = squeeze(unit, room); size > room {
				return p, &largeError{node: unit[0].Seq, tokens: size, room: room}
			}
		}
		p.trims, p.to, room = append(p.trims, trims...), p.to+len(unit), room-size
		p.tokens += size
	}
	return p, nil
}

// shorten cuts each result of a unit to so many code points, and tells how many tokens
// are left of the unit at the most.
func shorten(unit []session.Node, level int) (trims []compaction.Edit, size int) {
	for _, n := range unit {
		if n.Role != llm.RoleTool || level >= n.Chars-utf8.RuneCountInString(compaction.TrimMarker) {
			size += n.Tokens
			continue
		}
		head := level - level/5
		trims = append(trims, compaction.Edit{Trim: &compaction.Trim{Node: n.Seq, Head: head, Tail: level - head}})
		size += min(n.Tokens, kept(n, level))
	}
	return trims, size
}

// squeeze cuts the results of a unit as little as room demands.
func squeeze(unit []session.Node, room int) ([]compaction.Edit, int) {
	most := 0
	for _, n := range unit {
		most = max(most, n.Chars)
	}
	less := sort.Search(max(0, most-leastKept), func(i int) bool {
		_, size := shorten(unit, most-i)
		return size <= room
	})
	return shorten(unit, max(leastKept, most-less))
}

// kept bounds the tokens of a result that is cut to so many code points: those that
// are not ASCII, a token each, may all be among what is left.
func kept(n session.Node, left int) int {
	overhead := llm.Estimate(llm.ToolResult("", "", false))
	other := min(left, max(0, (3*(n.Tokens-overhead)-n.Chars)/2)+1)
	return overhead + other + (left-other+2)/3 + llm.EstimateText(compaction.TrimMarker)
}

// units tells for each place where a unit begins where it ends: a message, or a batch
// of calls with its results.
func units(nodes []session.Node) []int {
	ends := make([]int, len(nodes))
	balanced := compaction.Boundaries(nodes)
	begin := 0
	for end := 1; end <= len(nodes); end++ {
		if balanced[end] || end == len(nodes) {
			ends[begin], begin = end, end
		}
	}
	return ends
}

// script chooses the output cap and the depth of the cuts: the fewest cuts that keep
// the stages within their bound, and a smaller output only where nothing else helps.
func (g gauge) script(nodes []session.Node) (limit, level int, err error) {
	for limit = g.lean(); limit >= min(g.most, scantTokens); limit /= 2 {
		for _, level = range levels {
			var why error
			if _, why = g.plan(nodes, 1, g.held(limit), limit, level, maxStages); why == nil {
				return limit, level, nil
			}
			if err == nil || limit == g.lean() {
				err = why
			}
		}
	}
	return 0, 0, err
}
