// Package prune is the shipped plugin that offers the prune strategy.
package prune

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/compaction/prune"
	"github.com/tureen-host/tureen/plugins/sdk"
)

//go:embed schema.json
var schema []byte

// Plugin describes the plugin.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name: "prune", Version: version,
		Roles:        []sdk.Role{sdk.RoleStrategy},
		Capabilities: []sdk.Capability{sdk.CapSessionRead},
		ConfigSchema: schema,
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			var config prune.Config
			if err := json.Unmarshal(init.Config, &config); err != nil {
				return sdk.Services{}, fmt.Errorf("read the config of prune: %w", err)
			}
			return sdk.Services{Strategy: prune.New(config)}, nil
		},
	}
}
