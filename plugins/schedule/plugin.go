// Package schedule is the plugin with reminders: prompts that come to a session at a
// time of their own (S8).
package schedule

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles.
const Name = "schedule"

//go:embed config.json
var configSchema []byte

// Config is the plugin's config.
type Config struct {
	Zone     *time.Location // of times of day and of cron
	Wait     time.Duration  // a run stays for what is due within it
	MaxWaits int            // for so many reminders
}

// ParseConfig reads a config that fits the schema; keys that are not there keep
// their default. Errors name the key.
func ParseConfig(raw json.RawMessage) (Config, error) {
	c := Config{Zone: time.Local, Wait: 5 * time.Minute, MaxWaits: 12}
	var in struct {
		TimeZone string `json:"time_zone"`
		Wait     string `json:"wait"`
		MaxWaits *int   `json:"max_waits"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return c, fmt.Errorf("read the config of plugin %q: %w", Name, err)
	}
	var err error
	if in.TimeZone != "" {
		if c.Zone, err = time.LoadLocation(in.TimeZone); err != nil {
			return c, fmt.Errorf("config of plugin %q: time_zone is %q, which this machine does not know; write a name such as \"Europe/Berlin\" or \"UTC\"", Name, in.TimeZone)
		}
	}
	if in.Wait != "" {
		if c.Wait, err = time.ParseDuration(in.Wait); err != nil || c.Wait < 0 {
			return c, fmt.Errorf("config of plugin %q: wait is %q; write a duration such as \"5m\", or \"0s\"", Name, in.Wait)
		}
	}
	if in.MaxWaits != nil {
		c.MaxWaits = *in.MaxWaits
	}
	return c, nil
}

// Plugin describes the plugin.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name:         Name,
		Version:      version,
		Roles:        []sdk.Role{sdk.RoleTools, sdk.RoleHooks, sdk.RoleCommands},
		Capabilities: []sdk.Capability{sdk.CapSessionRead, sdk.CapSessionSteer, sdk.CapRecordsWrite},
		HookPoints:   []hook.Point{hook.Idle},
		ConfigSchema: configSchema,
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			config, err := ParseConfig(init.Config)
			if err != nil {
				return sdk.Services{}, sdk.BadConfig(err)
			}
			p := New(config, init.Host, init.Logger)
			return sdk.Services{Tools: p, Hooks: p, Commands: p, Sessions: p, Close: p.Stop}, nil
		},
	}
}
