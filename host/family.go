package host

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// Hard limits of a tree, whatever the plugin that spawns allows (S1).
const (
	maxDepth  = 8
	maxAtWork = 64
	maxWords  = 256 << 10 // bytes of a task or a message
)

// stopping bounds how long a parent waits for subagents that it stopped.
const stopping = 3 * time.Second

// family is the tree of sessions that a host runs: its own and those of the
// subagents at work. All share the engine, limits and effort. It is safe for
// concurrent use.
type family struct {
	host     *Host
	spending *agent.Spending

	mu      sync.Mutex
	members map[string]*member
	closed  bool
}

// member is a session that is open here.
type member struct {
	family *family
	id     string
	label  string
	depth  int
	parent *member // nil = the host's own session
	log    session.Log
	agent  atomic.Pointer[agent.Agent] // nil = not open yet

	workspace string // absolute
	above     string // of the host's own session: the archived one that it belongs to, "" = none

	// Of a subagent only.
	life    context.Context
	cancel  context.CancelCauseFunc
	ready   chan struct{} // closed when it works, or will not
	stopped atomic.Bool   // the parent was stopped, and this one with it
	done    chan struct{} // closed when it has settled
	gate    sync.Mutex    // held while a message is taken, and when closing is set
	closing atomic.Bool   // takes no more messages and has no more subagents
	mu      sync.Mutex    // guards said
	said    said
}

// errHere is why a session that is open here already does not join.
var errHere = errors.New("the session is open here already")

func newFamily(h *Host) *family {
	return &family{host: h, spending: agent.NewSpending(), members: map[string]*member{}}
}

// join takes a place in the tree, which leave gives back.
func (f *family) join(ctx context.Context, m *member) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch atWork := len(f.members) - 1; {
	case f.closed || m.parent.closing.Load():
		return fmt.Errorf("the run is ending; no subagent is started any more")
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case m.depth > maxDepth:
		return fmt.Errorf("a subagent here would be %d levels deep, and this host allows %d; do the work yourself", m.depth, maxDepth)
	case atWork >= maxAtWork:
		return fmt.Errorf("%d subagents are at work, which is all that this host allows; wait until one has ended", atWork)
	case f.members[m.id] != nil:
		return errHere
	}
	f.members[m.id] = m
	return nil
}

func (f *family) leave(m *member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.members, m.id)
}

// below lists the subagents of m that are at work.
func (f *family) below(m *member) []*member {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []*member
	for _, c := range f.members {
		if c.parent == m {
			list = append(list, c)
		}
	}
	return list
}

// find returns the subagent of m that is at work under that id, nil for none.
func (f *family) find(m *member, id string) *member {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.members[id]; c != nil && c.parent == m {
		return c
	}
	return nil
}

// frozen names the archived session that keeps this one from stepping (L18).
func (m *member) frozen() string {
	if m.parent == nil {
		return m.above
	}
	return m.parent.agent.Load().FrozenBy()
}

// archived looks for an archived session in the store, from id upwards, "" for none.
// One that does not read keeps nobody from working.
func (f *family) archived(ctx context.Context, id string) string {
	for level := 0; id != "" && level <= maxDepth; level++ { // whatever the logs say
		s, err := f.look(ctx, id)
		switch {
		case err != nil:
			return ""
		case s.Archived:
			return id
		}
		id = s.Created.Parent
	}
	return ""
}

// look folds a session without taking it.
func (f *family) look(ctx context.Context, id string) (*fold.State, error) {
	r, err := f.host.Store.View(ctx, id)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return fold.Load(ctx, r)
}

// close ends all subagents and takes no more. It takes a bounded time, less where
// ctx ends.
func (f *family) close(ctx context.Context, root *member) {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	root.stop(ctx)
}
