package sdk

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// closeGrace bounds what a plugin may still do when it has been told to end.
const closeGrace = 2 * time.Second

// Serve serves p until the host shuts the process down, lets go of it (Attach
// ends, or stdin does) or SIGTERM comes; then main should return. It exits with
// status 1 and a sentence on stderr where the process was not started by a host
// or p is not described right. Write nothing to stdout before it.
func Serve(p Plugin) {
	if os.Getenv(CookieKey) != CookieValue {
		fmt.Fprintf(os.Stderr, "%s is a Tureen plugin and does nothing on its own: name it in a profile, or try it with tureen plugin inspect\n", p.Name)
		os.Exit(1)
	}
	stderr := os.Stderr // go-plugin replaces the variable
	logger := slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if start := p.Start; start != nil {
		p.Start = func(ctx context.Context, init Init) (Services, error) {
			os.Stdout, os.Stderr = stderr, stderr // whatever is printed is logged, and blocks nobody
			return start(ctx, init)
		}
	}
	server, err := NewServer(p, logger)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v: mend the description that Serve is given\n", err)
		os.Exit(1)
	}

	var running *grpc.Server
	up := make(chan struct{})
	go func() {
		<-up
		waitForEnd(server)
		time.AfterFunc(closeGrace, func() { os.Exit(1) }) // whatever hangs, the process ends
		running.Stop()
	}()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: Handshake(),
		Plugins:         PluginSet(),
		GRPCServer: func(opts []grpc.ServerOption) *grpc.Server {
			running = server.GRPCServer(opts)
			forgetHandshake()
			close(up)
			return running
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: stderr, JSONFormat: true}),
	})
	time.AfterFunc(closeGrace, func() { os.Exit(1) })
	server.Close()
}

// waitForEnd returns when nobody needs this process any more.
func waitForEnd(server *Server) {
	eof := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // the host never writes; what counts is the end
		close(eof)
	}()
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	select {
	case <-server.Gone():
	case <-eof:
	case <-term:
	}
}

// forgetHandshake keeps what was meant for this process from its children.
func forgetHandshake() {
	os.Unsetenv(CookieKey)
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "PLUGIN_") {
			os.Unsetenv(name)
		}
	}
}
