package builtin_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/plugins/builtin"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// TestMain serves a shipped plugin where the host starts the test binary for it.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "plugin-serve" {
		p, err := builtin.Lookup(os.Args[2], "test")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		sdk.Serve(p)
		return
	}
	os.Exit(m.Run())
}

func TestEveryShippedPluginStarts(t *testing.T) {
	t.Parallel()
	s := pluginhost.New(pluginhost.Options{NotesHome: t.TempDir()})
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for _, name := range builtin.Names() {
		spec, err := pluginhost.Resolve(name, []string{os.Args[0]})
		if err != nil {
			t.Fatal(err)
		}
		info, err := s.Inspect(t.Context(), spec)
		if err != nil || info.Name != name || info.Version != "test" {
			t.Errorf("%s: %+v, %v", name, info.Info, err)
		}
		if info.Has(sdk.RoleTools) && len(info.Tools) == 0 {
			t.Errorf("%s lists no tools outside of a session", name)
		}
	}
	spec, _ := pluginhost.Resolve("filez", []string{os.Args[0]})
	if _, err := s.Inspect(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "there are ask, ") {
		t.Errorf("a name that is not shipped: %v", err)
	}
}
