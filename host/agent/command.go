package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// ErrNoCommand is a slash command that no plugin of the profile offers.
var ErrNoCommand = errors.New("no such command")

// ListCommands lists the slash commands of the plugins, by name.
func (a *Agent) ListCommands() []command.Command {
	if a.Commands == nil {
		return nil
	}
	return a.Commands.Commands()
}

// Command runs a slash command that a person gave, and stores it with its answer.
// The error is for the person; errors.Is(err, ErrNoCommand) where nobody offers it.
func (a *Agent) Command(ctx context.Context, name, arguments string) (string, error) {
	var provider command.Provider
	if a.Commands != nil {
		provider = a.Commands.Lookup(name)
	}
	if provider == nil {
		return "", fmt.Errorf("/%s: %w", name, ErrNoCommand)
	}
	if err := a.rec.flush(ctx); err != nil {
		return "", err
	}
	text, err := provider.Run(ctx, a.rec.log.ID(), name, arguments)
	ran := session.CommandRun{Plugin: provider.Name(), Name: name, Arguments: tool.Clean(arguments), Text: tool.Clean(text)}
	if err != nil {
		ran.Error = tool.Clean(err.Error())
	}
	return ran.Text, errors.Join(err, a.rec.commit(ctx, session.New(session.KindCommandRun, ran)))
}

// Say takes what a person typed: a slash command of a plugin is run and its answer
// returned, everything else is a prompt.
func (a *Agent) Say(ctx context.Context, text string) (reply string, err error) {
	if name, arguments, ok := command.Parse(text); ok && a.Commands != nil && a.Commands.Lookup(name) != nil {
		return a.Command(ctx, name, arguments)
	}
	return "", a.Prompt(ctx, text)
}
