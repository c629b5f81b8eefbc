package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/tureen-host/tureen/compaction"
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
	if !i.forget(id) {
		return
	}
	if err := i.remote.CloseSession(ctx, id); err != nil && !errors.Is(err, sdk.ErrExited) {
		i.sup.opts.Logger.Warn("closing a session in a plugin failed", "plugin", i.info.Name, "session", id, "error", err)
	}
}

func (i *Instance) forget(id string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	_, open := i.sessions[id]
	delete(i.sessions, id)
	return open
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
		open = append(open, *s)
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

// recognise takes what the first generation says; the later ones must agree.
func (i *Instance) recognise(info sdk.Info) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.info.Name == "" {
		i.info.Info = info
		i.remote = sdk.NewRemote(link{i}, info.Name)
		return nil
	}
	if info.Name != i.info.Name || !slices.Equal(info.Roles, i.info.Roles) {
		return fmt.Errorf("it was %q with roles %v and is %q with roles %v now: start the host again", i.info.Name, i.info.Roles, info.Name, info.Roles)
	}
	return nil
}

// adopt makes a READY generation the current one.
func (i *Instance) adopt(g *generation) {
	i.set(func() { i.current = g })
	i.report(g.number, "started", i.info.Name+"@"+i.info.Version)
	go g.watchHealth()
}

func (i *Instance) set(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	f()
	close(i.changed)
	i.changed = make(chan struct{})
}

func (i *Instance) report(generation int, state, detail string) {
	i.sup.opts.OnState(session.PluginState{Plugin: i.info.Name, Generation: generation, State: state, Detail: detail})
}

// ready returns the READY generation. It waits for one, within ctx and for a
// short while only, where the process has ended.
func (i *Instance) ready(ctx context.Context) (*generation, error) {
	limit := time.NewTimer(i.deadlines().Ready)
	defer limit.Stop()
	for {
		i.mu.Lock()
		g, fault, changed := i.current, i.fault, i.changed
		i.mu.Unlock()
		switch {
		case fault != nil:
			return nil, fault
		case !g.gone():
			return g, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-limit.C:
			return nil, g.exited()
		}
	}
}

// keep starts a new generation each time the current one ends.
func (i *Instance) keep() {
	defer close(i.done)
	var history crashes
	d := i.deadlines()
	for number := 1; ; {
		i.mu.Lock()
		g := i.current
		i.mu.Unlock()
		select {
		case <-i.life.Done():
			return
		case <-g.proc.exited:
		}
		if i.life.Err() != nil {
			return
		}
		detail := g.ending()
		g.release()
		for {
			i.report(number, "crashed", detail)
			pause, disabled := history.add(time.Now(), d)
			if disabled {
				i.disable(number, detail)
				return
			}
			if !sleep(i.life, pause) {
				return
			}
			number++
			next, err := i.restart(number)
			if err == nil {
				i.adopt(next)
				break
			}
			if i.life.Err() != nil {
				return
			}
			detail = err.Error()
		}
	}
}

func (i *Instance) restart(number int) (*generation, error) {
	g, err := i.startGeneration(i.life, number)
	if err != nil {
		return nil, err
	}
	if err := i.reopen(i.life, g); err != nil {
		g.kill("")
		g.release()
		return nil, err
	}
	return g, nil
}

func (i *Instance) disable(number int, detail string) {
	i.set(func() {
		i.fault = &sdk.ExitedError{Plugin: i.info.Name, Generation: number, Detail: detail, Disabled: true}
	})
	i.report(number, "disabled", fmt.Sprintf("%d crashes within %s; last: %s", i.deadlines().MaxCrashes, i.deadlines().CrashWindow, detail))
}

// close stops the plugin for good.
func (i *Instance) close(ctx context.Context) {
	i.mu.Lock()
	g := i.current
	i.mu.Unlock()
	if g == nil { // never started
		i.end()
		return
	}
	i.set(func() {
		if i.fault == nil {
			i.fault = &sdk.ExitedError{Plugin: i.info.Name, Generation: g.number, Detail: "the host is stopping it"}
		}
	})
	i.end()
	<-i.done // no further generation comes
	i.mu.Lock()
	g = i.current
	i.mu.Unlock()
	g.stop(ctx)
}

// crashes remembers the recent ends of a plugin's processes.
type crashes struct {
	times  []time.Time
	streak int // since the last long stretch of health
}

// add counts a crash and tells how long to wait, or that it was one too many.
func (c *crashes) add(now time.Time, d Deadlines) (pause time.Duration, disabled bool) {
	if len(c.times) > 0 && now.Sub(c.times[len(c.times)-1]) > d.CrashWindow {
		c.streak = 0
	}
	c.times = append(c.times, now)
	c.times = slices.DeleteFunc(c.times, func(t time.Time) bool { return now.Sub(t) > d.CrashWindow })
	pause = d.Backoff[min(c.streak, len(d.Backoff)-1)]
	c.streak++
	pause += time.Duration(float64(pause) * 0.2 * rand.Float64()) // so that plugins do not start in step
	return pause, len(c.times) >= d.MaxCrashes
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
