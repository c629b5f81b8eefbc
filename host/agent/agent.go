// Package agent is the loop: it claims input, asks the model, runs the tools and
// writes what happened to the log, until nothing is owed. It knows interfaces
// only. Read turn.go, then step.go.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// Options wires an agent. All fields but those marked optional are required.
type Options struct {
	Log      session.Log
	State    *fold.State // folded from Log; the agent owns it from here
	Model    llm.Model
	Info     llm.Info
	Effort   string         // optional
	Params   map[string]any // optional
	Tools    *tool.Registry
	Hooks    *hook.Chain
	Prompts  []prompt.Provider // optional
	Persona  Persona           // optional
	Strategy Strategy          // zero = none
	Budget   compaction.Budget
	// Resolve draws the line of another window with the profile's keys; optional.
	Resolve  func(window int) (compaction.Budget, error)
	Retry    Retry
	Limits   Limits
	Observer Observer // optional
	Logger   *slog.Logger
	Name     string           // the agent's name, for notes
	Opened   session.Opened   // what is stored as session.opened
	Now      func() time.Time // optional
	Seed     func() uint64    // optional
	// Asker reaches the person; nil = nobody is there (T16, T18).
	Asker Asker
	// Commands are the plugins' slash commands; optional.
	Commands *command.Registry
	// Family keeps the subagents; nil = this agent can have none (S1).
	Family Family
	// Spending is shared by the sessions of a tree; nil = this agent has its own.
	Spending *Spending
	// Moved tells the plugins that tools start from another directory; optional.
	Moved func(ctx context.Context, directory string) error
	// Secrets are values that no event and no request may hold (M25); optional.
	Secrets []string
	// Frozen names the archived session above this one, "" where there is none; while
	// it does, this one takes no step either (L18). It is asked before each step and
	// must not wait for anything. Optional.
	Frozen func() string
	// InHistory sends a changed system prompt as a later message (L12).
	InHistory bool
}

// Persona is the profile's own text in the system prompt (SP3).
type Persona struct{ Prefix, Suffix string }

// Strategy is the compaction strategy in force.
type Strategy struct {
	compaction.Strategy
	Name   string
	Plugin string // the plugin whose tools may request a compaction
	// Auto tells whether marks and the line act at all (N21); Ask, that a person has to
	// agree before the line does.
	Auto, Ask bool
}

// Observer hears what happens, in log order. It is called from one goroutine at
// a time and must not call the agent.
type Observer interface {
	// Event is called once an event is durable, with the meter after it.
	Event(e session.Event, m session.Meter)
	// Delta is a piece of an answer that may still come to nothing.
	Delta(kind llm.BlockKind, text string)
	// Progress is a word of a long tool call or proposal.
	Progress(source, text string)
}

// Agent runs one session. Prompt, Steer and the Access may be used from any
// goroutine while Run is going on; Run itself is not reentrant.
type Agent struct {
	Options
	rec *record

	mu       sync.Mutex           // guards what follows
	sections []compaction.Section // the strategy's, frozen
	marks    []compaction.Mark
	shared   []prompt.Section // the host's and the plugins', asked once a window
	before   []prompt.Section // those from before the newest compaction, nil where another process made it
	billed   bill             // what the strategy's plugin had the model do in this process

	mailing   sync.Mutex      // one look at the mail at a time
	callIDs   map[string]bool // on the surface
	gone      string          // where an earlier process worked, unless it is still there
	started   time.Time
	stepCount int // of this process
	turnCount int
	waitedFor string        // what the person was last told of
	signal    chan struct{} // something was queued or asked
	asking    questions
	// What stopped without being reached, as of the last time that nothing was owed.
	unfinished string
	turning    turning // how to end the step under way
	unopened   bool    // the strategy is to be opened before the next step
	askAgain   int     // tokens in use from which the person is asked again, see consent
	unasked    int     // the turn in which nobody could be asked
	overranIn  int     // the turn in which an answer was set aside, see overran
	pressed    int     // tokens in use before a compaction that no answer has followed yet, 0 = none
	line       atomic.Pointer[compaction.Budget]
}

// wakes are the kinds of events after which an agent that waits looks around.
var wakes = map[session.Kind]bool{session.KindInboxQueued: true, session.KindCompactionAsked: true, session.KindUndoAsked: true, session.KindSessionArchived: true}

