// Package plugintest runs a plugin inside a test, over the real wire: two
// servers on Unix sockets, a token, grants and the life line, as a host has
// them. Only the process of its own and the check of the config against the
// plugin's schema are missing.
package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
)

const (
	token     = "plugintest"
	startTime = 20 * time.Second
)

// Host is what the plugin is given.
type Host struct {
	Config    json.RawMessage // nil = {}
	Secrets   map[string]string
	NotesHome string
	Project   string // Init.NotesProject
	Deny      []sdk.Capability
	// Sessions are announced after the start, in order. Their Access is what the
	// plugin reaches; it may be nil where the plugin reads nothing.
	Sessions []compaction.Session
}

// Plugin is the running plugin: its services through Remote, what it says of
// itself in Info.
type Plugin struct {
	*sdk.Remote
	Info sdk.Info

	mu   sync.Mutex
	lent map[string]session.Access
	end  func() // once
}

// Open announces a session and returns the strategy, for one that came after the start.
func (p *Plugin) Open(ctx context.Context, s compaction.Session) (compaction.Strategy, error) {
	p.lend(s)
	return p.Strategy(), p.OpenSession(ctx, s)
}

// Close ends a session that Open announced.
func (p *Plugin) Close(ctx context.Context, id string) {
	_ = p.CloseSession(ctx, id)
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.lent, id)
}

// Stop lets the plugin finish what it does, then ends it before its test does.
func (p *Plugin) Stop(ctx context.Context) error {
	err := p.Drain(ctx, startTime)
	p.end()
	return err
}

// Kill cuts the connections.
func (p *Plugin) Kill() error { p.end(); return nil }

// Run starts p until the test ends. The test fails at once where it does not start.
func Run(t testing.TB, p sdk.Plugin, h Host) *Plugin {
	t.Helper()
	running, err := Start(t, p, h)
	if err != nil {
		t.Fatalf("plugin %q: %v", p.Name, err)
	}
	return running
}

// Start is Run for tests of a start that fails: the error is the plugin's.
func Start(t testing.TB, p sdk.Plugin, h Host) (*Plugin, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTime)
	defer cancel()
	dir, err := os.MkdirTemp("", "tpt") // t.TempDir is too long for a socket
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })

	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	server, err := sdk.NewServer(p, logger)
	if err != nil {
		return nil, err
	}
	served := server.GRPCServer(nil)
	running := &Plugin{lent: map[string]session.Access{}}
	lent := sdk.NewHostServer(sdk.HostConfig{Version: "test", Token: token, Granted: granted(p, h), Access: running.access})
	pluginAddress, hostAddress := filepath.Join(dir, "plugin"), filepath.Join(dir, "host")
	if err := errors.Join(serve(served, pluginAddress), serve(lent, hostAddress)); err != nil {
		return nil, err
	}
	conn, err := grpc.NewClient("unix:"+pluginAddress,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUnaryInterceptor(beginUnary(lent)), grpc.WithStreamInterceptor(beginStream(lent)))
	if err != nil {
		return nil, err
	}
	running.end = sync.OnceFunc(func() {
		_ = conn.Close()
		served.Stop()
		server.Close()
		lent.Stop()
	})
	t.Cleanup(running.end)

	running.Remote = sdk.NewRemote(conn, p.Name)
	if running.Info, err = running.GetInfo(ctx); err != nil {
		return nil, err
	}
	err = running.Initialize(ctx, sdk.Setup{
		Config: h.Config, Secrets: h.Secrets, HostAddress: hostAddress, Token: token, Granted: granted(p, h),
		Instance: p.Name, Generation: 1, NotesHome: h.NotesHome, Project: h.Project,
	})
	if err != nil {
		return nil, err
	}
	for _, s := range h.Sessions {
		running.lend(s)
	}
	for _, s := range h.Sessions {
		if err := running.OpenSession(ctx, s); err != nil {
			return nil, fmt.Errorf("session %q: %w", s.ID, err)
		}
	}
	return running, nil
}

func (p *Plugin) lend(s compaction.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lent[s.ID] = s.Access
}

func (p *Plugin) access(id string) (session.Access, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := p.lent[id]; a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("the test lends no session %q: %w", id, session.ErrNotFound)
}

func granted(p sdk.Plugin, h Host) []sdk.Capability {
	return slices.DeleteFunc(slices.Clone(p.Capabilities), func(c sdk.Capability) bool { return slices.Contains(h.Deny, c) })
}

func serve(s interface{ Serve(net.Listener) error }, address string) error {
	l, err := net.Listen("unix", address)
	if err != nil {
		return err
	}
	go func() { _ = s.Serve(l) }() // ends with Stop
	return nil
}

// beginUnary admits the host calls that the plugin makes on behalf of a request.
func beginUnary(lent *sdk.HostServer) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		end, _ := lent.Begin(sdk.Invocation(ctx))
		defer end()
		return invoke(ctx, method, req, reply, cc, opts...)
	}
}

func beginStream(lent *sdk.HostServer) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		end, _ := lent.Begin(sdk.Invocation(ctx))
		context.AfterFunc(ctx, end) // the caller ends its context
		return open(ctx, desc, cc, method, opts...)
	}
}
