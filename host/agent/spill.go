package agent

import (
	"strings"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/spill"
)

// maxHookText is how much of a result hooks see, in bytes: together with the call's
// arguments it has to fit a message to a plugin.
const maxHookText = 1 << 20

// hookText is what hooks see of a result: start and end of one that is very long.
func hookText(text string) string {
	if len(text) <= maxHookText {
		return text
	}
	whole := func(part string) string { return strings.ToValidUTF8(part, "") } // no half of a character
	return whole(text[:maxHookText/2]) + "\n[...]\n" + whole(text[len(text)-maxHookText/2:])
}

// fit tells how many tokens each result of a wave may show (C14, T14). Tools that
// page by themselves have a wider bound of their own.
func (b *batch) fit(wave []int) []int {
	limits := make([]int, len(wave))
	var sizes, places []int
	for n, i := range wave {
		size := llm.EstimateText(b.results[i].Text)
		if spec, _, known := b.a.Tools.Lookup(b.calls[i].Name); known && spec.NoSpill {
			limits[n] = spill.FitPaged(size)
			continue
		}
		sizes, places = append(sizes, size), append(places, n)
	}
	for k, limit := range b.share.Fit(sizes) {
		limits[places[k]] = limit
	}
	return limits
}

// stage stages a result; one that has more than limit tokens as a preview, behind
// an event that keeps it whole (C15).
func (b *batch) stage(i, limit int) error {
	r, c := b.results[i], b.calls[i]
	payload := session.ToolResult{Name: c.Name, Code: r.Code, Millis: b.took[i].Milliseconds()}
	for _, e := range r.Effects {
		payload.Effects = append(payload.Effects, string(e))
	}
	return b.a.rec.build(func(s *fold.State) ([]session.Event, error) {
		var events []session.Event
		text := r.Text
		if llm.EstimateText(text) > limit {
			payload.Spilled = s.Head + 1
			events = append(events, spill.Event(c.ID, c.Name, text, r.LeftOut).At(b.at.Turn, b.at.Step))
			text = spill.Preview(text, spill.ID(payload.Spilled), limit, r.LeftOut)
		}
		payload.Message = llm.ToolResult(c.ID, text, r.IsError)
		return append(events, session.New(session.KindToolResult, payload).At(b.at.Turn, b.at.Step).On(session.Op{Kind: session.OpAppend})), nil
	})
}
