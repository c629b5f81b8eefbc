// Package guards is the plugin that keeps a model from going round in circles (G1)
// and from ending with an announcement instead of the step that it announces.
package guards

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles.
const Name = "guards"

//go:embed config.json
var configSchema []byte

// Config is the plugin's config.
type Config struct {
	RemindAt []int    // rounds after which the model is told, ascending
	StopAt   int      // rounds at which the turn ends, 0 = never
	Exclude  []string // tools that neither count nor break a row: they poll
	Nudges   int      // in a row, for announced steps; 0 = none

	PollRemindAt int // as RemindAt, of the excluded tools; 0 = never
	PollStopAt   int // as StopAt, of the excluded tools
}

// DefaultConfig is what counts where the profile says nothing.
func DefaultConfig() Config {
	return Config{RemindAt: remindBefore(6), StopAt: 6, Nudges: 2, PollRemindAt: 20, PollStopAt: 50,
		Exclude: []string{"get_context_remaining", "get_goal", "job_list", "job_output", "list_agents"}}
}

// remindBefore are the default reminders: those of G1, as far as they can come
// before the turn is ended.
func remindBefore(stop int) []int {
	var at []int
	for _, n := range []int{3, 5, 8} {
		if stop == 0 || n < stop {
			at = append(at, n)
		}
	}
	return at
}

// ParseConfig reads a config that fits the schema; keys that are not there keep
// their default.
func ParseConfig(raw json.RawMessage) (Config, error) {
	c := DefaultConfig()
	var in struct {
		RemindAt *[]int    `json:"remind_at"`
		StopAt   *int      `json:"stop_at"`
		Exclude  *[]string `json:"exclude"`
		Nudges   *int      `json:"nudges"`

		PollRemindAt *int `json:"poll_remind_at"`
		PollStopAt   *int `json:"poll_stop_at"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return c, fmt.Errorf("read the config of plugin %q: %w", Name, err)
	}
	take(&c.StopAt, in.StopAt)
	c.RemindAt = remindBefore(c.StopAt)
	take(&c.RemindAt, in.RemindAt)
	c.RemindAt = slices.Compact(slices.Sorted(slices.Values(c.RemindAt)))
	take(&c.Exclude, in.Exclude)
	take(&c.Nudges, in.Nudges)
	take(&c.PollRemindAt, in.PollRemindAt)
	take(&c.PollStopAt, in.PollStopAt)
	for key, n := range map[string]int{keyStopAt: c.StopAt, keyPollStopAt: c.PollStopAt} {
		if n == 1 {
			return c, fmt.Errorf("config of plugin %q: %s is 1, which would end every turn at its first call; write 2 or more, or 0 for never", Name, key)
		}
	}
	return c, nil
}

// take sets what the config says.
func take[T any](to, said *T) {
	if said != nil {
		*to = *said
	}
}

// Plugin describes the plugin. It reads the last answer of a turn and keeps count
// of its nudges in the log.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name:         Name,
		Version:      version,
		Roles:        []sdk.Role{sdk.RoleHooks},
		Capabilities: []sdk.Capability{sdk.CapSessionRead, sdk.CapRecordsWrite},
		HookPoints:   []hook.Point{hook.BeforeStep, hook.AfterTool, hook.TurnStopping},
		ConfigSchema: configSchema,
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			config, err := ParseConfig(init.Config)
			if err != nil {
				return sdk.Services{}, sdk.BadConfig(err)
			}
			g := New(config, init.Host, init.Logger)
			return sdk.Services{Hooks: g, Sessions: g}, nil
		},
	}
}
