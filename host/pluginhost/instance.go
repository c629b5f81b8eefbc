package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Instance is one plugin. Its clients outlive the process: a call after a crash
// waits for the next generation, in which the open sessions are open again.
type Instance struct {
	sup    *Supervisor
	spec   Spec
	number int
	info   Info
	remote *sdk.Remote // over all generations

	life context.Context
	end  context.CancelFunc
	done chan struct{} // closed when keep has returned

	mu       sync.Mutex
	current  *generation // READY, or the one that has just ended
	fault    error       // not nil: there will be no other generation
	changed  chan struct{}
	sessions map[string]*openSession
}

// openSession is what a new generation is told again.
type openSession struct {
	info     compaction.Session
	strategy *compaction.Session // what the strategy was opened with, nil = it was not
	closing  bool                // the plugin is told of its end, and may still note something
}

func newInstance(s *Supervisor, spec Spec, number int) *Instance {
	life, end := context.WithCancel(s.life)
	return &Instance{
		sup: s, spec: spec, number: number, life: life, end: end,
		done: make(chan struct{}), changed: make(chan struct{}), sessions: map[string]*openSession{},
	}
}

func (i *Instance) deadlines() Deadlines { return i.sup.opts.Deadlines }

// Info is what the plugin said of itself when it was first started.
func (i *Instance) Info() Info { return i.info }

// Tools is the plugin's provider, nil where it declared none. A call whose
// process ends is not repeated: it fails with sdk.ErrExited (T2).
func (i *Instance) Tools() tool.Provider {
	if !i.info.Has(sdk.RoleTools) {
		return nil
	}
	return i.remote.Tools()
}

// Strategy is the plugin's strategy, nil where it declared none. A proposal
// whose process ends fails with sdk.ErrExited; nothing is applied then.
func (i *Instance) Strategy() compaction.Strategy {
	if !i.info.Has(sdk.RoleStrategy) {
		return nil
	}
	return &strategy{Strategy: i.remote.Strategy(), inst: i}
}

// Prompt is the plugin's prompt provider, nil where it declared none.
func (i *Instance) Prompt() prompt.Provider {
	if !i.info.Has(sdk.RolePrompt) {
		return nil
	}
	return i.remote.Prompt()
}

// Hooks is the plugin's say, nil where it declared none.
func (i *Instance) Hooks() hook.Hooks {
	if !i.info.Has(sdk.RoleHooks) {
		return nil
	}
	onFailure := i.spec.OnFailure
	if onFailure == "" {
		onFailure = "end_turn"
	}
	return i.remote.Hooks(i.info.HookPoints, onFailure)
}

// Commands is what the plugin offers the person, nil where it declared nothing.
func (i *Instance) Commands() command.Provider {
	if !i.info.Has(sdk.RoleCommands) {
		return nil
	}
	return i.remote.Commands()
}

// OpenSession announces a session, also again when what it says changed. From
// now on the plugin may read it.
func (i *Instance) OpenSession(ctx context.Context, s compaction.Session) error {
	i.mu.Lock()
	before := i.sessions[s.ID]
	now := &openSession{info: s}
	if before != nil {
		now.strategy = before.strategy
	}
	i.sessions[s.ID] = now
	i.mu.Unlock()
	err := i.remote.OpenSession(ctx, s)
	if err != nil && !errors.Is(err, sdk.ErrExited) && before == nil {
		i.forget(s.ID)
	}
	return err
}

// CloseSession ends what OpenSession began.
func (i *Instance) CloseSession(ctx context.Context, id string) {
	i.mu.Lock()
	open := i.sessions[id]
	if open == nil || open.closing {
		i.mu.Unlock()
		return
	}
	open.closing = true
	i.mu.Unlock()
	defer i.forget(id)
	if err := i.remote.CloseSession(ctx, id); err != nil && !errors.Is(err, sdk.ErrExited) {
		i.sup.opts.Logger.Warn("closing a session in a plugin failed", "plugin", i.info.Name, "session", id, "error", err)
	}
}

func (i *Instance) forget(id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.sessions, id)
}

// access lends the plugin a session that is open in it.
func (i *Instance) access(id string) (session.Access, error) {
	i.mu.Lock()
	_, open := i.sessions[id]
	i.mu.Unlock()
	if !open || i.sup.opts.Access == nil {
		return nil, fmt.Errorf("session %q is not open in this plugin: %w", id, session.ErrNotFound)
	}
	return i.sup.opts.Access(i.info.Name, id)
}

// strategy remembers what it was opened with: a new process has to hear it too.
type strategy struct {
	compaction.Strategy
	inst *Instance
}

func (s *strategy) Open(ctx context.Context, in compaction.Session) (compaction.Opening, error) {
	opening, err := s.Strategy.Open(ctx, in)
	if err == nil {
		s.inst.mu.Lock()
		if open := s.inst.sessions[in.ID]; open != nil {
			open.strategy = &in
		}
		s.inst.mu.Unlock()
	}
	return opening, err
}

// reopen tells a new process of the sessions that are open. What a strategy
// answers is in the log already.
func (i *Instance) reopen(ctx context.Context, g *generation) error {
	i.mu.Lock()
	var open []openSession
	for _, s := range i.sessions {
		if !s.closing {
			open = append(open, *s)
		}
	}
	i.mu.Unlock()
	for _, s := range open {
		if err := g.remote.OpenSession(ctx, s.info); err != nil {
			return fmt.Errorf("session %s was not opened again: %w", s.info.ID, err)
		}
		if s.strategy != nil {
			if _, err := g.remote.Strategy().Open(ctx, *s.strategy); err != nil {
				return fmt.Errorf("the strategy of session %s was not opened again: %w", s.info.ID, err)
			}
		}
	}
	return nil
}
