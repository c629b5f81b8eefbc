package planning

import (
	"context"
	"fmt"
	"sync"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Planner is the plugin's tools, prompt, hooks and commands, and hears of its
// sessions. It is safe for concurrent use by several sessions.
type Planner struct {
	hook.Passive
	config Config
	host   sdk.Host

	mu    sync.Mutex
	desks map[string]*desk
}

// New makes a Planner without sessions.
func New(config Config, host sdk.Host) *Planner {
	return &Planner{config: config, host: host, desks: map[string]*desk{}}
}

// Name is the plugin's name.
func (p *Planner) Name() string { return Name }

// Points are where the plugin has a say.
func (p *Planner) Points() []hook.Point {
	return []hook.Point{hook.BeforeStep, hook.TurnStopping, hook.TurnEnded, hook.Idle}
}

// Open takes note of a session. What is known of one that is open already stays,
// so that a change of its directory does not disarm a goal.
func (p *Planner) Open(_ context.Context, s compaction.Session) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.desks[s.ID] == nil {
		p.desks[s.ID] = &desk{access: p.host.Session(s.ID), parent: s.Parent}
	}
	return nil
}

// Close forgets a session, and that its goal was armed.
func (p *Planner) Close(_ context.Context, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.desks, id)
}

// sit returns the desk of a session, locked, with its records read. unlock must be
// called.
func (p *Planner) sit(ctx context.Context, session string) (d *desk, unlock func(), err error) {
	p.mu.Lock()
	d = p.desks[session]
	p.mu.Unlock()
	if d == nil {
		return nil, nil, toolcall.Errorf("SESSION_UNKNOWN", "session %q is not open in this plugin", session)
	}
	d.mu.Lock()
	if err := d.load(ctx); err != nil {
		d.mu.Unlock()
		return nil, nil, fmt.Errorf("read the records of plugin %q: %w", Name, err)
	}
	return d, d.mu.Unlock, nil
}
