package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// Remote is a plugin as its host sees it: the Go interfaces over a connection.
// Its values are safe for concurrent use. Every error is one that callers may
// branch on: *Error, ErrExited, or a context's.
type Remote struct {
	name string
	conn grpc.ClientConnInterface
	base pluginv1.BaseClient
}

// NewRemote speaks to the plugin at the other end of conn; name goes into errors.
func NewRemote(conn grpc.ClientConnInterface, name string) *Remote {
	return &Remote{name: name, conn: conn, base: pluginv1.NewBaseClient(conn)}
}

// Info is what a plugin says of itself.
type Info struct {
	Name         string          `json:"name"`
	Version      string          `json:"version"`
	SDK          string          `json:"sdk,omitempty"`
	Roles        []Role          `json:"roles"`
	Capabilities []Capability    `json:"capabilities,omitempty"`
	HookPoints   []hook.Point    `json:"hook_points,omitempty"`
	ConfigSchema json.RawMessage `json:"config_schema,omitempty"`
	Features     []string        `json:"features,omitempty"`
}

// Has tells whether the plugin offers a role.
func (i Info) Has(r Role) bool { return slices.Contains(i.Roles, r) }

// GetInfo needs no Initialize.
func (r *Remote) GetInfo(ctx context.Context) (Info, error) {
	resp, err := r.base.GetInfo(ctx, &pluginv1.GetInfoRequest{})
	if err != nil {
		return Info{}, statusError(r.name, "GetInfo", err)
	}
	info := Info{
		Name: resp.GetName(), Version: resp.GetVersion(), SDK: resp.GetSdk(),
		Capabilities: mapSlice(resp.GetCapabilities(), func(c string) Capability { return Capability(c) }),
		HookPoints:   mapSlice(resp.GetHookPoints(), func(p string) hook.Point { return hook.Point(p) }),
		ConfigSchema: resp.GetConfigSchema(), Features: resp.GetFeatures(),
	}
	for _, wire := range resp.GetRoles() {
		for role, value := range roles {
			if value == wire {
				info.Roles = append(info.Roles, role)
			}
		}
	}
	if !nameShape.MatchString(info.Name) {
		return Info{}, &Error{Code: CodeProtocol, Message: fmt.Sprintf("plugin %q calls itself %q in GetInfo, which does not match %s", r.name, info.Name, nameShape)}
	}
	return info, nil
}

// Setup is what Initialize hands over.
type Setup struct {
	Config      json.RawMessage
	Secrets     map[string]string
	HostAddress string
	Token       string
	Granted     []Capability
	Instance    string
	Generation  int
	NotesHome   string
	Project     string // what the user calls the project of the notes
}

// Initialize is called once per process.
func (r *Remote) Initialize(ctx context.Context, s Setup) error {
	resp, err := r.base.Initialize(ctx, &pluginv1.InitializeRequest{
		Config: s.Config, Secrets: s.Secrets, HostAddress: s.HostAddress, Token: s.Token,
		Capabilities: mapSlice(s.Granted, func(c Capability) string { return string(c) }),
		HostMinor:    ProtocolMinor, Instance: s.Instance, Generation: int32(s.Generation), NotesHome: s.NotesHome, NotesProject: s.Project,
	})
	return r.outcome("Initialize", resp, err)
}

// OpenSession announces a session; its Access does not travel.
func (r *Remote) OpenSession(ctx context.Context, s compaction.Session) error {
	ctx, at := newCall(ctx, s.ID, 0, 0)
	resp, err := r.base.OpenSession(ctx, &pluginv1.OpenSessionRequest{Context: at, Session: sessionTo(s)})
	return r.outcome("OpenSession", resp, err)
}

// CloseSession is idempotent.
func (r *Remote) CloseSession(ctx context.Context, id string) error {
	resp, err := r.base.CloseSession(ctx, &pluginv1.CloseSessionRequest{Session: id})
	return r.outcome("CloseSession", resp, err)
}

// Drain asks the plugin to finish within deadline.
func (r *Remote) Drain(ctx context.Context, deadline time.Duration) error {
	resp, err := r.base.Drain(ctx, &pluginv1.DrainRequest{DeadlineMs: int32(deadline.Milliseconds())})
	return r.outcome("Drain", resp, err)
}

// outcome is the error of a call: the wire's, or the one in the answer.
func (r *Remote) outcome(method string, resp interface{ GetError() *pluginv1.PluginError }, err error) error {
	if err != nil {
		return statusError(r.name, method, err)
	}
	return errorFrom(resp.GetError())
}

// broken says that the plugin did not keep to the wire contract.
func (r *Remote) broken(method, what string) error {
	return &Error{Code: CodeProtocol, Message: fmt.Sprintf("plugin %q: %s %s", r.name, method, what)}
}
