package cli

import (
	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host/session"
)

func (a *app) steerCommand() *cobra.Command {
	v := mailVerb{app: a}
	cmd := &cobra.Command{
		Use:   "steer [--session ID] TEXT | -",
		Short: "Tell a running agent something before its next step",
		Long: `Steer gives your words to a session that another process works in; the agent
reads them with its next request. The verb waits up to five seconds until that
process has them.

Where nobody works in the session your words wait in it, and tureen resume takes
them.`,
		Example: `  tureen steer --session 01k7 "leave the tests alone"
  git diff | tureen steer --session last -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.say(cmd.Context(), session.CommandSteer, args)
		},
	}
	v.flags(cmd)
	return cmd
}
