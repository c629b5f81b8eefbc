// Package planning is the plugin that keeps an agent at its work: a todo list that
// survives a compaction (P1, K4), a plan mode (P2), and a goal that goes on round
// after round until it is reached or stops (P3 to P6).
package planning

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles.
const Name = "planning"

//go:embed config.json
var configSchema []byte

// Config is the plugin's config.
type Config struct {
	Nudges    int // reminders of open todos in a row (P1)
	MaxRounds int // rounds of a goal (P4)
}

// DefaultConfig is what counts where the profile says nothing.
func DefaultConfig() Config { return Config{Nudges: 2, MaxRounds: 256} }

// ParseConfig reads a config that fits the schema; keys that are not there keep
// their default.
func ParseConfig(raw json.RawMessage) (Config, error) {
	c := DefaultConfig()
	var in struct {
		Nudges    *int `json:"nudges"`
		MaxRounds *int `json:"max_rounds"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return c, fmt.Errorf("read the config of plugin %q: %w", Name, err)
	}
	if in.Nudges != nil {
		c.Nudges = *in.Nudges
	}
	if in.MaxRounds != nil {
		c.MaxRounds = *in.MaxRounds
	}
	if c.Nudges < 0 || c.MaxRounds < 1 {
		return c, fmt.Errorf("config of plugin %q: nudges is %d and max_rounds %d; write at least 0 and 1", Name, c.Nudges, c.MaxRounds)
	}
	return c, nil
}

// Plugin describes the plugin. All that it knows stands in records of the session,
// but for whether a goal is armed, which no restart outlives.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name:         Name,
		Version:      version,
		Roles:        []sdk.Role{sdk.RoleTools, sdk.RolePrompt, sdk.RoleHooks, sdk.RoleCommands},
		Capabilities: []sdk.Capability{sdk.CapSessionRead, sdk.CapSessionSteer, sdk.CapRecordsWrite, sdk.CapUserAsk},
		HookPoints:   (*Planner)(nil).Points(),
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
