package cli

import (
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/plugins/builtin"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// pluginServeCommand is how the host starts the plugins that ship with it.
func pluginServeCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "plugin-serve NAME",
		Short:  "Serve a shipped plugin to the host that started this process",
		Hidden: true,
		Args:   arguments(1, 1, "a plugin's name"),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := builtin.Lookup(args[0], Version)
			if err != nil {
				return usagef("", "%v", err)
			}
			signal.Reset() // the SDK has its own way to end
			sdk.Serve(p)
			return nil
		},
	}
}
