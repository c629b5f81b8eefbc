package cli

import (
	"fmt"
	"io"
	"iter"
	"os"
	"time"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
)

const (
	activityAfter = time.Second            // shorter work says nothing
	activityEvery = 200 * time.Millisecond // a line is drawn again at most so often
)

// activity tells a person at a terminal how far a long reading of logs is, on one
// line of stderr that it takes away again. A nil activity says nothing.
type activity struct {
	w     io.Writer
	what  string
	begun time.Time
	drawn time.Time // zero where no line stands there
}

// activity returns nil where nobody looks.
func (a *app) activity(what string) *activity {
	if a.quiet || !render.IsTerminal(os.Stderr) {
		return nil
	}
	return &activity{w: os.Stderr, what: what, begun: time.Now()}
}

// at says how many events are done.
func (p *activity) at(events int64) {
	if p == nil || time.Since(p.begun) < activityAfter || time.Since(p.drawn) < activityEvery {
		return
	}
	p.drawn = time.Now()
	fmt.Fprintf(p.w, "\r\x1b[K%s: %s events", p.what, render.Amount(int(events)))
}

// about names what is being read from now on.
func (p *activity) about(what string) {
	if p != nil {
		p.what = what
	}
}

// clear takes the line away.
func (p *activity) clear() {
	if p != nil && !p.drawn.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.drawn = time.Time{}
	}
}

// watched tells p of the events that pass.
func watched(events iter.Seq2[session.Event, error], p *activity) iter.Seq2[session.Event, error] {
	if p == nil {
		return events
	}
	return func(yield func(session.Event, error) bool) {
		n := int64(0)
		for e, err := range events {
			if n++; n%1000 == 0 {
				p.at(n)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
