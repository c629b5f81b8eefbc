package schedule

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
	"github.com/tureen-host/tureen/plugins/sdk"
)

var (
	//go:embed create.json
	createSchema []byte
	//go:embed update.json
	updateSchema []byte
	//go:embed delete.json
	deleteSchema []byte
	//go:embed list.json
	listSchema []byte
)

// Provider is all services of the plugin. It is safe for concurrent use by several
// sessions. Stop it.
type Provider struct {
	hook.Passive
	config Config
	host   sdk.Host
	logger *slog.Logger
	life   context.Context
	end    context.CancelFunc
	clocks sync.WaitGroup

	mu    sync.Mutex
	books map[string]*book // of the sessions that are open
}

// New makes a Provider without sessions.
func New(config Config, host sdk.Host, logger *slog.Logger) *Provider {
	p := &Provider{config: config, host: host, logger: logger, books: map[string]*book{}}
	p.life, p.end = context.WithCancel(context.Background())
	return p
}

// Name is the plugin's name.
func (p *Provider) Name() string { return Name }

// Tools lists the tools. Subagents have none: nobody would be there when one of
// their reminders is due.
func (p *Provider) Tools(_ context.Context, session string) ([]tool.Spec, error) {
	if session != "" && p.book(session) == nil {
		return nil, nil
	}
	return []tool.Spec{{
		Name: "schedule_create",
		Description: "Set a reminder: a prompt that comes to you in this session at a later time, once or again and again. Give exactly one of " + timings + ". " +
			"It comes while the session is open; of what was due meanwhile, the latest comes when it is opened next.",
		Schema:        createSchema,
		Guidance:      "Set a reminder with schedule_create for what is to be done later; do not keep a command sleeping for it.",
		GuidanceOrder: 1400,
	}, {
		Name:        "schedule_list",
		Description: "List the reminders of this session: id, when, when next, title.",
		Schema:      listSchema,
		Parallel:    true,
	}, {
		Name:        "schedule_update",
		Description: "Change a reminder's title, prompt or time. A time that is given takes the place of the old one.",
		Schema:      updateSchema,
	}, {
		Name:        "schedule_delete",
		Description: "Take a reminder away.",
		Schema:      deleteSchema,
	}}, nil
}

// Call runs one tool.
func (p *Provider) Call(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	switch call.Name {
	case "schedule_create":
		return toolcall.Run(ctx, call, p.create), nil
	case "schedule_list":
		return toolcall.Run(ctx, call, func(ctx context.Context, c tool.Call, _ struct{}) (string, error) { return p.list(ctx, c.Session) }), nil
	case "schedule_update":
		return toolcall.Run(ctx, call, p.update), nil
	case "schedule_delete":
		return toolcall.Run(ctx, call, func(ctx context.Context, c tool.Call, a deleteArgs) (string, error) {
			return p.remove(ctx, c.Session, a.ID)
		}), nil
	}
	return tool.Result{}, fmt.Errorf("plugin %q has no tool %q", Name, call.Name)
}

func (p *Provider) book(session string) *book {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.books[session]
}

// open loads a session's reminders and holds them until done is called.
func (p *Provider) open(ctx context.Context, session string) (b *book, done func(), err error) {
	if b = p.book(session); b == nil {
		return nil, nil, fmt.Errorf("session %q has no reminders: it is a subagent's, or not open", session)
	}
	b.mu.Lock()
	if err := b.load(ctx); err != nil {
		b.mu.Unlock()
		return nil, nil, err
	}
	return b, b.mu.Unlock, nil
}

// Points implements hook.Hooks.
func (p *Provider) Points() []hook.Point { return []hook.Point{hook.Idle} }

// Idle keeps a run that would end for a reminder that is due soon.
func (p *Provider) Idle(ctx context.Context, at hook.Where) (hook.IdleDecision, error) {
	if p.book(at.Session) == nil {
		return hook.IdleDecision{}, nil
	}
	b, done, err := p.open(ctx, at.Session)
	if err != nil {
		return hook.IdleDecision{}, err
	}
	defer done()
	r, due, ok := b.first(time.Now())
	if !ok || time.Until(due) > p.config.Wait || b.waits >= p.config.MaxWaits {
		return hook.IdleDecision{}, nil
	}
	return hook.IdleDecision{Wait: fmt.Sprintf("reminder %s, due at %s", r.ID, due.In(b.zone).Format(time.RFC3339))}, nil
}
