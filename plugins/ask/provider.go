package ask

import (
	"context"
	_ "embed"
	"fmt"
	"sync"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// schema has one place for the argument timed.
//
//go:embed ask_user.json
var schema string

const toolName = "ask_user"

// Provider is the plugin's tool.Provider and sdk.Sessions. It is safe for
// concurrent use by several sessions.
type Provider struct {
	config Config
	host   sdk.Host

	mu      sync.Mutex
	parents map[string]string // of open sessions, "" for a person's own
}

// New makes a Provider without sessions.
func New(config Config, host sdk.Host) *Provider {
	return &Provider{config: config, host: host, parents: map[string]string{}}
}

// Name is the plugin's name.
func (p *Provider) Name() string { return Name }

// Open takes note of whose subagent a session is.
func (p *Provider) Open(_ context.Context, s compaction.Session) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parents[s.ID] = s.Parent
	return nil
}

// Close forgets a session.
func (p *Provider) Close(_ context.Context, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.parents, id)
}

// parent tells whose subagent a session is and whether it is open.
func (p *Provider) parent(session string) (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	parent, open := p.parents[session]
	return parent, open
}

// Tools lists the one tool. Nothing else runs beside it: what the person says may
// change what comes next.
func (p *Provider) Tools(context.Context, string) ([]tool.Spec, error) {
	waits, timed := "The call waits until the person has answered.",
		fmt.Sprintf(`,
    "timed": {"type": "boolean", "description": "true: go on after %s without the answer, which then comes later as a message. Use it where other work does not depend on the answer."}`, p.config.Timeout)
	if p.config.Timed {
		waits, timed = fmt.Sprintf("The call waits %s for each answer; one that comes later reaches you as a message.", p.config.Timeout), ""
	}
	return []tool.Spec{{
		Name: toolName,
		Description: "Put one to four questions to the person you work for, and get the answers as JSON: the outcome of each, the options chosen and what the person wrote. " +
			"Ask where a decision is theirs, where you need their consent, or where something is missing that you cannot find out yourself. " + waits,
		Schema:        fmt.Appendf(nil, schema, timed),
		Timeout:       longest + time.Minute,
		Guidance:      "Use ask_user for a decision that only the person can take, rather than ending your turn with a question. Do not ask what you can look up.",
		GuidanceOrder: 1300,
	}}, nil
}

// Call runs the tool.
func (p *Provider) Call(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	if call.Name != toolName {
		return tool.Result{}, fmt.Errorf("plugin %q has no tool %q", Name, call.Name)
	}
	return toolcall.Run(ctx, call, p.ask), nil
}
