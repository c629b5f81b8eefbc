package host

import (
	"context"
	"fmt"
	"time"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/session"
)

// child is a member below m that has not begun.
func (m *member) child(id, label string) *member {
	c := &member{family: m.family, id: id, label: label, depth: m.depth + 1, parent: m, ready: make(chan struct{}), done: make(chan struct{})}
	c.life, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// create makes the session of a subagent, beside its parent's in everything.
func (m *member) create(ctx context.Context, s session.Spawn, task string) (session.Log, error) {
	h := m.family.host
	title := m.label
	if title == "" {
		title = headline(task)
	}
	created := session.Created{ID: m.id, Workspace: m.parent.workspace, Profile: h.Profile.Name,
		Strategy: h.Profile.Compaction.Strategy, Title: title, Time: time.Now().UTC(), Parent: m.parent.id, Depth: m.depth, Spawn: s.Data}
	if s.Fork {
		return m.branch(ctx, created)
	}
	return h.Store.Create(ctx, created)
}

// begin opens a subagent's log and agent, lets say queue what it is to do, and has
// it work. Where that fails the caller gives its place back.
func (m *member) begin(ctx context.Context, open func() (session.Log, error), say func(*agent.Agent) error) (err error) {
	h := m.family.host
	defer close(m.ready)
	if m.log, err = open(); err != nil {
		return err
	}
	if err := h.engine.enter(m); err != nil {
		return err
	}
	a, err := h.newAgent(ctx, m, &childObserver{m, h.Observer}, nil)
	if err != nil {
		return err
	}
	if err := a.Begin(ctx); err != nil {
		return err
	}
	if err := say(a); err != nil {
		return err
	}
	go m.work(m.life)
	return nil
}

// undo takes back a subagent that did not come to work.
func (m *member) undo(ctx context.Context) {
	m.shut()
	if r, ok := m.family.host.Store.(session.Remover); ok { // nothing is there where it was not made
		_ = r.Remove(context.WithoutCancel(ctx), m.id)
	}
	m.left()
}

// left gives the place in the tree back.
func (m *member) left() {
	m.family.leave(m)
	m.family.host.engine.exit(m)
	m.cancel(nil)
	close(m.done)
}

// shut ends the session here: in the plugins, then its log.
func (m *member) shut() {
	m.family.host.engine.closeSession(context.Background(), m.id)
	if m.log != nil {
		if err := m.log.Close(); err != nil {
			m.family.host.Logger.Warn("close the log of a subagent", "session", m.id, "error", err)
		}
	}
}

// called names a subagent to its parent: its id and its label.
func (m *member) called() string { return called(m.id, m.label) }

func called(id, label string) string {
	if label == "" {
		return id
	}
	return fmt.Sprintf("%s (%s)", id, label)
}
