package sdk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tureen-host/tureen/host/hook"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

var roles = map[Role]pluginv1.Role{
	RoleStrategy: pluginv1.Role_ROLE_STRATEGY,
	RoleTools:    pluginv1.Role_ROLE_TOOLS,
	RolePrompt:   pluginv1.Role_ROLE_PROMPT,
	RoleHooks:    pluginv1.Role_ROLE_HOOKS,
	RoleCommands: pluginv1.Role_ROLE_COMMANDS,
}

type baseServer struct {
	pluginv1.UnimplementedBaseServer
	s *Server
}

func (b *baseServer) GetInfo(context.Context, *pluginv1.GetInfoRequest) (*pluginv1.GetInfoResponse, error) {
	p := b.s.plugin
	return &pluginv1.GetInfoResponse{
		Name: p.Name, Version: p.Version, Sdk: "tureen sdk, " + runtime.Version(),
		Roles:        mapSlice(p.Roles, func(r Role) pluginv1.Role { return roles[r] }),
		Capabilities: mapSlice(p.Capabilities, func(c Capability) string { return string(c) }),
		ConfigSchema: p.ConfigSchema,
		HookPoints:   mapSlice(p.HookPoints, func(h hook.Point) string { return string(h) }),
	}, nil
}

func (b *baseServer) Initialize(ctx context.Context, req *pluginv1.InitializeRequest) (*pluginv1.InitializeResponse, error) {
	b.s.mu.Lock()
	if b.s.phase != phaseFresh {
		b.s.mu.Unlock()
		return nil, status.Error(codes.FailedPrecondition, "Initialize is called once per process")
	}
	b.s.phase = phaseStarting
	b.s.mu.Unlock()

	host, err := dialHost(ctx, req.GetHostAddress(), req.GetToken(), b.s.hostGone)
	if err != nil {
		return nil, status.Errorf(codes.Internal, "the host does not answer: %v", err)
	}
	b.s.mu.Lock()
	b.s.host = host
	b.s.mu.Unlock()

	services, err := protect(func() (Services, error) { return b.s.plugin.Start(ctx, b.init(req, host)) })
	if err == nil {
		err = services.missing(b.s.plugin.Roles)
	}
	if err != nil {
		return &pluginv1.InitializeResponse{Error: b.s.failure(err)}, nil
	}
	b.s.mu.Lock()
	b.s.services, b.s.phase = services, phaseReady
	b.s.mu.Unlock()
	return &pluginv1.InitializeResponse{}, nil
}

func (b *baseServer) init(req *pluginv1.InitializeRequest, host *hostClient) Init {
	config := json.RawMessage(bytes.Clone(req.GetConfig()))
	if len(config) == 0 {
		config = json.RawMessage("{}")
	}
	return Init{
		Config: config, Secrets: maps.Clone(req.GetSecrets()), NotesHome: req.GetNotesHome(), NotesProject: req.GetNotesProject(),
		Instance: req.GetInstance(), Generation: int(req.GetGeneration()),
		Granted: mapSlice(req.GetCapabilities(), func(c string) Capability { return Capability(c) }),
		Host:    host, Logger: b.s.logger,
	}
}

func (v Services) missing(declared []Role) error {
	has := map[Role]bool{
		RoleStrategy: v.Strategy != nil, RoleTools: v.Tools != nil, RolePrompt: v.Prompt != nil, RoleHooks: v.Hooks != nil,
		RoleCommands: v.Commands != nil,
	}
	i := slices.IndexFunc(declared, func(r Role) bool { return !has[r] })
	if i >= 0 {
		return fmt.Errorf("role %q is declared, but Start returned no service for it", declared[i])
	}
	return nil
}

func (b *baseServer) OpenSession(ctx context.Context, req *pluginv1.OpenSessionRequest) (*pluginv1.OpenSessionResponse, error) {
	if err := b.s.begin("OpenSession"); err != nil {
		return nil, err
	}
	defer b.s.end()
	sessions := b.s.use().Sessions
	if sessions == nil {
		return &pluginv1.OpenSessionResponse{}, nil
	}
	info := req.GetSession()
	_, err := protect(func() (struct{}, error) {
		return struct{}{}, sessions.Open(ctx, sessionFrom(info, b.s.hostAccess().Session(info.GetId())))
	})
	return &pluginv1.OpenSessionResponse{Error: b.s.failure(err)}, nil
}

func (b *baseServer) CloseSession(ctx context.Context, req *pluginv1.CloseSessionRequest) (*pluginv1.CloseSessionResponse, error) {
	sessions := b.s.use().Sessions
	if sessions == nil {
		return &pluginv1.CloseSessionResponse{}, nil
	}
	_, err := protect(func() (struct{}, error) { sessions.Close(ctx, req.GetSession()); return struct{}{}, nil })
	return &pluginv1.CloseSessionResponse{Error: b.s.failure(err)}, nil
}

func (b *baseServer) Drain(ctx context.Context, req *pluginv1.DrainRequest) (*pluginv1.DrainResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(req.GetDeadlineMs())*time.Millisecond)
	defer cancel()
	return &pluginv1.DrainResponse{Error: errorTo(b.s.drain(ctx))}, nil
}
