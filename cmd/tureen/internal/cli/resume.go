package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host"
)

func (a *app) resumeCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "resume [ID | last] [PROMPT | -]",
		Short: "Go on with a session",
		Long: `Resume takes a session, closes what a crash left open, and goes on with your
prompt, or with input that still waits in it. Where neither is there, nothing is
spent.

ID may be the beginning of an id. The session keeps its working directory; it
runs under the profile of its last run unless -P names another. Overrides with
-c are not remembered: give them again.`,
		Example: `  tureen resume last "now fix it"
  tureen resume 01k7 "and write a test"
  tureen resume last                     # after Ctrl-C: what still waits`,
		RunE: func(cmd *cobra.Command, args []string) error {
			id, text := "last", ""
			if len(args) > 0 {
				id, args = args[0], args[1:]
			}
			return a.work(cmd.Context(), format, job{
				open: func(ctx context.Context, w *work) (h *host.Host, err error) {
					if len(args) > 0 {
						if text, err = a.prompt(ctx, args); err != nil {
							return nil, err
						}
					}
					return w.resume(ctx, id)
				},
				do: func(ctx context.Context, w *work, h *host.Host) error {
					err := w.turns(ctx, h, text)
					if err == nil && !w.quiet && w.report.idle() {
						w.lines.Print("nothing waits in this session; give it a prompt: tureen resume " + h.ID() + ` "PROMPT"`)
					}
					return err
				},
			})
		},
	}
	formatFlag(cmd, &format)
	return cmd
}
