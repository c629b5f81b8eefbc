package guards

import (
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Guards is the plugin's hook.Hooks and sdk.Sessions. It is safe for concurrent
// use by several sessions. What it saw of the calls lives in memory: it survives a
// compaction, and begins anew with the process (R2).
type Guards struct {
	hook.Passive
	config Config
	host   sdk.Host
	logger *slog.Logger

	mu     sync.Mutex
	chains map[string]*watched // by session
}

// watched is what was seen of the calls of one session: those that count, and those
// of excluded tools since the newest of them.
type watched struct{ calls, polls chain }

// New makes Guards without sessions.
func New(config Config, host sdk.Host, logger *slog.Logger) *Guards {
	return &Guards{config: config, host: host, logger: logger, chains: map[string]*watched{}}
}

// Name is the plugin's name.
func (g *Guards) Name() string { return Name }

// Points are those of the two guards.
func (g *Guards) Points() []hook.Point {
	return []hook.Point{hook.BeforeStep, hook.AfterTool, hook.TurnStopping}
}

// Open keeps what is known of a session that was open already.
func (g *Guards) Open(context.Context, compaction.Session) error { return nil }

// Close forgets a session.
func (g *Guards) Close(_ context.Context, id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.chains, id)
}

// BeforeStep begins a new count when a person has spoken.
func (g *Guards) BeforeStep(_ context.Context, at hook.Where, pending []hook.Pending) (hook.StepDecision, error) {
	if slices.ContainsFunc(pending, func(p hook.Pending) bool {
		return p.Source == session.SourceOwner || p.Source == session.SourceSteer
	}) {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.chains, at.Session)
	}
	return hook.StepDecision{}, nil
}

// AfterTool counts a call, whatever became of it.
func (g *Guards) AfterTool(_ context.Context, at hook.Where, outcome hook.ToolOutcome) (hook.OutcomeDecision, error) {
	next := newCall(outcome.Name, outcome.Arguments)
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.chains[at.Session]
	if c == nil {
		c = &watched{}
		g.chains[at.Session] = c
	}
	if slices.Contains(g.config.Exclude, outcome.Name) {
		cycle, rounds := c.polls.add(next)
		return g.config.judgePolls(cycle, rounds), nil
	}
	c.polls.reset()
	cycle, rounds := c.calls.add(next)
	return g.config.judge(cycle, rounds), nil
}
