// Package grow makes a session's log as long as is wanted, with turns, steps and
// resets as a run writes them.
package grow

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/notesoup"
)

// Steps of a turn, and of the last window, so that logs of any length end with the
// same surface.
const (
	perTurn = 20
	Tail    = 100
)

// Log says how long a log becomes. Equal logs and openings give equal events.
type Log struct {
	Events int    // at least so many, and at most a turn more
	Window int    // steps between two resets, a multiple of 20
	Text   string // what a tool finds, in most steps
	Seed   uint64
}

// Word is what only the prompt of the n-th turn that was added says.
func Word(n int) string { return fmt.Sprintf("bittern-%d,", n) }

// Grown is a log that grows while its events are asked for.
type Grown struct {
	log      Log
	opening  []session.Event
	state    *fold.State
	rand     *rand.Rand
	window   notesoup.Window
	contexts []session.Event // what stands in each new window again
	yield    func(session.Event, error) bool
	stopped  bool
	turns    int // that were added
	inWindow int // steps
}

// From begins a log with an opening: the whole log of a run under notesoup.
func (l Log) From(opening []session.Event) *Grown {
	return &Grown{log: l, opening: opening, state: fold.New(), rand: rand.New(rand.NewPCG(l.Seed, 1))}
}

// Snapshot is the snapshot of all events so far.
func (g *Grown) Snapshot() []byte { return g.state.Snapshot() }

// Events yields the events. They can be asked for once.
func (g *Grown) Events() iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		g.yield = yield
		for _, e := range g.opening {
			g.learn(e)
			g.emit(e)
		}
		if g.window.ID == "" || g.state.Turn.Open || len(g.state.Surface.Nodes) < 2 {
			yield(session.Event{}, errors.New("the opening is no log of a run under notesoup that has ended"))
			return
		}
		for !g.stopped && int(g.state.Head)+g.tail() < g.log.Events {
			g.turn(g.inWindow >= g.log.Window)
		}
		for i := range Tail / perTurn {
			g.turn(i == 0)
		}
	}
}

// tail is about the number of events of the last window.
func (g *Grown) tail() int { return Tail/perTurn*(8+5*perTurn) + 5 + len(g.contexts) }

// learn keeps what a reset repeats.
func (g *Grown) learn(e session.Event) {
	switch e.Kind {
	case session.KindRecord:
		r, err := session.Decode[session.Record](e)
		if err == nil && r.Plugin == notesoup.Name && r.Kind == notesoup.RecordWindow {
			_ = json.Unmarshal(r.Data, &g.window)
		}
	case session.KindCompactionStarted:
		g.contexts = nil
	case session.KindMessageUser:
		if m, err := session.Decode[session.Message](e); err == nil && m.Source == session.SourceContext {
			g.contexts = append(g.contexts, e)
		}
	}
}

// emit folds an event and yields it.
func (g *Grown) emit(e session.Event) {
	if g.stopped {
		return
	}
	err := g.state.Apply(e)
	g.stopped = !g.yield(e, err) || err != nil
}
