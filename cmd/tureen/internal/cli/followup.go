package cli

import (
	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host/session"
)

func (a *app) promptCommand() *cobra.Command {
	v := mailVerb{app: a}
	cmd := &cobra.Command{
		Use:   "prompt [--session ID] TEXT | -",
		Short: "Queue a task for a session's next turn",
		Long: `Prompt leaves a task for a session that another process works in; it is taken up
when the running turn is done. The verb waits up to five seconds until that
process has it.

Where nobody works in the session the task waits in it, and tureen resume takes
it.`,
		Example: `  tureen prompt --session 01k7 "then update the changelog"
  tureen prompt --session last - < task.md`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return v.say(cmd.Context(), session.CommandPrompt, args)
		},
	}
	v.flags(cmd)
	return cmd
}
