package instructions

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Ids of the messages.
const (
	idInstructions = "agents-md"
	idSkills       = "skills"
	idTime         = "time"
)

// maxWarned bounds the warnings of a session.
const maxWarned = 50

// Provider is what the plugin offers: a prompt.Provider, a hook.Hooks, a
// tool.Provider, a command.Provider and an sdk.Sessions. It is safe for concurrent
// use by several sessions.
type Provider struct {
	hook.Passive
	config Config
	host   sdk.Host
	logger *slog.Logger
	now    func() time.Time

	mu       sync.Mutex
	sessions map[string]*view
}

// New makes a Provider without sessions.
func New(config Config, host sdk.Host, logger *slog.Logger, now func() time.Time) *Provider {
	return &Provider{config: config, host: host, logger: logger, now: now, sessions: map[string]*view{}}
}

// view is what one session was shown. Files are read once a window, so that the
// texts are the same bytes until the next compaction or change of directory.
type view struct {
	mu    sync.Mutex
	place place
	base  string // where relative paths start, as the session has it
	// Of the window: texts, and what the hook has shown besides.
	read         bool // the texts are those of window and place
	window       int  // how many compactions there were
	limit        int  // bytes of the message with the instructions
	instructions string
	skills       string
	told         bool            // there were instructions in this window
	visited      map[string]bool // directories whose instructions were shown
	left         int             // bytes that the hook may still show
	clock        clock
	warned       map[string]bool // what the log knows of
}

// Name is the plugin's name.
func (p *Provider) Name() string { return Name }

// Points are those of the hook.
func (p *Provider) Points() []hook.Point { return []hook.Point{hook.AfterTool} }

// Open takes note of where a session works. Where that changed, the next step
// reads the files anew.
func (p *Provider) Open(_ context.Context, s compaction.Session) error {
	if s.Directory == "" {
		s.Directory = s.Workspace
	}
	if !filepath.IsAbs(s.Workspace) || !filepath.IsAbs(s.Directory) {
		return fmt.Errorf("open session %q: workspace %q and directory %q have to be absolute paths", s.ID, s.Workspace, s.Directory)
	}
	found := locate(s.Workspace, s.Directory)
	p.mu.Lock()
	v := p.sessions[s.ID]
	if v == nil {
		v = &view{limit: p.config.MaxBytes, left: p.config.MaxBytes, visited: map[string]bool{}, warned: map[string]bool{}}
		p.sessions[s.ID] = v
	}
	p.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	v.base = s.Directory
	if v.place != found {
		v.place, v.read = found, false
	}
	return nil
}

// Close forgets a session.
func (p *Provider) Close(_ context.Context, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, id)
}

// view finds an open session and locks what was shown in it; nil where it is not open.
func (p *Provider) view(id string) (v *view, unlock func()) {
	p.mu.Lock()
	v = p.sessions[id]
	p.mu.Unlock()
	if v == nil {
		return nil, func() {}
	}
	v.mu.Lock()
	return v, v.mu.Unlock
}

// Sections are none: what files say is not part of the system prompt, so that a
// change of theirs leaves the prefix alone.
func (p *Provider) Sections(context.Context, string) ([]prompt.Section, error) { return nil, nil }

// Contexts are the instructions, the skills and the time, each a message of its own.
func (p *Provider) Contexts(ctx context.Context, id string) ([]prompt.Context, error) {
	v, unlock := p.view(id)
	defer unlock()
	if v == nil {
		return nil, nil
	}
	meter, err := p.host.Session(id).Meter(ctx)
	if err != nil {
		p.logger.Debug("the session cannot be asked for its compactions", "error", err)
		meter.Compactions = v.window
	}
	if meter.Compactions != v.window {
		v.window, v.read, v.told = meter.Compactions, false, false
		v.visited, v.left = map[string]bool{}, p.limit(meter)
		v.clock.text = ""
	}
	if !v.read {
		v.limit = p.limit(meter)
		p.refresh(v)
	}
	contexts := []prompt.Context{{ID: idInstructions, Order: 1, Own: true, Text: v.instructions}}
	if p.config.Skills {
		contexts = append(contexts, prompt.Context{ID: idSkills, Order: 2, Own: true, Text: v.skills, Tool: toolSkill})
	}
	if p.config.Time {
		contexts = append(contexts, prompt.Context{ID: idTime, Order: 3, Own: true, Text: v.clock.tell(p.now(), p.config.Zone, p.config.TimeEvery)})
	}
	return contexts, nil
}

// limit is how long the instructions may be: as configured, and in a small context
// window a quarter of what there is before the line, at three bytes a token.
func (p *Provider) limit(meter session.Meter) int {
	if meter.ResetAt == 0 {
		return p.config.MaxBytes
	}
	return min(p.config.MaxBytes, max(minBytes, meter.ResetAt*3/4))
}

// refresh reads the files of a window.
func (p *Provider) refresh(v *view) {
	g := chain(p.config.UserFile, v.place)
	p.warn(v, g.notes)
	v.instructions = render(frameChain, g, v.limit)
	for _, dir := range v.place.dirs() {
		v.visited[dir] = true
	}
	switch {
	case v.instructions != "":
		v.told = true
	case v.told:
		v.instructions = noneAnyMore
	}
	v.skills = ""
	if p.config.Skills {
		found := p.discover(v.place)
		p.warn(v, found.notes)
		v.skills = catalogue(found.usable(), v.limit)
	}
	v.read = true
}

// warn lets the log say what was passed over, each once.
func (p *Provider) warn(v *view, notes []string) {
	for _, n := range notes {
		if !v.warned[n] && len(v.warned) < maxWarned {
			v.warned[n] = true
			p.logger.Warn("passed over " + n)
		}
	}
}
