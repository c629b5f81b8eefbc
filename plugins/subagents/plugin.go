// Package subagents is the plugin with the tools that start subagents, talk to them
// and end them (S1, S4, S5).
package subagents

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles.
const Name = "subagents"

//go:embed config.json
var configSchema []byte

// Config is the plugin's config. All limits are of one tree: a session of a
// person's own and the subagents below it, at every depth.
type Config struct {
	MaxDepth  int `json:"max_depth"`  // levels below the person's own session
	MaxActive int `json:"max_active"` // at work at once
	MaxTotal  int `json:"max_total"`  // ever started
}

// DefaultConfig is what counts where the profile says nothing.
func DefaultConfig() Config { return Config{MaxDepth: 1, MaxActive: 8, MaxTotal: 64} }

// ParseConfig reads a config that fits the schema; keys that are not there keep
// their default.
func ParseConfig(raw json.RawMessage) (Config, error) {
	c := DefaultConfig()
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("read the config of plugin %q: %w", Name, err)
	}
	return c, nil
}

// Plugin describes the plugin.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name:         Name,
		Version:      version,
		Roles:        []sdk.Role{sdk.RoleTools, sdk.RolePrompt, sdk.RoleHooks, sdk.RoleCommands},
		Capabilities: []sdk.Capability{sdk.CapSessionRead, sdk.CapSessionSpawn, sdk.CapRecordsWrite},
		HookPoints:   []hook.Point{hook.TurnStopping},
		ConfigSchema: configSchema,
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			config, err := ParseConfig(init.Config)
			if err != nil {
				return sdk.Services{}, sdk.BadConfig(err)
			}
			p := New(config, init.Host)
			return sdk.Services{Tools: p, Prompt: p, Hooks: p, Commands: p, Sessions: p}, nil
		},
	}
}
