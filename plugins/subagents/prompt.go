package subagents

import (
	"context"
	"fmt"

	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/prompt"
)

// orderDepth puts the plugin's words behind the host's own.
const orderDepth = 400

// Sections has nothing to say: the tools bring their own sentences.
func (p *Provider) Sections(context.Context, string) ([]prompt.Section, error) { return nil, nil }

// Contexts tell a subagent whom it can reach, and a session at the depth limit that
// it is there (SP4).
func (p *Provider) Contexts(_ context.Context, id string) ([]prompt.Context, error) {
	m := p.member(id)
	if m == nil {
		return nil, nil
	}
	var contexts []prompt.Context
	if m.parent != "" {
		contexts = append(contexts, prompt.Context{ID: "subagents:parent", Order: orderDepth, Tool: "send_message",
			Text: fmt.Sprintf("The agent above you has the id %q. It gets your last answer by itself; use send_message only for what it should know before you are done.", m.parent)})
	}
	if m.depth >= p.config.MaxDepth {
		contexts = append(contexts, prompt.Context{ID: "subagents:depth", Order: orderDepth + 1, Tool: "subagent",
			Text: fmt.Sprintf("Subagent depth: %d of at most %d. The tools subagent and subagent_fork start none here: do the work yourself.", m.depth, p.config.MaxDepth)})
	}
	return contexts, nil
}

// Commands is /agents.
func (p *Provider) Commands(context.Context, string) ([]command.Command, error) {
	return []command.Command{{Name: "agents", Description: "list the subagents of this session"}}, nil
}

// Run runs it.
func (p *Provider) Run(ctx context.Context, id, _, _ string) (string, error) {
	return p.overview(ctx, id)
}
