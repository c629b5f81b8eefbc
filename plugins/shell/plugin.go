// Package shell is the plugin with the tool shell and the tools of the background
// jobs that it starts.
package shell

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles, and the tool's.
const Name = "shell"

//go:embed config.json
var configSchema []byte

// Config is the plugin's config (T8, T9).
type Config struct {
	Timeout        time.Duration // of a call that names none
	MaxTimeout     time.Duration // the longest a call may ask for
	MaxOutputBytes int64         // kept of each stream, half of it from the start and half from the end
	Jobs           bool          // whether commands may go on in the background
	MaxJobs        int           // how many of a session may run at once
	Wait           time.Duration // how long a run waits for jobs while nothing happens, 0 = not at all
}

// DefaultConfig is what counts where the profile says nothing.
func DefaultConfig() Config {
	return Config{Timeout: time.Minute, MaxTimeout: 10 * time.Minute, MaxOutputBytes: 32_000_000, Jobs: true, MaxJobs: 10, Wait: 30 * time.Minute}
}

// ParseConfig reads a config that fits the schema; keys that are not there keep
// their default. Errors name the key.
func ParseConfig(raw json.RawMessage) (Config, error) {
	c := DefaultConfig()
	var in struct {
		Timeout        string `json:"timeout"`
		MaxTimeout     string `json:"max_timeout"`
		MaxOutputBytes *int64 `json:"max_output_bytes"`
		Jobs           *bool  `json:"jobs"`
		MaxJobs        *int   `json:"max_jobs"`
		Wait           string `json:"wait"`
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
	if in.Wait != "" {
		v, err := time.ParseDuration(in.Wait)
		if err != nil || v < 0 {
			return c, fmt.Errorf("config of plugin %q: wait is %q; write a duration such as \"30m\", or \"0s\" for no waiting", Name, in.Wait)
		}
		c.Wait = v
	}
	take(&c.MaxOutputBytes, in.MaxOutputBytes)
	take(&c.Jobs, in.Jobs)
	take(&c.MaxJobs, in.MaxJobs)
	return c, nil
}

func take[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// jobsNeed is what jobs are not possible without: a model that is promised to hear
// of a job's end has to.
var jobsNeed = []sdk.Capability{sdk.CapSessionRead, sdk.CapSessionSteer, sdk.CapRecordsWrite}

// Plugin describes the plugin.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name:         Name,
		Version:      version,
		Roles:        []sdk.Role{sdk.RoleTools, sdk.RoleHooks},
		Capabilities: jobsNeed,
		HookPoints:   []hook.Point{hook.BeforeStep, hook.Idle},
		ConfigSchema: configSchema,
		Start:        start,
	}
}

func start(_ context.Context, init sdk.Init) (sdk.Services, error) {
	config, err := ParseConfig(init.Config)
	if err != nil {
		return sdk.Services{}, sdk.BadConfig(err)
	}
	if init.Logger == nil {
		init.Logger = slog.New(slog.DiscardHandler)
	}
	missing := slices.ContainsFunc(jobsNeed, func(c sdk.Capability) bool { return !slices.Contains(init.Granted, c) })
	if missing && config.Jobs {
		init.Logger.Info("there are no background jobs: they need the capabilities session.read, session.steer and records.write; do not deny them, or set jobs = false")
	}
	config.Jobs = config.Jobs && !missing
	p, err := New(config)
	if err != nil {
		return sdk.Services{}, err
	}
	p.host, p.logger, p.restarted = init.Host, init.Logger, init.Generation > 1
	return sdk.Services{Tools: p, Sessions: p, Hooks: &idle{p: p}, Close: p.Stop}, nil
}
