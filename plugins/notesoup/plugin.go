// Package notesoup is the shipped plugin that offers the notes reset: the
// strategy and its tools in one process, over one store of notes.
package notesoup

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

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
	if !slices.Contains(init.Granted, sdk.CapSessionRead) { // N22
		return sdk.Services{}, fmt.Errorf("start %s: it is denied %s, without which it finds neither its window nor the history; take %q out of deny in the [[plugins]] row with use = %q",
			Name, sdk.CapSessionRead, sdk.CapSessionRead, Name)
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
	tools := &provider{shelf: s, host: init.Host, strategy: strategy, pages: pages{wide: config.Strict}}
	return sdk.Services{Strategy: &coded{strategy}, Tools: tools, Hooks: &guard{host: init.Host, strategy: strategy}, Sessions: tools, Close: func() { tree.Close() }}, nil
}
