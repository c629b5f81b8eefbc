package subagents

import (
	"context"
	_ "embed"
	"fmt"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
	"github.com/tureen-host/tureen/plugins/sdk"
)

var (
	//go:embed subagent.json
	subagentSchema []byte
	//go:embed subagent_fork.json
	forkSchema []byte
	//go:embed send_message.json
	sendSchema []byte
	//go:embed interrupt_agent.json
	interruptSchema []byte
	//go:embed list_agents.json
	listSchema []byte
)

// Provider is all services of the plugin. It is safe for concurrent use by several
// sessions.
type Provider struct {
	hook.Passive
	config Config
	host   sdk.Host

	mu       sync.Mutex
	sessions map[string]*member // that are open
	trees    map[string]*tree   // by the id of the root
}

// New makes a Provider without sessions.
func New(config Config, host sdk.Host) *Provider {
	return &Provider{config: config, host: host, sessions: map[string]*member{}, trees: map[string]*tree{}}
}

// Name is the plugin's name.
func (p *Provider) Name() string { return Name }

// Tools lists the tools. A session that owes a structured result has one more.
func (p *Provider) Tools(_ context.Context, session string) ([]tool.Spec, error) {
	specs := []tool.Spec{{
		Name: "subagent",
		Description: "Hand a piece of work to a subagent: another agent with these tools and a conversation of its own, in the same working directory. " +
			"Good for work that stands on its own and would fill this conversation with what you do not need later: a search through many files, a change in one corner, a check. " +
			"Answers at once with the subagent's id; you are told when it has ended, with its last answer. Several may work at the same time; let no two change the same files.",
		Schema:        subagentSchema,
		Parallel:      true,
		Timeout:       time.Minute,
		Guidance:      "Do not ask again and again how a subagent is doing, and do not wait for it with sleep. Go on with other work; where there is none, end your turn, and its result wakes you.",
		GuidanceOrder: 1300,
	}, {
		Name: "subagent_fork",
		Description: "Hand a piece of work to a subagent that begins with a copy of this conversation, up to the end of your last turn; of the turn under way it sees the task alone. " +
			"Good where the work needs what was said and found so far, and telling it again would be long or leave something out: a side question, a second opinion, one of several ways to go on. " +
			"All of the copy is input that it pays for: where a task stands on its own, use subagent. What else holds for subagent holds here too.",
		Schema:   forkSchema,
		Parallel: true,
		Timeout:  time.Minute,
	}, {
		Name: "send_message",
		Description: "Send a message to one of your subagents, or to the agent above you. It is read at the next step. " +
			"A subagent that has ended goes on with your message, with all that it knew.",
		Schema:  sendSchema,
		Timeout: time.Minute,
	}, {
		Name:        "interrupt_agent",
		Description: "Stop one of your subagents that is at work. You are told when it has stopped; a message to it lets it go on later.",
		Schema:      interruptSchema,
	}, {
		Name:        "list_agents",
		Description: "List your subagents and what became of each. There is no need to look whether one has ended: you are told.",
		Schema:      listSchema,
		Parallel:    true,
	}}
	if m := p.member(session); m != nil && m.schema != nil {
		specs = append(specs, reportSpec(m.schema))
	}
	return specs, nil
}

// Call runs one tool.
func (p *Provider) Call(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	switch call.Name {
	case "subagent":
		return toolcall.Run(ctx, call, p.spawn), nil
	case "subagent_fork":
		return toolcall.Run(ctx, call, p.fork), nil
	case "send_message":
		return toolcall.Run(ctx, call, p.send), nil
	case "interrupt_agent":
		return toolcall.Run(ctx, call, p.interrupt), nil
	case "list_agents":
		return toolcall.Run(ctx, call, p.list), nil
	case reportTool:
		return p.report(ctx, call)
	}
	return tool.Result{}, fmt.Errorf("plugin %q has no tool %q", Name, call.Name)
}
