// Package ask is the plugin with the tool ask_user.
package ask

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles.
const Name = "ask"

//go:embed config.json
var configSchema []byte

// Config is the plugin's config (T18).
type Config struct {
	Timed   bool          // go on without the answer after Timeout
	Timeout time.Duration // of a timed question
}

// longest is how long a call may stand at most; a question that is asked in wait
// mode is given up then.
const longest = 24 * time.Hour

// ParseConfig reads a config that fits the schema; keys that are not there keep
// their default. Errors name the key.
func ParseConfig(raw json.RawMessage) (Config, error) {
	c := Config{Timeout: 2 * time.Minute}
	var in struct {
		Mode    string `json:"mode"`
		Timeout string `json:"timeout"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return c, fmt.Errorf("read the config of plugin %q: %w", Name, err)
	}
	c.Timed = in.Mode == "timed"
	if in.Timeout == "" {
		return c, nil
	}
	d, err := time.ParseDuration(in.Timeout)
	if err != nil || d < time.Second || d > longest {
		return c, fmt.Errorf("config of plugin %q: timeout is %q; write a duration from 1s to 24h, such as \"120s\"", Name, in.Timeout)
	}
	c.Timeout = d
	return c, nil
}

// Plugin describes the plugin. It asks to reach the person.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name:         Name,
		Version:      version,
		Roles:        []sdk.Role{sdk.RoleTools},
		Capabilities: []sdk.Capability{sdk.CapUserAsk},
		ConfigSchema: configSchema,
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			config, err := ParseConfig(init.Config)
			if err != nil {
				return sdk.Services{}, sdk.BadConfig(err)
			}
			p := New(config, init.Host)
			return sdk.Services{Tools: p, Sessions: p}, nil
		},
	}
}
