package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// Server serves one Plugin to one host: what Serve runs in a process of its own
// and plugintest within a test.
type Server struct {
	plugin Plugin
	logger *slog.Logger

	mu       sync.Mutex
	phase    phase
	services Services
	host     *hostClient
	inflight int
	idle     chan struct{} // closed when inflight falls to 0 while draining
	gone     chan struct{} // closed when the host is gone
	once     sync.Once
}

type phase int

const (
	phaseFresh phase = iota
	phaseStarting
	phaseReady
	phaseDraining
)

var nameShape = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// NewServer checks the description of p. Lines of the plugin's logger go to logger.
func NewServer(p Plugin, logger *slog.Logger) (*Server, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return &Server{plugin: p, logger: logger, gone: make(chan struct{})}, nil
}

func (p Plugin) check() error {
	hooks := slices.Contains(p.Roles, RoleHooks)
	switch {
	case !nameShape.MatchString(p.Name):
		return fmt.Errorf("plugin name %q does not match %s", p.Name, nameShape)
	case p.Version == "":
		return fmt.Errorf("plugin %q has no version", p.Name)
	case p.Start == nil:
		return fmt.Errorf("plugin %q has no Start function", p.Name)
	case hooks != (len(p.HookPoints) > 0):
		return fmt.Errorf("plugin %q: role %q and hook points go together", p.Name, RoleHooks)
	case len(p.ConfigSchema) > 0 && !json.Valid(p.ConfigSchema):
		return fmt.Errorf("plugin %q: the config schema is not JSON", p.Name)
	}
	for _, role := range p.Roles {
		if _, ok := roles[role]; !ok {
			return fmt.Errorf("plugin %q declares an unknown role %q", p.Name, role)
		}
	}
	return nil
}

// GRPCServer makes a server with the plugin's services. Its signature is the
// one that go-plugin asks for.
func (s *Server) GRPCServer(opts []grpc.ServerOption) *grpc.Server {
	g := grpc.NewServer(append(opts,
		grpc.MaxRecvMsgSize(MaxMessage),
		grpc.ChainUnaryInterceptor(s.unary),
		grpc.ChainStreamInterceptor(s.stream),
	)...)
	pluginv1.RegisterBaseServer(g, &baseServer{s: s})
	for _, role := range s.plugin.Roles {
		switch role {
		case RoleStrategy:
			pluginv1.RegisterStrategyServer(g, &strategyServer{s: s})
		case RoleTools:
			pluginv1.RegisterToolsServer(g, &toolsServer{s: s})
		case RolePrompt:
			pluginv1.RegisterPromptServer(g, &promptServer{s: s})
		case RoleHooks:
			pluginv1.RegisterHooksServer(g, &hooksServer{s: s})
		case RoleCommands:
			pluginv1.RegisterCommandsServer(g, &commandsServer{s: s})
		}
	}
	return g
}

// Gone is closed when the host has let go of the plugin: Attach ended.
func (s *Server) Gone() <-chan struct{} { return s.gone }

func (s *Server) hostGone() { s.once.Do(func() { close(s.gone) }) }

// Close lets go of the host and calls the plugin's Close, once.
func (s *Server) Close() {
	s.mu.Lock()
	host, services := s.host, s.services
	s.host, s.services = nil, Services{}
	s.mu.Unlock()
	if services.Close != nil {
		_, err := protect(func() (struct{}, error) { services.Close(); return struct{}{}, nil })
		if err != nil {
			s.logger.Error("close failed", "error", err)
		}
	}
	if host != nil {
		host.close()
	}
}

// begin admits a request of a role; end must follow where it does.
func (s *Server) begin(method string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.phase {
	case phaseFresh, phaseStarting:
		return status.Errorf(codes.FailedPrecondition, "%s before Initialize", method)
	case phaseDraining:
		return status.Errorf(codes.FailedPrecondition, "%s: the plugin is draining", method)
	}
	s.inflight++
	return nil
}

func (s *Server) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inflight--
	if s.inflight == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// drain refuses new requests and waits for those under way.
func (s *Server) drain(ctx context.Context) error {
	s.mu.Lock()
	if s.phase == phaseReady {
		s.phase = phaseDraining
	}
	if s.inflight == 0 {
		s.mu.Unlock()
		return nil
	}
	if s.idle == nil {
		s.idle = make(chan struct{})
	}
	idle := s.idle
	s.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return errors.New("requests are still under way")
	}
}

func (s *Server) use() Services {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.services
}

// failure makes the wire's error; a panic's stack goes to the plugin's log.
func (s *Server) failure(err error) *pluginv1.PluginError {
	var own *Error
	if errors.As(err, &own) && own.Code == CodePanic {
		s.logger.Error(own.Message, "stack", own.Detail)
	}
	return errorTo(err)
}

func (s *Server) hostAccess() *hostClient {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.host
}

// counted tells whether a method belongs to a role, so that it needs Initialize
// and holds Drain up.
func counted(method string) bool {
	return strings.HasPrefix(method, "/tureen.plugin.v1.") && !strings.HasPrefix(method, "/tureen.plugin.v1.Base/")
}

func (s *Server) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if counted(info.FullMethod) {
		if err := s.begin(info.FullMethod); err != nil {
			return nil, err
		}
		defer s.end()
	}
	if in, ok := req.(interface {
		GetContext() *pluginv1.CallContext
	}); ok {
		ctx = withInvocation(ctx, in.GetContext().GetInvocationId())
	}
	resp, err := protect(func() (any, error) { return next(ctx, req) })
	if err == nil {
		err = checkSize(info.FullMethod, resp)
	}
	return resp, err
}

func (s *Server) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if counted(info.FullMethod) {
		if err := s.begin(info.FullMethod); err != nil {
			return err
		}
		defer s.end()
	}
	_, err := protect(func() (struct{}, error) { return struct{}{}, next(srv, stream) })
	return err
}
