package policy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/internal/confine"
)

// Provider is the plugin's hook.Hooks, prompt.Provider and sdk.Sessions. It is
// safe for concurrent use by several sessions.
type Provider struct {
	hook.Passive
	config   Config
	enforced bool   // the system binds commands to the file policy
	self     string // the program that this is, which no call may use as it likes

	mu       sync.Mutex
	sessions map[string]*place
}

// place is a session as the policy knows it.
type place struct {
	workspace string
	directory string
	child     bool
	allowed   map[string]bool // for the session, by the person
	asked     map[string]asked
}

// maxAllowed bounds what a session remembers; the person is asked again after that.
const maxAllowed = 2000

// New makes a Provider without sessions.
func New(config Config) *Provider {
	_, enforced := confine.Enforced()
	self, _ := os.Executable() // the name tureen is known anyway
	return &Provider{config: config, enforced: enforced, self: self, sessions: map[string]*place{}}
}

// Name is the plugin's name.
func (p *Provider) Name() string { return Name }

// Points are where the plugin has a say.
func (p *Provider) Points() []hook.Point { return []hook.Point{hook.BeforeTool} }

// Open takes note of a session and of where it works. What the person allowed for
// the session stays, as long as the process lives.
func (p *Provider) Open(_ context.Context, s compaction.Session) error {
	if s.Directory == "" {
		s.Directory = s.Workspace
	}
	for name, path := range map[string]string{"workspace": s.Workspace, "directory": s.Directory} {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("open session %q: %s %q is not an absolute path", s.ID, name, path)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.sessions[s.ID]
	if at == nil {
		at = &place{allowed: map[string]bool{}, asked: map[string]asked{}}
		p.sessions[s.ID] = at
	}
	at.workspace, at.directory, at.child = filepath.Clean(s.Workspace), filepath.Clean(s.Directory), s.Parent != ""
	return nil
}

// Close forgets a session and what was allowed in it.
func (p *Provider) Close(_ context.Context, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.sessions, id)
}

// place returns what is known of a session.
func (p *Provider) place(id string) (place, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.sessions[id]
	if !ok {
		return place{}, false
	}
	return *at, true // its map is only touched under mu
}

func (p *Provider) remember(id string, keys []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.sessions[id]; at != nil {
		for _, k := range keys {
			if len(at.allowed) < maxAllowed {
				at.allowed[k] = true
			}
		}
	}
}

// remembered tells whether the person allowed something for the session.
func (p *Provider) remembered(id, key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.sessions[id]
	return at != nil && at.allowed[key]
}

// never tells whether nobody is asked in a session. A subagent asks nobody.
func (p *Provider) never(at place) bool { return p.config.Never || at.child }

// standing is what binds every call.
func (p *Provider) standing() session.Confinement {
	return session.Confinement{Files: p.config.Files, Writable: p.config.Writable, Offline: p.config.Network == SayDeny}
}

// reach is where calls may write under workspace-write.
func (p *Provider) reach(at place) confine.Bounds {
	return confine.For(session.Confinement{Files: session.FilesWorkspaceWrite, Writable: p.config.Writable}, at.workspace, "")
}
