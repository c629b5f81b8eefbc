// Package search is the plugin with the tools glob and grep.
package search

import (
	"context"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles.
const Name = "search"

// Plugin describes the plugin. It takes no config and asks for no capability.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name:    Name,
		Version: version,
		Roles:   []sdk.Role{sdk.RoleTools},
		Start: func(context.Context, sdk.Init) (sdk.Services, error) {
			p := New()
			return sdk.Services{Tools: p, Sessions: p}, nil
		},
	}
}
