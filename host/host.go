package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/spill"
	"github.com/tureen-host/tureen/host/tool"
)

// Config says what to run.
type Config struct {
	Profile   *profile.Profile
	Store     session.Store
	Workspace string // absolute working directory of the session
	NotesHome string // absolute
	Version   string
	Observer  agent.Observer // optional
	Asker     agent.Asker    // reaches the person; nil = nobody is there
	Logger    *slog.Logger
	Env       func(string) string // os.Getenv
	// Self starts a shipped plugin: its argv without the plugin's name; nil is
	// this program's own "plugin-serve".
	Self []string
}

// Host runs one session. Close it.
type Host struct {
	Config
	Agent    *agent.Agent
	log      session.Log
	model    *model
	plugs    *pluginhost.Supervisor
	opened   []*pluginhost.Instance
	strategy agent.Strategy // zero = none
	budget   compaction.Budget
	effort   string // of every request of the tree
	family   *family
	root     *member
}

// Create makes a session and opens it. title is its first prompt.
func Create(ctx context.Context, c Config, title string) (*Host, error) {
	created := session.Created{ID: newID(), Workspace: c.Workspace,
		Profile: c.Profile.Name, Strategy: c.Profile.Compaction.Strategy, Title: headline(title), Time: time.Now().UTC()}
	if s, ok := c.Store.(session.Preparer); ok {
		s.Prepare() // beside the start of model and plugins
	}
	return open(ctx, c, nil, func(ctx context.Context) (session.Log, error) { return c.Store.Create(ctx, created) })
}

// Resume takes a session that exists, before anything is started. What a crash
// left open is closed first.
func Resume(ctx context.Context, c Config, id string) (*Host, error) {
	log, err := c.Store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return open(ctx, c, log, nil)
}

// open starts model and plugins side by side. A session is made last, so that a bad
// profile leaves none behind; log is one that is taken already, nil for none.
func open(ctx context.Context, c Config, log session.Log, create func(context.Context) (session.Log, error)) (*Host, error) {
	h := &Host{Config: c, log: log}
	h.family = newFamily(h)
	ready := false
	defer func() {
		if !ready {
			h.Close(context.WithoutCancel(ctx))
		}
	}()
	crash, err := findCrashPoint(c.Env)
	if err != nil {
		return nil, err
	}
	specs, err := pluginSpecs(c)
	if err != nil {
		return nil, err
	}
	h.plugs = pluginhost.New(h.pluginOptions())
	start, startCtx := errgroup.WithContext(ctx)
	start.Go(func() (err error) { h.model, err = newModel(startCtx, c); return err })
	start.Go(func() (err error) { h.opened, err = h.plugs.Start(startCtx, specs...); return err })
	if err := start.Wait(); err != nil {
		return nil, err
	}
	h.budget, err = compaction.Resolve(c.Profile.Compaction.Budget(h.model.info.Name), h.model.info.ContextWindow, h.model.info.MaxOutputTokens, h.model.info.WindowSource)
	if err != nil {
		return nil, err
	}
	if h.strategy, err = h.chosen(); err != nil {
		return nil, err
	}
	if h.log == nil {
		if h.log, err = create(ctx); err != nil {
			return nil, err
		}
	}
	h.log = crash.guard(h.log)
	h.root = h.family.adopt(h.log)
	if h.Agent, err = h.newAgent(ctx, h.root, h.Observer, h.Asker); err != nil {
		return nil, err
	}
	if err := h.Agent.Begin(ctx); err != nil {
		return nil, err
	}
	ready = true
	return h, nil
}

// ID is the session's id.
func (h *Host) ID() string { return h.log.ID() }

// Info is what is known about the model.
func (h *Host) Info() llm.Info { return h.model.info }

// Close stops the subagents and the plugins, releases the session and the model, in
// that order; it is bounded in time and may be called twice.
func (h *Host) Close(ctx context.Context) error {
	var errs []error
	if h.root != nil {
		h.family.close(ctx, h.root)
	}
	if h.plugs != nil {
		errs = append(errs, h.plugs.Close(ctx))
	}
	if h.log != nil {
		errs = append(errs, h.log.Close())
	}
	if h.model != nil {
		errs = append(errs, h.model.close())
	}
	return errors.Join(errs...)
}

func (h *Host) pluginOptions() pluginhost.Options {
	return pluginhost.Options{
		HostVersion: h.Version, NotesHome: h.NotesHome, Logger: h.Logger, SecretEnv: []string{h.Profile.Model.APIKeyEnv},
		Access: func(plugin, id string) (session.Access, error) {
			a := h.family.agent(id)
			if a == nil {
				return nil, fmt.Errorf("session %q is not open here", id)
			}
			return a.Access(plugin), nil
		},
		OnState: func(s session.PluginState) {
			if a := h.family.ofRoot(); a != nil {
				a.PluginState(s)
			}
		},
	}
}

