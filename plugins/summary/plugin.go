// Package summary is the shipped plugin that offers the summary strategy.
package summary

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/compaction/summary"
	"github.com/tureen-host/tureen/plugins/sdk"
)

//go:embed schema.json
var schema []byte

// Plugin describes the plugin.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name: "summary", Version: version,
		Roles:        []sdk.Role{sdk.RoleStrategy},
		Capabilities: []sdk.Capability{sdk.CapSessionRead, sdk.CapModelGenerate},
		ConfigSchema: schema,
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			var config summary.Config
			if err := json.Unmarshal(init.Config, &config); err != nil {
				return sdk.Services{}, fmt.Errorf("read the config of summary: %w", err)
			}
			return sdk.Services{Strategy: summary.New(config)}, nil
		},
	}
}
