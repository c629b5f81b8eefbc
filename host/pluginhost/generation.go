package pluginhost

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"github.com/hashicorp/go-plugin/runner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// generation is one process of a plugin, from exec to the removed directory. It
// is also the connection to it: every call gets its deadline, its invocation
// and, where the process is gone, an error that says so.
type generation struct {
	inst   *Instance
	number int
	dir    string
	log    *limitedLog
	proc   *process
	client *goplugin.Client
	conn   *grpc.ClientConn
	remote *sdk.Remote
	api    *sdk.HostServer
	info   sdk.Info

	calls atomic.Int32 // under way
	mu    sync.Mutex
	cause string // why we killed it, "" = it ended by itself
	once  sync.Once
}

// startGeneration brings a process up to READY: handshake, GetInfo, config,
// Initialize, Attach. Where it fails nothing is left.
func (i *Instance) startGeneration(ctx context.Context, number int) (*generation, error) {
	dir, err := i.sup.newDir(i.number, number)
	if err != nil {
		return nil, err
	}
	g := &generation{inst: i, number: number, dir: dir}
	if err := g.start(ctx); err != nil {
		err = g.explain(err)
		g.kill("")
		g.release()
		return nil, err
	}
	return g, nil
}

func (g *generation) start(ctx context.Context) error {
	token, err := newToken()
	if err != nil {
		return err
	}
	g.log = newLimitedLog(g.inst.sup.opts.Logger.With("plugin", g.inst.spec.Name, "generation", g.number), g.secrets(token))
	if err := g.handshake(ctx); err != nil {
		return err
	}
	g.remote = sdk.NewRemote(g, g.inst.spec.Name)
	if g.info, err = g.remote.GetInfo(ctx); err != nil {
		return err
	}
	if err := g.inst.recognise(g.info); err != nil {
		return err
	}
	config, err := checkConfig(g.inst.spec, g.info)
	if err != nil {
		return err
	}
	return g.initialise(ctx, token, config)
}

// handshake runs the child and connects to the server that it announces.
func (g *generation) handshake(ctx context.Context) error {
	g.client = goplugin.NewClient(&goplugin.ClientConfig{
		HandshakeConfig:  sdk.Handshake(),
		VersionedPlugins: map[int]goplugin.PluginSet{sdk.ProtocolVersion: sdk.PluginSet()},
		AllowedProtocols: []goplugin.Protocol{goplugin.ProtocolGRPC},
		StartTimeout:     2 * g.inst.deadlines().Handshake, // ours comes first
		SkipHostEnv:      true,
		UnixSocketConfig: &goplugin.UnixSocketConfig{TempDir: g.dir},
		RunnerFunc:       g.runner,
		Logger:           hclog.NewNullLogger(),
		SyncStdout:       g.log,
		SyncStderr:       g.log,
		GRPCDialOptions: []grpc.DialOption{
			grpc.WithIdleTimeout(0),
			grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(sdk.MaxMessage), grpc.MaxCallSendMsgSize(sdk.SendLimit)),
		},
	})
	type answer struct {
		client goplugin.ClientProtocol
		err    error
	}
	done := make(chan answer, 1)
	go func() {
		client, err := g.client.Client()
		done <- answer{client, err}
	}()
	limit := time.NewTimer(g.inst.deadlines().Handshake)
	defer limit.Stop()
	var stopped error
	for {
		select {
		case a := <-done:
			if stopped == nil {
				stopped = a.err
			}
			if stopped != nil {
				return stopped
			}
			client, ok := a.client.(*goplugin.GRPCClient)
			if !ok {
				return errors.New("the plugin does not speak gRPC")
			}
			g.conn = client.Conn
			return nil
		case <-ctx.Done():
			stopped = ctx.Err()
		case <-limit.C:
			stopped = errNoHandshake
		}
		g.kill("") // which ends the wait for done
		ctx = context.WithoutCancel(ctx)
	}
}

// runner makes the child's process out of what go-plugin wants it to see.
func (g *generation) runner(_ hclog.Logger, wanted *exec.Cmd, socketDir string) (runner.Runner, error) {
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
	g.proc = proc
	return proc, nil
}

// initialise opens the host's side, tells the plugin of it and waits for the
// life line.
func (g *generation) initialise(ctx context.Context, token string, config []byte) error {
	ctx, cancel := context.WithTimeout(ctx, g.inst.deadlines().Initialize)
	defer cancel()
	address := filepath.Join(g.dir, "host.sock")
	listener, err := listenPrivate(address)
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
		Instance: spec.Name, Generation: g.number, NotesHome: opts.NotesHome,
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
	args := make([]any, 0, 2*len(fields))
	for k, v := range fields {
		args = append(args, k, v)
	}
	g.log.write(level, message, args...)
}

// watchHealth ends a process that does not answer while nothing is asked of it.
func (g *generation) watchHealth() {
	d := g.inst.deadlines()
	health := grpc_health_v1.NewHealthClient(g.conn)
	ticks := time.NewTicker(d.HealthEvery)
	defer ticks.Stop()
	for missed := 0; missed < 2; {
		select {
		case <-g.proc.exited:
			return
		case <-ticks.C:
		}
		if g.calls.Load() > 0 {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), d.Health)
		_, err := health.Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: goplugin.GRPCServiceName})
		cancel()
		if missed++; err == nil {
			missed = 0
		}
	}
	g.kill("it did not answer two health checks")
}

// gone tells whether the process has ended.
func (g *generation) gone() bool {
	select {
	case <-g.proc.exited:
		return true
	default:
		return false
	}
}

// ending is how it ended: our reason, the exit status, the last word on stderr.
func (g *generation) ending() string {
	g.mu.Lock()
	text := g.cause
	g.mu.Unlock()
	if text != "" {
		text += "; "
	}
	text += g.proc.outcome()
	if lines := g.proc.err.last(); len(lines) > 0 {
		text += ": " + lines[len(lines)-1]
	}
	return text
}

// secrets are what must not stand in a log.
func (g *generation) secrets(token string) []string {
	secrets := []string{token}
	for _, value := range g.inst.spec.Secrets {
		secrets = append(secrets, value)
	}
	return secrets
}

func newToken() (string, error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}

func (s *Supervisor) newDir(instance, number int) (string, error) {
	s.mu.Lock()
	root := s.root
	s.mu.Unlock()
	if root == nil {
		return "", errClosed
	}
	return root.generation(instance, number)
}

// release gives back what the host holds of an ended process.
func (g *generation) release() {
	g.once.Do(func() {
		if g.api != nil {
			g.api.Stop()
		}
		if g.client != nil {
			done := make(chan struct{})
			go func() { g.client.Kill(); close(done) }() // has no deadline of its own
			select {
			case <-done:
			case <-time.After(g.inst.deadlines().Kill):
			}
		}
		if err := os.RemoveAll(g.dir); err != nil {
			g.inst.sup.opts.Logger.Warn("a plugin's directory stays", "dir", g.dir, "error", err)
		}
	})
}
