// Package policy is the plugin that decides which calls may run (T16), which
// files they may change (T17), and what is put to the person first.
package policy

import (
	"context"
	_ "embed"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles.
const Name = "policy"

//go:embed config.json
var configSchema []byte

// Plugin describes the plugin. It asks for no capability: the host puts its
// questions.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name:         Name,
		Version:      version,
		Roles:        []sdk.Role{sdk.RoleHooks, sdk.RolePrompt},
		HookPoints:   []hook.Point{hook.BeforeTool},
		ConfigSchema: configSchema,
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			config, err := ParseConfig(init.Config)
			if err != nil {
				return sdk.Services{}, sdk.BadConfig(err)
			}
			p := New(config)
			return sdk.Services{Hooks: p, Prompt: p, Sessions: p}, nil
		},
	}
}
