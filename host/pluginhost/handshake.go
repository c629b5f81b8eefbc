package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// handshake runs the child and connects to the server that it announces.
func (g *generation) handshake(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, g.inst.deadlines().Handshake, errNoHandshake)
	defer cancel()
	g.client = goplugin.NewClient(g.clientConfig(ctx))
	var client goplugin.ClientProtocol
	done := make(chan error, 1)
	go func() {
		var err error
		client, err = g.client.Client()
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		g.kill("")
		<-done // ends with the process
		return context.Cause(ctx)
	}
	g.conn = client.(*goplugin.GRPCClient).Conn // gRPC is all that is allowed
	return g.root.check(g.proc.sockets)         // before it is told any secret
}

// clientConfig leaves to go-plugin the handshake and the dialing.
func (g *generation) clientConfig(ctx context.Context) *goplugin.ClientConfig {
	return &goplugin.ClientConfig{
		HandshakeConfig:  sdk.Handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{sdk.ProtocolVersion: sdk.PluginSet()},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		StartTimeout:     2 * g.inst.deadlines().Handshake, // ours comes first
		SkipHostEnv:      true,
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: g.dir},
		RunnerFunc: func(_ hclog.Logger, wanted *exec.Cmd, socketDir string) (runner.Runner, error) {
			return g.runner(ctx, wanted, socketDir)
		},
		Logger:     hclog.NewNullLogger(),
		SyncStdout: g.log,
		SyncStderr: g.log,
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithIdleTimeout(0),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(sdk.MaxMessage), grpc.MaxCallSendMsgSize(sdk.SendLimit)),
		},
	}
}

// runner makes the child's process out of what go-plugin wants it to see.
func (g *generation) runner(ctx context.Context, wanted *exec.Cmd, socketDir string) (runner.Runner, error) {
	if err := g.root.check(socketDir); err != nil {
		return nil, err
	}
	spec, opts := g.inst.spec, g.inst.sup.opts
	home, tmp := filepath.Join(g.dir, "home"), filepath.Join(g.dir, "tmp")
	env := append(environment(opts.Env, spec, opts.SecretEnv, home, tmp), wanted.Env...)
	path, err := program(spec.Argv[0], env)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{Path: path, Args: spec.Argv, Env: env, Dir: spec.Dir}
	if cmd.Dir == "" {
		cmd.Dir = home
	}
	proc := newProcess(cmd, socketDir, &stderrReader{logger: g.log}, newStdoutReader(g.log))
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := ctx.Err(); err != nil { // kill has looked for a process already
		return nil, err
	}
	g.proc = proc
	return proc, nil
}

// initialise opens the host's side, tells the plugin of it and waits for the
// life line.
func (g *generation) initialise(ctx context.Context, token string, config []byte) error {
	ctx, cancel := context.WithTimeout(ctx, g.inst.deadlines().Initialize)
	defer cancel()
	address := filepath.Join(g.dir, "host.sock")
	listener, err := g.root.listen(address)
	if err != nil {
		return fmt.Errorf("no socket for the host's side: %w", err)
	}
	spec, opts := g.inst.spec, g.inst.sup.opts
	var granted []sdk.Capability
	for _, c := range g.info.Capabilities {
		if !spec.inspect && !slices.Contains(spec.Deny, c) {
			granted = append(granted, c)
		}
	}
	g.api = sdk.NewHostServer(sdk.HostConfig{
		Version: opts.HostVersion, Token: token, Granted: granted, Access: g.inst.access, Log: g.diagnostics,
	})
	go func() { _ = g.api.Serve(listener) }() // ends with Stop
	err = g.remote.Initialize(ctx, sdk.Setup{
		Config: config, Secrets: spec.Secrets, HostAddress: address, Token: token, Granted: granted,
		Instance: spec.Name, Generation: g.number, NotesHome: opts.NotesHome, Project: opts.NotesProject,
	})
	if err != nil {
		return fmt.Errorf("it was not initialised: %w", err)
	}
	select {
	case <-g.api.Attached():
		return nil
	case <-g.proc.exited:
		return errors.New("it ended after Initialize")
	case <-ctx.Done():
		return errors.New("it answered Initialize but did not open Control.Attach on the host's socket")
	}
}

func (g *generation) diagnostics(_ context.Context, level slog.Level, message string, fields map[string]string) {
	g.log.write(level, message, flat(fields)...)
}
