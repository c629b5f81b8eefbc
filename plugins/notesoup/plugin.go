// Package notesoup is the shipped plugin that offers the notes reset: the
// strategy and its tools in one process, over one store of notes.
package notesoup

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/notesoup"
	"github.com/tureen-host/tureen/notesoup/notes"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// Name is the plugin's name in profiles.
const Name = notesoup.Name

//go:embed schema.json
var schema []byte

// Plugin describes the plugin. Used without its strategy, the tools work all the
// same, but empty_brain has nothing to empty.
func Plugin(version string) sdk.Plugin {
	return sdk.Plugin{
		Name:         Name,
		Version:      version,
		Roles:        []sdk.Role{sdk.RoleStrategy, sdk.RoleTools, sdk.RoleHooks},
		Capabilities: []sdk.Capability{sdk.CapSessionRead},
		HookPoints:   (&guard{}).Points(),
		ConfigSchema: schema,
		Start:        start,
	}
}

func start(_ context.Context, init sdk.Init) (sdk.Services, error) {
	var config notesoup.Config
	if err := json.Unmarshal(init.Config, &config); err != nil {
		return sdk.Services{}, fmt.Errorf("read the config of %s: %w", Name, err)
	}
	if init.NotesHome == "" {
		return sdk.Services{}, fmt.Errorf("start %s: the host names no notes home; set TUREEN_NOTES_HOME or notes_home in the user settings", Name)
	}
	tree, err := notes.Open(init.NotesHome)
	if err != nil {
		return sdk.Services{}, err
	}
	s := newShelf(tree, config.AgentName, init.NotesProject)
	strategy := notesoup.New(config, s.store)
	tools := &provider{shelf: s, host: init.Host, strategy: strategy, granted: init.Granted, pages: pages{wide: config.Strict}}
	return sdk.Services{Strategy: &coded{strategy}, Tools: tools, Hooks: &guard{host: init.Host, strategy: strategy}, Sessions: tools, Close: func() { tree.Close() }}, nil
}
