// Package builtin lists the plugins that ship inside the program. Each is
// started as a process of its own all the same.
package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/plugins/ask"
	"github.com/tureen-host/tureen/plugins/files"
	"github.com/tureen-host/tureen/plugins/guards"
	"github.com/tureen-host/tureen/plugins/instructions"
	"github.com/tureen-host/tureen/plugins/notesoup"
	"github.com/tureen-host/tureen/plugins/planning"
	"github.com/tureen-host/tureen/plugins/policy"
	"github.com/tureen-host/tureen/plugins/prune"
	"github.com/tureen-host/tureen/plugins/schedule"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/search"
	"github.com/tureen-host/tureen/plugins/shell"
	"github.com/tureen-host/tureen/plugins/subagents"
	"github.com/tureen-host/tureen/plugins/summary"
	"github.com/tureen-host/tureen/plugins/truncate"
	"github.com/tureen-host/tureen/plugins/web"
)

var constructors = map[string]func(version string) sdk.Plugin{
	"ask":          ask.Plugin,
	"files":        files.Plugin,
	"guards":       guards.Plugin,
	"instructions": instructions.Plugin,
	"notesoup":     notesoup.Plugin,
	"planning":     planning.Plugin,
	"policy":       policy.Plugin,
	"prune":        prune.Plugin,
	"schedule":     schedule.Plugin,
	"search":       search.Plugin,
	"shell":        shell.Plugin,
	"subagents":    subagents.Plugin,
	"summary":      summary.Plugin,
	"truncate":     truncate.Plugin,
	"web":          web.Plugin,
}

// Lookup makes the shipped plugin of that name; version is the program's. The
// error names what there is.
func Lookup(name, version string) (sdk.Plugin, error) {
	construct, ok := constructors[name]
	if !ok {
		return sdk.Plugin{}, fmt.Errorf("no plugin %q is shipped: there are %s; one of your own is named by a path with a slash", name, strings.Join(Names(), ", "))
	}
	return construct(version), nil
}

// Names are the shipped plugins in order.
func Names() []string { return slices.Sorted(maps.Keys(constructors)) }
