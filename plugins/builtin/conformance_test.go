package builtin_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/plugins/builtin"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// Every shipped strategy keeps its promises over the wire, too.
func TestConformanceOverTheWire(t *testing.T) {
	t.Parallel()
	strategies := 0
	for _, name := range builtin.Names() {
		plugin, err := builtin.Lookup(name, "test")
		if err != nil {
			t.Fatal(err)
		}
		if !hasStrategy(plugin) {
			continue
		}
		strategies++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := filepath.Join(t.TempDir(), "notes")
			compactiontest.Run(t, &compactiontest.Subject{
				Start: func(context.Context) (compactiontest.Instance, error) {
					return plugintest.Start(t, plugin, plugintest.Host{NotesHome: home})
				},
				Deterministic: true,
			})
		})
	}
	if strategies < 4 {
		t.Errorf("%d strategies are shipped", strategies)
	}
}

func hasStrategy(p sdk.Plugin) bool {
	for _, r := range p.Roles {
		if r == sdk.RoleStrategy {
			return true
		}
	}
	return false
}
