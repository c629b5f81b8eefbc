// Package sdk is what a Go author imports to write a plugin: describe it in a
// Plugin and hand that to Serve.
package sdk

import (
	"context"
	"encoding/json"
	"log/slog"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// Role is a service that a plugin offers.
type Role string

const (
	RoleStrategy Role = "strategy"
	RoleTools    Role = "tools"
	RolePrompt   Role = "prompt"
	RoleHooks    Role = "hooks"
	RoleCommands Role = "commands"
)

// Capability is a service of the host that a plugin asks for.
type Capability string

const (
	CapSessionRead   Capability = "session.read"
	CapSessionSteer  Capability = "session.steer"
	CapSessionSpawn  Capability = "session.spawn"
	CapUserAsk       Capability = "user.ask"
	CapModelGenerate Capability = "model.generate"
	CapRecordsWrite  Capability = "records.write"
)

// Plugin describes a plugin. It must be the same each time it is asked.
type Plugin struct {
	Name         string // [a-z0-9][a-z0-9_-]{0,63}
	Version      string
	Roles        []Role
	Capabilities []Capability
	HookPoints   []hook.Point
	// ConfigSchema is the JSON Schema of the config, nil where there is none.
	ConfigSchema json.RawMessage
	// Start is called once, by Initialize, with a config that fits the schema.
	Start func(ctx context.Context, init Init) (Services, error)
}

// Init is what a plugin gets to start with.
type Init struct {
	Config    json.RawMessage // a JSON object, never nil
	Secrets   map[string]string
	NotesHome string // absolute path
	// NotesProject is what the user calls the project that notes belong to, "" = find out.
	NotesProject string
	Instance     string
	Generation   int
	Granted      []Capability
	Host         Host
	Logger       *slog.Logger // its lines go to the host
}

// Host is the host's side, as lent to this process. Calls may be made from
// within a request (they are then charged to it) or outside of one.
type Host interface {
	Session(id string) session.Access
}

// Services are the implementations of the declared roles; the others are nil.
type Services struct {
	Strategy compaction.Strategy
	Tools    tool.Provider
	Prompt   prompt.Provider
	Hooks    hook.Hooks
	Commands command.Provider
	// Sessions, where not nil, hears of sessions.
	Sessions Sessions
	// Close, where not nil, is called when the process ends in good order.
	Close func()
}

// Sessions hears of the sessions that the process serves. Open is called again
// when what it says changed.
type Sessions interface {
	Open(ctx context.Context, s compaction.Session) error
	Close(ctx context.Context, id string)
}
