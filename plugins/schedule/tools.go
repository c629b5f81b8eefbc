package schedule

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

type createArgs struct {
	Title  string `json:"title"`
	Prompt string `json:"prompt"`
	timing
}

func (p *Provider) create(ctx context.Context, call tool.Call, args createArgs) (string, error) {
	b, done, err := p.open(ctx, call.Session)
	if err != nil {
		return "", err
	}
	defer done()
	if n := len(b.live()); n >= maxReminders {
		return "", toolcall.Errorf("TOO_MANY", "this session has %d reminders, which is all that it may have; delete one first", n)
	}
	now := p.now()
	rule, err := args.rule(now)
	if err != nil {
		return "", err
	}
	r := Reminder{ID: b.newID(), Title: args.Title, Prompt: args.Prompt, Rule: rule, Since: now, Sent: now}
	if err := b.put(ctx, r); err != nil {
		return "", err
	}
	return "Set. " + b.line(r), nil
}

type updateArgs struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Prompt string `json:"prompt"`
	timing
}

func (p *Provider) update(ctx context.Context, call tool.Call, args updateArgs) (string, error) {
	b, done, err := p.open(ctx, call.Session)
	if err != nil {
		return "", err
	}
	defer done()
	r, err := b.find(args.ID)
	if err != nil {
		return "", err
	}
	if args.Title != "" {
		r.Title = args.Title
	}
	if args.Prompt != "" {
		r.Prompt = args.Prompt
	}
	if args.given() > 0 {
		r.Since = p.now()
		if r.Rule, err = args.rule(r.Since); err != nil {
			return "", err
		}
	}
	if err := b.put(ctx, r); err != nil {
		return "", err
	}
	return "Changed. " + b.line(r), nil
}

type deleteArgs struct {
	ID string `json:"id"`
}

func (p *Provider) remove(ctx context.Context, session, id string) (string, error) {
	b, done, err := p.open(ctx, session)
	if err != nil {
		return "", err
	}
	defer done()
	r, err := b.find(id)
	if err != nil {
		return "", err
	}
	r.Deleted = true
	if err := b.put(ctx, r); err != nil {
		return "", err
	}
	return fmt.Sprintf("Reminder %s is gone.", r.ID), nil
}

func (p *Provider) list(ctx context.Context, session string) (string, error) {
	b, done, err := p.open(ctx, session)
	if err != nil {
		return "", err
	}
	defer done()
	lines := []string{"It is " + p.now().Format(time.RFC3339) + "."}
	for _, r := range b.live() {
		lines = append(lines, b.line(r))
	}
	if len(lines) == 1 {
		lines = append(lines, "No reminders.")
	}
	return strings.Join(lines, "\n"), nil
}

// now is the time in the zone that counts, in whole seconds.
func (p *Provider) now() time.Time { return time.Now().In(p.config.Zone).Truncate(time.Second) }

// find finds a reminder that is still to come. The caller holds mu.
func (b *book) find(id string) (Reminder, error) {
	for _, r := range b.live() {
		if r.ID == id {
			return r, nil
		}
	}
	return Reminder{}, toolcall.Errorf("UNKNOWN_REMINDER", "there is no reminder %q to come; schedule_list shows which there are", id)
}

// line tells of a reminder. The caller holds mu.
func (b *book) line(r Reminder) string {
	next := "never again"
	if at, ok := b.due(r, time.Now()); ok {
		next = "next at " + at.In(b.zone).Format(time.RFC3339)
	}
	return fmt.Sprintf("%s: %s, %s: %s", r.ID, r.Rule.text(b.zone), next, r.Title)
}

// Commands is /schedule.
func (p *Provider) Commands(context.Context, string) ([]command.Command, error) {
	return []command.Command{{Name: "schedule", Usage: "[delete ID]", Description: "list the reminders of this session, or take one away"}}, nil
}

// Run runs it.
func (p *Provider) Run(ctx context.Context, session, _, arguments string) (string, error) {
	switch words := strings.Fields(arguments); {
	case len(words) == 0:
		return p.list(ctx, session)
	case len(words) == 2 && words[0] == "delete":
		return p.remove(ctx, session, words[1])
	}
	return "", fmt.Errorf("/schedule %s is not known; write /schedule, or /schedule delete ID", arguments)
}
