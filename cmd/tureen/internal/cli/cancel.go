package cli

import (
	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host/session"
)

func (a *app) cancelCommand() *cobra.Command {
	v := mailVerb{app: a}
	cmd := &cobra.Command{
		Use:   "cancel [--session ID]",
		Short: "End the running step of a session",
		Long: `Cancel does to a session that another process works in what Ctrl-C does there:
the step ends cleanly, what waits in the session is kept, and that process exits
with 130. The verb waits up to five seconds until that process has it.

Where nobody works in the session there is nothing to end: that is said, and the
exit code is 0.`,
		Example: `  tureen cancel --session 01k7
  tureen cancel --session last --json`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return v.send(cmd.Context(), session.Mail{Command: session.CommandCancel})
		},
	}
	v.flags(cmd)
	return cmd
}
