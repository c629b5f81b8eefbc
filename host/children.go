package host

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// A member keeps the subagents of its session: it is the agent.Family of its agent.
var _ agent.Family = (*member)(nil)

// Spawn implements agent.Family.
func (m *member) Spawn(ctx context.Context, s session.Spawn, started func(session.Child) error) (session.Child, error) {
	task, err := words("task", s.Task)
	if err != nil {
		return session.Child{}, err
	}
	c := m.child(newID(), headline(tool.Clean(s.Label)))
	if err := m.family.join(ctx, c); err != nil {
		return session.Child{}, err
	}
	child := session.Child{ID: c.id, Label: c.label, Depth: c.depth, State: session.StateRunning}
	err = c.begin(ctx, func() (session.Log, error) { return c.create(ctx, s, task) }, func(a *agent.Agent) error {
		if err := a.Move(ctx, m.agent.Load().Directory()); err != nil {
			return err
		}
		if s.Fork {
			task = textForked + task
		}
		if err := a.Prompt(ctx, task); err != nil {
			return err
		}
		return started(child)
	})
	if err != nil {
		c.undo(ctx)
		return session.Child{}, err
	}
	return child, nil
}

// Tell implements agent.Family.
func (m *member) Tell(ctx context.Context, to, text string) error {
	text, err := words("message", text)
	if err != nil {
		return err
	}
	if m.parent != nil && to == m.parent.id {
		return m.parent.agent.Load().Receive(ctx, m.id, fmt.Sprintf("Message from subagent %s:\n%s", m.called(), text))
	}
	text = "Message from the agent that gave you the task:\n" + text
	for {
		c := m.family.find(m, to)
		if c == nil {
			err := m.wakeUp(ctx, to, text)
			if errors.Is(err, errHere) {
				continue // another message has just woken it up
			}
			return err
		}
		select {
		case <-c.ready:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if took, err := c.take(ctx, m.id, text); took || err != nil {
			return err
		}
		select { // it settles, and is woken up after that
		case <-c.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Interrupt implements agent.Family.
func (m *member) Interrupt(_ context.Context, child string) error {
	c := m.family.find(m, child)
	if c == nil {
		return fmt.Errorf("%s is no subagent of this session that is at work", child)
	}
	c.cancel(errors.New("interrupted by the agent above"))
	return nil
}

// Stop implements agent.Family (C096, C139).
func (m *member) Stop() { m.stop(context.Background()) }

func (m *member) stop(ctx context.Context) {
	below := m.family.below(m)
	for _, c := range below {
		c.stopped.Store(true)
		c.cancel(errors.New("the agent above was stopped"))
	}
	ctx, cancel := context.WithTimeout(ctx, stopping)
	defer cancel()
	for _, c := range below {
		select {
		case <-c.done:
		case <-ctx.Done():
			m.family.host.Logger.Warn("a subagent did not end in time", "session", c.id)
			return
		}
	}
}

// wakeUp lets a subagent that had settled work again.
func (m *member) wakeUp(ctx context.Context, id, text string) error {
	var known *session.Child
	for _, c := range m.agent.Load().Children() {
		if c.ID == id {
			known = &c
		}
	}
	if known == nil {
		return fmt.Errorf("%s is neither a subagent of this session nor the agent above it", id)
	}
	c := m.child(id, known.Label)
	if err := m.family.join(ctx, c); err != nil {
		return err
	}
	err := c.begin(ctx, func() (session.Log, error) { return m.family.host.Store.Open(ctx, id) }, func(a *agent.Agent) error {
		if err := a.Receive(ctx, m.id, text); err != nil {
			return err
		}
		again := session.ChildSpawned{ID: id, Label: c.label, Depth: c.depth, Again: true}
		return m.agent.Load().ChildSpawned(context.WithoutCancel(ctx), again)
	})
	if err != nil {
		c.shut()
		c.left()
	}
	return err
}

// take queues a message to a subagent at work; took is false where it settles.
func (m *member) take(ctx context.Context, from, text string) (took bool, err error) {
	m.gate.Lock()
	defer m.gate.Unlock()
	a := m.agent.Load()
	if m.closing.Load() || a == nil {
		return false, nil
	}
	return true, a.Receive(ctx, from, text)
}

// words checks a text for another agent.
func words(what, text string) (string, error) {
	text = tool.Clean(text)
	switch {
	case strings.TrimSpace(text) == "":
		return "", fmt.Errorf("the %s is empty; write what is to be done", what)
	case len(text) > maxWords:
		return "", fmt.Errorf("the %s has %d bytes, more than %d; put the text into a file and name it", what, len(text), maxWords)
	}
	return text, nil
}

func newID() string { return strings.ToLower(ulid.MustNew(ulid.Now(), rand.Reader).String()) }
