package profile

import (
	"fmt"
	"strings"
)

// Sources of a value that are not a profile file.
const (
	sourceDefault  = "default"
	sourceSettings = "user settings"
	sourceOverride = "-c"
	sourceBaseURL  = "env OPENAI_BASE_URL"
	sourceNotes    = "env TUREEN_NOTES_HOME"
)

// Origin is who set a value. Line and Column count from 1, Column in characters.
type Origin struct {
	Source string `json:"source,omitempty"` // default, -c, a flag, env NAME, user settings; "" for a profile
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String is "profiles/demo.toml:4", "user settings /…/settings.toml:2", "-c" or
// "default".
func (o Origin) String() string {
	at := o.File
	if at != "" && o.Line > 0 {
		at = fmt.Sprintf("%s:%d", o.File, o.Line)
	}
	return strings.TrimSpace(o.Source + " " + at)
}

// Origin tells who set a dotted key, or the nearest key around it.
func (p *Profile) Origin(key string) Origin {
	for key != "" {
		if o, ok := p.Origins[key]; ok {
			return o
		}
		key = key[:max(strings.LastIndexAny(key, ".["), 0)]
	}
	return Origin{}
}

// Locate makes a path that stands under a dotted key absolute: "~/" is the home, and a
// relative one is relative to the file that set the key, or to the working directory
// where no file did.
func (p *Profile) Locate(key, path string) string { return absolute(p.home, p.dirs[key], path) }

// Problem places a fault that was found later, such as a plugin's schema does,
// at the key's line.
func (p *Profile) Problem(key, found string) Problem {
	return Problem{Origin: p.Origin(key), Key: key, Found: found}
}
