package sdk

import (
	"context"

	"github.com/tureen-host/tureen/host/command"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

type commandsServer struct {
	pluginv1.UnimplementedCommandsServer
	s *Server
}

func (c *commandsServer) ListCommands(ctx context.Context, req *pluginv1.ListCommandsRequest) (*pluginv1.ListCommandsResponse, error) {
	commands, err := protect(func() ([]command.Command, error) {
		return c.s.use().Commands.Commands(ctx, req.GetContext().GetSession())
	})
	return &pluginv1.ListCommandsResponse{Error: c.s.failure(err), Commands: mapSlice(commands, func(c command.Command) *pluginv1.Command {
		return &pluginv1.Command{Name: c.Name, Usage: c.Usage, Description: c.Description}
	})}, nil
}

func (c *commandsServer) RunCommand(ctx context.Context, req *pluginv1.RunCommandRequest) (*pluginv1.RunCommandResponse, error) {
	text, err := protect(func() (string, error) {
		return c.s.use().Commands.Run(ctx, req.GetContext().GetSession(), req.GetName(), req.GetArguments())
	})
	return &pluginv1.RunCommandResponse{Error: c.s.failure(err), Text: valid(text)}, nil
}
