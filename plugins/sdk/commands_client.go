package sdk

import (
	"context"

	"github.com/tureen-host/tureen/host/command"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// Commands is what the plugin offers the person.
func (r *Remote) Commands() command.Provider {
	return &commandsClient{r: r, rpc: pluginv1.NewCommandsClient(r.conn)}
}

type commandsClient struct {
	r   *Remote
	rpc pluginv1.CommandsClient
}

func (c *commandsClient) Name() string { return c.r.name }

func (c *commandsClient) Commands(ctx context.Context, session string) ([]command.Command, error) {
	ctx, at := newCall(ctx, session, 0, 0)
	resp, err := c.rpc.ListCommands(ctx, &pluginv1.ListCommandsRequest{Context: at})
	if err := c.r.outcome("ListCommands", resp, err); err != nil {
		return nil, err
	}
	return mapSlice(resp.GetCommands(), func(c *pluginv1.Command) command.Command {
		return command.Command{Name: c.GetName(), Usage: c.GetUsage(), Description: c.GetDescription()}
	}), nil
}

func (c *commandsClient) Run(ctx context.Context, session, name, arguments string) (string, error) {
	ctx, at := newCall(ctx, session, 0, 0)
	resp, err := c.rpc.RunCommand(ctx, &pluginv1.RunCommandRequest{Context: at, Name: name, Arguments: valid(arguments)})
	return resp.GetText(), c.r.outcome("RunCommand", resp, err)
}
