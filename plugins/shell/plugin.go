// Package shell is the plugin with the tool shell.
package shell

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles, and the tool's.
const Name = "shell"

//go:embed config.json
var configSchema []byte

// Config is the plugin's config (T8).
type Config struct {
	Timeout        time.Duration // of a call that names none
	MaxTimeout     time.Duration // the longest a call may ask for
	MaxOutputBytes int           // kept of each stream, its end
}

// DefaultConfig is what counts where the profile says nothing.
func DefaultConfig() Config {
	return Config{Timeout: time.Minute, MaxTimeout: 10 * time.Minute, MaxOutputBytes: 64_000}
}

// ParseConfig reads a config that fits the schema; keys that are not there keep
// their default. Errors name the key.
func ParseConfig(raw json.RawMessage) (Config, error) {
	c := DefaultConfig()
	var in struct {
		Timeout        string `json:"timeout"`
		MaxTimeout     string `json:"max_timeout"`
		MaxOutputBytes *int   `json:"max_output_bytes"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return c, fmt.Errorf("read the config of plugin %q: %w", Name, err)
	}
	for _, d := range []struct {
		key, text string
		to        *time.Duration
	}{{"timeout", in.Timeout, &c.Timeout}, {"max_timeout", in.MaxTimeout, &c.MaxTimeout}} {
		if d.text == "" {
			continue
		}
		v, err := time.ParseDuration(d.text)
		if err != nil || v < time.Millisecond {
			return c, fmt.Errorf("config of plugin %q: %s is %q; write a duration from 1ms up, such as \"90s\"", Name, d.key, d.text)
		}
		*d.to = v
	}
	if in.MaxTimeout == "" {
		c.MaxTimeout = max(c.MaxTimeout, c.Timeout)
	}
	if in.Timeout == "" {
		c.Timeout = min(c.Timeout, c.MaxTimeout)
	}
	if c.Timeout > c.MaxTimeout {
		return c, fmt.Errorf("config of plugin %q: timeout %s is longer than max_timeout %s; raise one or lower the other", Name, c.Timeout, c.MaxTimeout)
	}
	if in.MaxOutputBytes != nil {
		c.MaxOutputBytes = *in.MaxOutputBytes
	}
	return c, nil
}

// Plugin describes the plugin. It asks for no capability.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name:         Name,
		Version:      version,
		Roles:        []sdk.Role{sdk.RoleTools},
		ConfigSchema: configSchema,
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			config, err := ParseConfig(init.Config)
			if err != nil {
				return sdk.Services{}, err
			}
			p, err := New(config)
			if err != nil {
				return sdk.Services{}, err
			}
			return sdk.Services{Tools: p, Sessions: p, Close: p.Stop}, nil
		},
	}
}