// newAgent opens a session of the tree in every plugin, collects what they offer and
// builds the loop. Plugins reach it from then on.
func (h *Host) newAgent(ctx context.Context, m *member, observer agent.Observer, asker agent.Asker) (*agent.Agent, error) {
	state, err := fold.Load(ctx, m.log)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", m.id, err)
	}
	if m == h.root {
		h.effort = cmp.Or(h.Profile.Model.Effort, keptEffort(state.Header, h.model.info))
	}
	m.depth, m.workspace = state.Created.Depth, state.Created.Workspace
	opening := compaction.Session{ID: m.id, Workspace: state.Created.Workspace, Directory: state.Directory, Agent: h.Profile.AgentName,
		Parent: state.Created.Parent, Depth: state.Created.Depth, Spawn: state.Created.Spawn, Provider: h.model.info.Provider,
		Model: h.model.info.Name, Created: state.Created.Time, Resumed: state.Turn.Ordinal > 0, Budget: h.budget}
	o := agent.Options{Log: m.log, Family: m, Spending: h.family.spending, State: state, Model: h.model, Info: h.model.info, Effort: h.effort, Params: h.Profile.Model.Params,
		Persona: persona(h.Profile.Prompt), Budget: h.budget, Retry: retry(h.Profile.Retry), Limits: limits(h.Profile),
		Strategy: h.strategy, Observer: observer, Logger: h.Logger, Name: h.Profile.AgentName, InHistory: h.Profile.Model.SystemUpdate == "in_history",
		Secrets: append(openai.Secrets(h.Profile.Model.BaseURL), h.Env(h.Profile.Model.APIKeyEnv)), Asker: asker,
		Moved: func(ctx context.Context, directory string) error {
			opening.Directory = directory
			return h.announce(ctx, opening)
		},
		Opened: session.Opened{Version: h.Version, Resumed: opening.Resumed}}
	var tools []tool.Provider
	var hooks []hook.Hooks
	var commands []command.Provider
	if err := h.announce(ctx, opening); err != nil {
		return nil, err
	}
	for _, p := range h.opened {
		if t := p.Tools(); t != nil {
			tools = append(tools, t)
		}
		if k := p.Hooks(); k != nil {
			hooks = append(hooks, k)
		}
		if s := p.Prompt(); s != nil {
			o.Prompts = append(o.Prompts, s)
		}
		if c := p.Commands(); c != nil {
			commands = append(commands, c)
		}
		info := p.Info()
		o.Opened.Plugins = append(o.Opened.Plugins, info.Name+"@"+info.Version)
	}
	if len(tools) > 0 {
		tools = append(tools, spill.New(m.log))
	}
	if o.Tools, err = tool.NewRegistry(ctx, m.id, tools); err != nil {
		return nil, err
	}
	if o.Commands, err = command.NewRegistry(ctx, m.id, commands); err != nil {
		return nil, err
	}
	o.Hooks = hook.NewChain(h.Logger, hooks...)
	a, err := agent.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	m.agent.Store(a)
	return a, m.settleLost(ctx, a)
}

// announce opens the session in every plugin, or tells them what changed.
func (h *Host) announce(ctx context.Context, s compaction.Session) error {
	open, ctx := errgroup.WithContext(ctx)
	for _, p := range h.opened {
		open.Go(func() error { return p.OpenSession(ctx, s) })
	}
	return open.Wait()
}

// chosen is the strategy of the last plugin, where the profile chose one.
func (h *Host) chosen() (agent.Strategy, error) {
	name := h.Profile.Compaction.Strategy
	if name == StrategyNone {
		return agent.Strategy{}, nil
	}
	p := h.opened[len(h.opened)-1]
	s := p.Strategy()
	if s == nil {
		return agent.Strategy{}, h.Profile.Problem("compaction.strategy", fmt.Sprintf("plugin %q offers no compaction strategy", p.Info().Name))
	}
	return agent.Strategy{Strategy: s, Name: p.Info().Name, Plugin: p.Info().Name, Auto: h.Profile.Compaction.OnTrigger == "auto"}, nil
}

func headline(title string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(title), "\n")
	if r := []rune(line); len(r) > 80 {
		line = string(r[:79]) + "…"
	}
	return line
}

// WorkspacePath makes a directory absolute, with symbolic links resolved.
func WorkspacePath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	return abs, nil
}
