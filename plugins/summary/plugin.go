// Package summary is the shipped plugin that offers the summary strategy.
package summary

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/compaction"
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
			config, err := read(init.Config)
			return sdk.Services{Strategy: strategy{summary.New(config)}}, err
		},
	}
}

func read(raw json.RawMessage) (summary.Config, error) {
	var c struct {
		summary.Config
		PromptFile string `json:"prompt_file"`
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return c.Config, fmt.Errorf("read the config of summary: %w", err)
	}
	if c.PromptFile == "" {
		return c.Config, nil
	}
	text, err := readPrompt(c.PromptFile)
	if err != nil {
		return c.Config, &sdk.Error{Code: sdk.CodeConfigInvalid, Field: "/prompt_file",
			Message: fmt.Sprintf("compaction.summary.prompt_file: %s: %v", c.PromptFile, err)}
	}
	c.Instruction = text
	return c.Config, nil
}

// strategy answers for the config where only a session shows that it does not fit.
type strategy struct{ compaction.Strategy }

func (s strategy) Open(ctx context.Context, in compaction.Session) (compaction.Opening, error) {
	opening, err := s.Strategy.Open(ctx, in)
	if err != nil {
		err = &sdk.Error{Code: sdk.CodeConfigInvalid, Field: "/context_window", Message: err.Error()}
	}
	return opening, err
}
