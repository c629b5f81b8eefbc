// Package files is the plugin with the tools read, write and edit, and two small
// ones about files: working_directory and present.
package files

import (
	"context"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles.
const Name = "files"

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
