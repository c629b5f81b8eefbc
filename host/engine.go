package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/session"
)

// atOnce bounds how many sessions are told of a plugin's state side by side.
const atOnce = 32

// Engine is a model and the plugin processes of a profile, started once. Any number
// of sessions run on it side by side, each with limits, subagents, observer and asker
// of its own. It is safe for concurrent use. Close it.
type Engine struct {
	config   Config
	crash    *crashPoint
	model    *model
	plugs    *pluginhost.Supervisor
	opened   []*pluginhost.Instance
	strategy agent.Strategy // zero = none
	budget   compaction.Budget

	mu     sync.Mutex
	open   map[string]*member // every session that is open here, subagents included
	closed bool
}

// SessionConfig is what a session of an Engine has of its own.
type SessionConfig struct {
	Workspace string         // absolute; of a new session
	Observer  agent.Observer // optional
	Asker     agent.Asker    // optional
}

// Start starts model and plugins side by side. Workspace, Observer and Asker of c do
// not count.
func Start(ctx context.Context, c Config) (*Engine, error) {
	e := &Engine{config: c, open: map[string]*member{}}
	ready := false
	defer func() {
		if !ready {
			_ = e.Close(context.WithoutCancel(ctx))
		}
	}()
	var err error
	if e.crash, err = findCrashPoint(c.Env); err != nil {
		return nil, err
	}
	specs, err := pluginSpecs(c)
	if err != nil {
		return nil, err
	}
	e.plugs = pluginhost.New(e.pluginOptions())
	start, startCtx := errgroup.WithContext(ctx)
	start.Go(func() (err error) { e.model, err = newModel(startCtx, c); return err })
	start.Go(func() (err error) { e.opened, err = e.plugs.Start(startCtx, specs...); return err })
	if err := start.Wait(); err != nil {
		return nil, err
	}
	info := e.model.info
	if e.budget, err = e.resolve(info.ContextWindow); err != nil {
		return nil, err
	}
	if e.strategy, err = e.chosen(); err != nil {
		return nil, err
	}
	ready = true
	return e, nil
}

// resolve draws the line of a window with the profile's keys.
func (e *Engine) resolve(window int) (compaction.Budget, error) {
	info := e.model.info
	return compaction.Resolve(e.config.Profile.Compaction.Budget(info.Name), window, info.MaxOutputTokens, info.WindowSource)
}

// Info is what is known about the model.
func (e *Engine) Info() llm.Info { return e.model.info }

// Create makes a session and opens it. title is its first prompt.
func (e *Engine) Create(ctx context.Context, title string, s SessionConfig) (*Host, error) {
	if err := e.usable(); err != nil {
		return nil, err
	}
	p := e.config.Profile
	log, err := e.config.Store.Create(ctx, session.Created{ID: newID(), Workspace: s.Workspace, Profile: p.Name,
		Strategy: p.Compaction.Strategy, Title: headline(title), Time: time.Now().UTC()})
	if err != nil {
		return nil, err
	}
	return e.begin(ctx, log, s)
}

// Resume opens a session that exists. What a crash left open is closed first.
func (e *Engine) Resume(ctx context.Context, id string, s SessionConfig) (*Host, error) {
	log, err := e.config.Store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.begin(ctx, log, s)
}

// begin makes log the root of a tree of its own. It closes log where it fails.
func (e *Engine) begin(ctx context.Context, log session.Log, s SessionConfig) (*Host, error) {
	h := &Host{Config: e.config, engine: e}
	h.Workspace, h.Observer, h.Asker = s.Workspace, s.Observer, s.Asker
	h.family = newFamily(h)
	h.root = &member{family: h.family, id: log.ID(), log: e.crash.guard(log)}
	h.family.members[h.root.id] = h.root
	err := e.enter(h.root)
	if err == nil {
		h.Agent, err = h.newAgent(ctx, h.root, h.Observer, h.Asker)
	}
	if err == nil {
		err = h.Agent.Begin(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, h.leave(context.WithoutCancel(ctx)))
	}
	return h, nil
}

// enter makes a session known whose log is taken; exit takes that back.
func (e *Engine) enter(m *member) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errClosed
	}
	e.open[m.id] = m
	return nil
}

var errClosed = errors.New("the engine is closed; start another one")

// usable tells why no session is made any more.
func (e *Engine) usable() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return errClosed
	}
	return nil
}

func (e *Engine) exit(m *member) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open[m.id] == m {
		delete(e.open, m.id)
	}
}

// members lists the sessions that are open.
func (e *Engine) members() []*member {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Collect(maps.Values(e.open))
}

// Close ends every session that is still open, with its subagents, then the plugins
// and the model. It is bounded in time and may be called twice.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	roots := slices.DeleteFunc(e.members(), func(m *member) bool { return m.parent != nil })
	var stops sync.WaitGroup
	for _, m := range roots {
		stops.Go(func() { m.family.close(ctx, m) })
	}
	stops.Wait()
	var errs []error
	if e.plugs != nil {
		errs = append(errs, e.plugs.Close(ctx))
	}
	for _, m := range roots {
		errs = append(errs, m.log.Close())
		e.exit(m)
	}
	if e.model != nil {
		errs = append(errs, e.model.close())
	}
	return errors.Join(errs...)
}

// closeSession ends a session in the plugins.
func (e *Engine) closeSession(ctx context.Context, id string) {
	for _, p := range e.opened {
		p.CloseSession(ctx, id)
	}
}

func (e *Engine) pluginOptions() pluginhost.Options {
	c := e.config
	return pluginhost.Options{
		HostVersion: c.Version, NotesHome: c.NotesHome, NotesProject: c.Profile.NotesProject, Logger: c.Logger, SecretEnv: []string{c.Profile.Model.APIKeyEnv},
		Access: func(plugin, id string) (session.Access, error) {
			e.mu.Lock()
			m := e.open[id]
			e.mu.Unlock()
			if m != nil {
				if a := m.agent.Load(); a != nil {
					return a.Access(plugin), nil
				}
			}
			return nil, fmt.Errorf("session %q is not open here", id)
		},
		OnState: e.pluginState,
	}
}

// pluginState has every tree's log tell of a plugin process, and asks what rested
// again in every session.
func (e *Engine) pluginState(s session.PluginState) {
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, m := range e.members() {
		a := m.agent.Load()
		switch {
		case a == nil:
		case m.parent != nil:
			a.Hooks.Rouse(s.Plugin)
		default:
			all.Go(func() error { a.PluginState(s); return nil })
		}
	}
	_ = all.Wait() // none fails
}

// chosen is the strategy of the last plugin, where the profile chose one.
func (e *Engine) chosen() (agent.Strategy, error) {
	c := e.config.Profile.Compaction
	if c.Strategy == StrategyNone {
		return agent.Strategy{}, nil
	}
	p := e.opened[len(e.opened)-1]
	s := p.Strategy()
	if s == nil {
		return agent.Strategy{}, e.config.Profile.Problem("compaction.strategy", fmt.Sprintf("plugin %q offers no compaction strategy", p.Info().Name))
	}
	return agent.Strategy{Strategy: s, Name: p.Info().Name, Plugin: p.Info().Name, Auto: c.OnTrigger != "off", Ask: c.OnTrigger == "ask"}, nil
}
