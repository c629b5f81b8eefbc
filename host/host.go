package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/spill"
	"github.com/tureen-host/tureen/host/tool"
)

// Config says what to run. What it points to is shared by the sessions of an Engine.
type Config struct {
	Profile   *profile.Profile
	Store     session.Store
	Workspace string // absolute working directory of the session
	NotesHome string // absolute
	Version   string
	Observer  agent.Observer // optional
	Asker     agent.Asker    // reaches the person; nil = nobody is there
	Model     llm.Model      // optional: is asked in place of the profile's
	ModelInfo llm.Info       // of Model; zero = what it says itself
	Logger    *slog.Logger
	Env       func(string) string // os.Getenv
	// Self starts a shipped plugin: its argv without the plugin's name; nil is
	// this program's own "plugin-serve".
	Self []string
}

// Host runs one session with its subagents. Close it.
type Host struct {
	Config
	Agent  *agent.Agent
	engine *Engine
	alone  bool   // nobody else uses the engine, which is closed with the session
	effort string // of every request of the tree
	family *family
	root   *member
}

// Create makes a session and opens it on an engine of its own. title is its first
// prompt. The session is made last, so that a bad profile leaves none behind.
func Create(ctx context.Context, c Config, title string) (*Host, error) {
	if s, ok := c.Store.(session.Preparer); ok {
		s.Prepare() // beside the start of model and plugins
	}
	e, err := Start(ctx, c)
	if err != nil {
		return nil, err
	}
	h, err := e.Create(ctx, title, c.own())
	return only(ctx, e, h, err)
}

// Resume takes a session that exists, before anything is started, and opens it on an
// engine of its own. What a crash left open is closed first.
func Resume(ctx context.Context, c Config, id string) (*Host, error) {
	log, err := c.Store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	e, err := Start(ctx, c)
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	h, err := e.begin(ctx, log, c.own())
	return only(ctx, e, h, err)
}

// only binds the end of an engine to that of its only session.
func only(ctx context.Context, e *Engine, h *Host, err error) (*Host, error) {
	if err != nil {
		return nil, errors.Join(err, e.Close(context.WithoutCancel(ctx)))
	}
	h.alone = true
	return h, nil
}

func (c Config) own() SessionConfig {
	return SessionConfig{Workspace: c.Workspace, Observer: c.Observer, Asker: c.Asker}
}

// ID is the session's id.
func (h *Host) ID() string { return h.root.id }

// Info is what is known about the model.
func (h *Host) Info() llm.Info { return h.engine.Info() }

// Close stops the subagents and releases the session. An engine that is the
// session's own is closed with it. It is bounded in time and may be called twice.
func (h *Host) Close(ctx context.Context) error {
	if h.alone {
		return h.engine.Close(ctx)
	}
	return h.leave(ctx)
}

// leave ends the session and leaves the engine to the others.
func (h *Host) leave(ctx context.Context) error {
	h.family.close(ctx, h.root)
	h.engine.closeSession(ctx, h.root.id)
	h.engine.exit(h.root)
	return h.root.log.Close()
}

// newAgent opens a session of the tree in every plugin, collects what they offer and
// builds the loop. Plugins reach it from then on.
func (h *Host) newAgent(ctx context.Context, m *member, observer agent.Observer, asker agent.Asker) (*agent.Agent, error) {
	e := h.engine
	state, err := fold.Load(ctx, m.log)
	if err != nil {
		return nil, fmt.Errorf("read session %s: %w", m.id, err)
	}
	if m == h.root {
		h.effort = cmp.Or(h.Profile.Model.Effort, keptEffort(state.Header, e.model.info))
	}
	m.depth, m.workspace = state.Created.Depth, state.Created.Workspace
	if m.parent == nil {
		m.above = h.family.archived(ctx, state.Created.Parent)
	}
	opening := compaction.Session{ID: m.id, Workspace: state.Created.Workspace, Directory: state.Directory, Agent: h.Profile.AgentName,
		Parent: state.Created.Parent, Depth: state.Created.Depth, Spawn: state.Created.Spawn, Provider: e.model.info.Provider,
		Model: e.model.info.Name, Created: state.Created.Time, Resumed: state.Turn.Ordinal > 0, Budget: e.budget}
	o := agent.Options{Log: m.log, Family: m, Spending: h.family.spending, State: state, Model: e.model, Info: e.model.info, Effort: h.effort, Params: h.Profile.Model.Params,
		Persona: persona(h.Profile.Prompt), Budget: e.budget, Resolve: e.resolve, Retry: retry(h.Profile.Retry), Limits: limits(h.Profile),
		Strategy: e.strategy, Observer: observer, Logger: h.Logger, Name: h.Profile.AgentName, InHistory: h.Profile.Model.SystemUpdate == "in_history",
		Frozen: m.frozen, Secrets: append(openai.Secrets(h.Profile.Model.BaseURL), h.Env(h.Profile.Model.APIKeyEnv)), Asker: asker,
		Moved: func(ctx context.Context, directory string) error {
			opening.Directory = directory
			return h.announce(ctx, opening)
		},
		Opened: session.Opened{Version: h.Version, Resumed: opening.Resumed, Profile: h.Profile.Name, Strategy: h.Profile.Compaction.Strategy}}
	if h.Profile.Origin("model.context_window").Source == "-c" {
		o.Opened.Window = h.Profile.Model.ContextWindow
	}
	var tools []tool.Provider
	var hooks []hook.Hooks
	var commands []command.Provider
	if err := h.announce(ctx, opening); err != nil {
		return nil, err
	}
	for _, p := range e.opened {
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
	for _, p := range h.engine.opened {
		open.Go(func() error { return p.OpenSession(ctx, s) })
	}
	return open.Wait()
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
