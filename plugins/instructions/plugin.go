// Package instructions is the plugin that tells the model what stands in files for
// it: workspace instructions (SP6) and skills (SP7, T20), and what time it is (SP5).
package instructions

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles.
const Name = "instructions"

//go:embed config.json
var configSchema []byte

// Config is the plugin's config.
type Config struct {
	UserFile   string // absolute, "" = none
	UserSkills string // absolute, "" = none
	MaxBytes   int    // of the message with the instructions
	Skills     bool
	Time       bool
	Zone       *time.Location
	TimeEvery  time.Duration // 0 = each time it is asked for
}

// ParseConfig reads a config that fits the schema; keys that are not there keep
// their default. The user's own files stand beside the notes home: plugins have no
// other way to the user's home. Errors name the key.
func ParseConfig(raw json.RawMessage, notesHome string) (Config, error) {
	c := Config{MaxBytes: 64 << 10, Skills: true, Time: true, Zone: time.Local, TimeEvery: 10 * time.Minute}
	if notesHome != "" {
		c.UserFile, c.UserSkills = filepath.Join(filepath.Dir(notesHome), "AGENTS.md"), filepath.Join(filepath.Dir(notesHome), "skills")
	}
	var in struct {
		UserFile   *string `json:"user_file"`
		UserSkills *string `json:"user_skills"`
		MaxBytes   *int    `json:"max_bytes"`
		Skills     *bool   `json:"skills"`
		Time       *bool   `json:"time"`
		TimeZone   string  `json:"time_zone"`
		TimeEvery  string  `json:"time_every"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return c, fmt.Errorf("read the config of plugin %q: %w", Name, err)
	}
	for _, p := range []struct {
		key string
		in  *string
		to  *string
	}{{"user_file", in.UserFile, &c.UserFile}, {"user_skills", in.UserSkills, &c.UserSkills}} {
		if p.in == nil {
			continue
		}
		if *p.to = *p.in; *p.to != "" && !filepath.IsAbs(*p.to) {
			return c, fmt.Errorf("config of plugin %q: %s is %q; write an absolute path, \"~\" is not expanded", Name, p.key, *p.to)
		}
	}
	if in.MaxBytes != nil {
		c.MaxBytes = *in.MaxBytes
	}
	c.Skills, c.Time = in.Skills == nil || *in.Skills, in.Time == nil || *in.Time
	return c, c.parseTime(in.TimeZone, in.TimeEvery)
}

func (c *Config) parseTime(zone, every string) (err error) {
	if zone != "" {
		if c.Zone, err = time.LoadLocation(zone); err != nil {
			return fmt.Errorf("config of plugin %q: time_zone is %q, which this machine does not know; write a name such as \"Europe/Berlin\" or \"UTC\"", Name, zone)
		}
	}
	if every != "" {
		if c.TimeEvery, err = time.ParseDuration(every); err != nil || c.TimeEvery < 0 {
			return fmt.Errorf("config of plugin %q: time_every is %q; write a duration such as \"10m\", or \"0s\" for every step", Name, every)
		}
	}
	return nil
}

// Plugin describes the plugin. It asks how full the context is, to know when a
// compaction took what it had said.
func Plugin(version string) sdk.Plugin { return pluginAt(version, time.Now) }

func pluginAt(version string, now func() time.Time) sdk.Plugin {
	return sdk.Plugin{
		Name:         Name,
		Version:      version,
		Roles:        []sdk.Role{sdk.RolePrompt, sdk.RoleHooks, sdk.RoleTools, sdk.RoleCommands},
		Capabilities: []sdk.Capability{sdk.CapSessionRead},
		HookPoints:   []hook.Point{hook.AfterTool},
		ConfigSchema: configSchema,
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			config, err := ParseConfig(init.Config, init.NotesHome)
			if err != nil {
				return sdk.Services{}, sdk.BadConfig(err)
			}
			p := New(config, init.Host, init.Logger, now)
			return sdk.Services{Prompt: p, Hooks: p, Tools: p, Commands: p, Sessions: p}, nil
		},
	}
}