// Open takes over a session: it closes what a crash left open and opens the
// strategy. The agent has not run yet.
func Open(ctx context.Context, o Options) (*Agent, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Seed == nil {
		o.Seed = rand.Uint64
	}
	a := &Agent{Options: o, rec: newRecord(o.Log, o.State, o.Now), callIDs: map[string]bool{}, started: o.Now(), signal: make(chan struct{}, 1)}
	a.rec.secrets = newSecrets(o.Secrets)
	if a.Spending == nil {
		a.Spending = NewSpending()
	}
	a.rec.observe = func(e session.Event) {
		if spends[e.Kind] {
			a.book()
		}
		if wakes[e.Kind] {
			a.wake()
		}
		if o.Observer != nil {
			o.Observer.Event(e, a.meter())
		}
	}
	a.recall()
	closers, why := fold.Repair(o.State), changed(o.State, o)
	if err := a.rec.commit(ctx, append(closers, session.New(session.KindSessionOpened, o.Opened))...); err != nil {
		return nil, err
	}
	if why != "" {
		if err := a.actAgain(ctx, why); err != nil {
			return nil, err
		}
	}
	a.bookAll()
	a.learnCallIDs()
	if err := a.checkDirectory(ctx); err != nil {
		return nil, err
	}
	return a, nil
}

// Begin opens the strategy and stores what it wants stored. It is called once,
// after Open, when plugins may already use the agent's Access.
func (a *Agent) Begin(ctx context.Context) error {
	a.unopened = a.Strategy.Strategy != nil
	if err := a.reopen(ctx); err != nil || a.Strategy.Strategy == nil || a.budget().Window > 0 {
		return err
	}
	return a.rec.commit(ctx, session.New(session.KindWarning, session.Warning{Code: "WINDOW_UNKNOWN",
		Message: fmt.Sprintf("the context window of model %q is unknown, so nothing is compacted by itself", a.Info.Name),
		Hint:    "set it in the profile or with -c model.context_window=NUMBER"}))
}

// reopen opens the strategy where it does not know yet how the log stands.
func (a *Agent) reopen(ctx context.Context) error {
	if !a.unopened {
		return nil
	}
	a.mu.Lock()
	a.sections, a.marks = nil, nil // they are no part of what is fixed
	a.mu.Unlock()
	fixed, err := a.fixedTokens(ctx)
	if err != nil {
		return err
	}
	s := a.session()
	s.FixedTokens = fixed
	opening, err := a.Strategy.Open(ctx, s)
	if err != nil {
		return fmt.Errorf("open strategy %q: %w", a.Strategy.Name, err)
	}
	if err := compaction.CheckOpening(opening); err != nil {
		return fmt.Errorf("open strategy %q: %w", a.Strategy.Name, err)
	}
	a.mu.Lock()
	a.sections, a.marks = opening.Sections, opening.Marks
	a.mu.Unlock()
	a.unopened = false
	return a.rec.commit(ctx, a.records(opening.Records)...)
}

var errNoStrategy = errors.New(`this profile has no compaction strategy (strategy = "none"); choose one with -c compaction.strategy=NAME`)

// Compact asks the strategy for a compaction now (C11). It must not run beside
// Run. It tells whether one was applied. An archived session is not compacted: the
// error is an *ArchivedError.
func (a *Agent) Compact(ctx context.Context, instructions string) (bool, error) {
	if err := a.thawed(); err != nil {
		return false, err
	}
	if a.Strategy.Strategy == nil {
		return false, errNoStrategy
	}
	out, err := a.compact(ctx, ask{trigger: session.TriggerManual, attempt: 1, instructions: instructions})
	return out.applied, err
}

// PluginState stores what became of a plugin process. Where the log cannot be
// written the next step says so.
func (a *Agent) PluginState(s session.PluginState) {
	a.Hooks.Rouse(s.Plugin)
	if err := a.rec.commit(context.Background(), session.New(session.KindPlugin, s)); err != nil {
		a.Logger.Error("store the state of a plugin", "plugin", s.Plugin, "error", err)
	}
}

// session tells a strategy what it serves.
func (a *Agent) session() compaction.Session {
	s := compaction.Session{Agent: a.Name, Provider: a.Info.Provider, Model: a.Info.Name, Budget: a.budget(), Access: a.Access(a.Strategy.Plugin)}
	a.rec.view(func(st *fold.State) {
		s.ID, s.Workspace, s.Created, s.Resumed = a.rec.log.ID(), st.Created.Workspace, st.Created.Time, st.Turn.Ordinal > 0
		s.Directory, s.Parent, s.Depth, s.Spawn = st.Directory, st.Created.Parent, st.Created.Depth, st.Created.Spawn
	})
	return s
}

func (a *Agent) where() hook.Where {
	var w hook.Where
	a.rec.view(func(s *fold.State) { w = hook.Where{Session: a.rec.log.ID(), Turn: s.Turn.Ordinal, Step: s.Turn.Step} })
	return w
}

func (a *Agent) records(in []compaction.Record) []session.Event {
	var out []session.Event
	for _, r := range in {
		out = append(out, session.New(session.KindRecord, session.Record{Plugin: a.Strategy.Plugin, Kind: r.Kind, Key: r.Key, Data: r.Data}))
	}
	return out
}

func (a *Agent) learnCallIDs() {
	clear(a.callIDs)
	a.rec.view(func(s *fold.State) {
		for i := range s.Surface.Nodes {
			for _, id := range s.Surface.Nodes[i].CallIDs {
				a.callIDs[id] = true
			}
		}
	})
}
