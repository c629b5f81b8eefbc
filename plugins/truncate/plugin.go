// Package truncate is the shipped plugin that offers the truncate strategy.
package truncate

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/compaction/truncate"
	"github.com/tureen-host/tureen/plugins/sdk"
)

//go:embed schema.json
var schema []byte

// Plugin describes the plugin.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name: "truncate", Version: version,
		Roles:        []sdk.Role{sdk.RoleStrategy},
		Capabilities: []sdk.Capability{sdk.CapSessionRead},
		ConfigSchema: schema,
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			var config truncate.Config
			if err := json.Unmarshal(init.Config, &config); err != nil {
				return sdk.Services{}, fmt.Errorf("read the config of truncate: %w", err)
			}
			return sdk.Services{Strategy: truncate.New(config)}, nil
		},
	}
}
