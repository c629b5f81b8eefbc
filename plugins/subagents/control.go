package subagents

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

type sendArgs struct {
	AgentID string `json:"agent_id"`
	Message string `json:"message"`
}

func (p *Provider) send(ctx context.Context, call tool.Call, args sendArgs) (string, error) {
	m, t, err := p.tree(call.Session)
	if err != nil {
		return "", err
	}
	if len(args.Message) > maxTask {
		return "", toolcall.Errorf("MESSAGE_TOO_LONG", "the message has %d bytes, more than %d; write it to a file and name the file", len(args.Message), maxTask)
	}
	access := p.host.Session(call.Session)
	children, err := access.Children(ctx)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(children, func(c session.Child) bool { return c.ID == args.AgentID })
	if i < 0 && (m.parent == "" || args.AgentID != m.parent) {
		return "", toolcall.Errorf("UNKNOWN_AGENT", "there is no agent %q for you: list_agents shows whom you can reach", args.AgentID)
	}
	settled := i >= 0 && children[i].State == session.StateSettled
	if settled {
		t.spawning.Lock()
		defer t.spawning.Unlock()
		if err := p.free(t); err != nil {
			return "", err
		}
	}
	if err := access.Tell(ctx, args.AgentID, args.Message); err != nil {
		return "", toolcall.Errorf("NOT_SENT", "the message was not sent: %v", err)
	}
	if settled {
		return fmt.Sprintf("Sent. %s had ended and goes on with your message; you will be told when it has ended again.", args.AgentID), nil
	}
	return "Sent. It is read at the next step.", nil
}

type interruptArgs struct {
	AgentID string `json:"agent_id"`
}

func (p *Provider) interrupt(ctx context.Context, call tool.Call, args interruptArgs) (string, error) {
	if err := p.host.Session(call.Session).Interrupt(ctx, args.AgentID); err != nil {
		return "", toolcall.Errorf("NOT_INTERRUPTED", "nothing was stopped: %v", err)
	}
	return fmt.Sprintf("%s is being stopped. You will be told when it has.", args.AgentID), nil
}

func (p *Provider) list(ctx context.Context, call tool.Call, _ struct{}) (string, error) {
	return p.overview(ctx, call.Session)
}

// overview lists the subagents of a session, and how much room the tree has.
func (p *Provider) overview(ctx context.Context, id string) (string, error) {
	m, t, err := p.tree(id)
	if err != nil {
		return "", err
	}
	children, err := p.host.Session(id).Children(ctx)
	if err != nil {
		return "", err
	}
	t.spawning.Lock()
	err = t.count(ctx, p.host.Session(t.root))
	started := t.started
	t.spawning.Unlock()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if len(children) == 0 {
		b.WriteString("No subagents of this session.\n")
	}
	for _, c := range children {
		fmt.Fprintf(&b, "%s  %s  %s\n", c.ID, state(c), c.Label)
	}
	if m.parent != "" {
		fmt.Fprintf(&b, "The agent above: %s\n", m.parent)
	}
	fmt.Fprintf(&b, "At work in all: %d of at most %d. Started in all: %d of at most %d.", p.active(t), p.config.MaxActive, started, p.config.MaxTotal)
	return b.String(), nil
}

// subagents counts them, with the verb.
func subagents(n int) string {
	if n == 1 {
		return "1 subagent is"
	}
	return fmt.Sprintf("%d subagents are", n)
}

// state is where a subagent stands, in a word or two.
func state(c session.Child) string {
	if c.State == session.StateRunning {
		return "at work"
	}
	return "ended: " + string(c.Reason)
}
