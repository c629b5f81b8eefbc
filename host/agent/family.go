package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// Family keeps the subagents of an agent: sessions of their own that run beside it
// (S1). Its methods may be called from any goroutine.
type Family interface {
	// Spawn makes the child's session and lets it run once started has returned,
	// which stores that it was.
	Spawn(ctx context.Context, s session.Spawn, started func(session.Child) error) (session.Child, error)
	// Tell queues a message to a child, which runs again where it had settled, or
	// to the parent.
	Tell(ctx context.Context, to, text string) error
	// Interrupt ends what a child is doing.
	Interrupt(ctx context.Context, child string) error
	// Stop ends what all children are doing and returns when they have settled, or
	// after a bounded time. They settle without waking the parent.
	Stop()
}

var errNoFamily = errors.New("this session cannot have subagents")

func (x *access) Spawn(ctx context.Context, s session.Spawn) (session.Child, error) {
	if x.a.Family == nil {
		return session.Child{}, errNoFamily
	}
	return x.a.Family.Spawn(ctx, s, func(c session.Child) error {
		return x.a.ChildSpawned(context.WithoutCancel(ctx), session.ChildSpawned{ID: c.ID, Label: c.Label, Depth: c.Depth})
	})
}

func (x *access) Children(context.Context) ([]session.Child, error) {
	var list []session.Child
	x.a.rec.view(func(s *fold.State) { list = append(list, children(s)...) })
	return list, nil
}

func (x *access) Tell(ctx context.Context, to, text string) error {
	if x.a.Family == nil {
		return errNoFamily
	}
	return x.a.Family.Tell(ctx, to, text)
}

func (x *access) Interrupt(ctx context.Context, child string) error {
	if x.a.Family == nil {
		return errNoFamily
	}
	return x.a.Family.Interrupt(ctx, child)
}

// ChildSpawned stores that a child begins to work.
func (a *Agent) ChildSpawned(ctx context.Context, c session.ChildSpawned) error {
	at := a.where()
	return a.rec.commit(ctx, session.New(session.KindChildSpawned, c).At(at.Turn, at.Step))
}

// ChildSettled stores what a child came to together with the message that tells
// this agent: one append, so that it is told exactly once (S3). wake tells whether
// that opens a turn; else the message waits for one.
func (a *Agent) ChildSettled(ctx context.Context, c session.ChildSettled, text string, wake bool) error {
	item := session.InboxItem{Queue: session.NextStep, Source: session.SourceHost, From: c.ID, Text: tool.Clean(text), Wake: wake}
	return a.rec.commit(ctx, session.New(session.KindChildSettled, c), session.New(session.KindInboxQueued, item))
}

// stopChildrenWith ends the children's work where ctx ends (C096). The returned end
// takes that back, or, where ctx ended, waits for it.
func (a *Agent) stopChildrenWith(ctx context.Context) (end func()) {
	if a.Family == nil {
		return func() {}
	}
	unused := context.AfterFunc(ctx, a.Family.Stop)
	return func() {
		if !unused() {
			a.Family.Stop()
		}
	}
}

// FrozenBy names the archived session, this one or one above it, that keeps it from
// stepping, "" for none (L18).
func (a *Agent) FrozenBy() string { return a.frozen() }

// Owed tells whether something in the inbox opens a turn.
func (a *Agent) Owed() bool { return a.owed() }

// Move lets tools start from another directory, as the agent's parent does.
func (a *Agent) Move(ctx context.Context, directory string) error {
	return errors.Join(a.changeDirectory(ctx, directory, "the parent works there"), a.rec.flush(ctx))
}

// Receive queues a message of a relative, and wakes the agent (S5).
func (a *Agent) Receive(ctx context.Context, from, text string) error {
	return a.push(ctx, session.InboxItem{Queue: session.NextStep, Source: session.SourceHost, From: from, Text: text, Wake: true})
}

// Children lists the subagents, oldest first.
func (a *Agent) Children() []session.Child {
	children, _ := (&access{a: a}).Children(context.Background())
	return children
}

// childrenRunning names the subagents that are at work, "" where none is.
func (a *Agent) childrenRunning() string {
	n := 0
	a.rec.view(func(s *fold.State) { n = len(s.Running()) })
	switch n {
	case 0:
		return ""
	case 1:
		return "a subagent"
	}
	return fmt.Sprintf("%d subagents", n)
}
