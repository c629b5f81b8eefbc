// Package command is the slash commands that plugins offer the person: /goal,
// /todo and the like. The model never sees them.
package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Command is one on offer.
type Command struct {
	Name        string // [a-z][a-z0-9-]{0,31}, without the slash
	Usage       string // what may follow the name, "" for nothing
	Description string // one line
}

// Provider offers the commands of one plugin. The list does not change within a
// session. An error of Run is for the person to read.
type Provider interface {
	Name() string
	Commands(ctx context.Context, session string) ([]Command, error)
	Run(ctx context.Context, session, name, arguments string) (text string, err error)
}

// Registry finds a command by its name. It is safe for concurrent use.
type Registry struct {
	commands  []Command
	providers map[string]Provider
}

// NewRegistry asks the providers for their commands. A name that two of them
// offer is an error.
func NewRegistry(ctx context.Context, session string, providers []Provider) (*Registry, error) {
	r := &Registry{providers: map[string]Provider{}}
	for _, p := range providers {
		commands, err := p.Commands(ctx, session)
		if err != nil {
			return nil, fmt.Errorf("commands of plugin %q: %w", p.Name(), err)
		}
		for _, c := range commands {
			if other := r.providers[c.Name]; other != nil {
				return nil, fmt.Errorf("plugins %q and %q both offer the command /%s; take one of them out of the profile", other.Name(), p.Name(), c.Name)
			}
			r.commands = append(r.commands, c)
			r.providers[c.Name] = p
		}
	}
	slices.SortFunc(r.commands, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return r, nil
}

// Commands lists what there is, by name.
func (r *Registry) Commands() []Command { return slices.Clone(r.commands) }

// Lookup finds who offers a command, nil where nobody does.
func (r *Registry) Lookup(name string) Provider { return r.providers[name] }

// Parse splits a line that a person typed into a command's name and arguments. It
// is one where a slash and a name begin it and no second slash stands in the name,
// so that a path is none.
func Parse(line string) (name, arguments string, ok bool) {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "/") {
		return "", "", false
	}
	name, arguments, _ = strings.Cut(line[1:], " ")
	if before, after, multi := strings.Cut(name, "\n"); multi {
		name, arguments = before, strings.TrimSpace(after+" "+arguments)
	}
	for i, c := range name {
		if c >= 'a' && c <= 'z' || i > 0 && (c == '-' || c >= '0' && c <= '9') {
			continue
		}
		return "", "", false
	}
	return name, strings.TrimSpace(arguments), name != ""
}
