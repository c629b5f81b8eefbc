package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host"
)

func (a *app) resumeCommand() *cobra.Command {
	var format string
	var goOn bool
	cmd := &cobra.Command{
		Use:   "resume [ID | last] [PROMPT | -]",
		Short: "Go on with a session",
		Long: `Resume takes a session, closes what a crash left open, and goes on with your
prompt, or with input that still waits in it. Where neither is there, nothing is
spent; --continue has the agent go on with a task that did not complete.

ID may be the beginning of an id. The session keeps its working directory, and
the profile and the strategy that it was created with, unless -P names another
profile or -c compaction.strategy another strategy. Other overrides with -c are
not remembered: give them again.`,
		Example: `  tureen resume last "now fix it"
  tureen resume 01k7 "and write a test"
  tureen resume last --continue          # after Ctrl-C, a limit or a crash
  tureen resume last --continue -c limits.max_steps=200`,
		RunE: func(cmd *cobra.Command, args []string) error {
			id, text := "last", ""
			if len(args) > 0 {
				id, args = args[0], args[1:]
			}
			if goOn && len(args) > 0 {
				return usagef("leave one of them out: a prompt goes on by itself", "both --continue and a prompt are given")
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
					if goOn {
						if _, err := h.Agent.Continue(ctx); err != nil {
							return stateFault(h.ID(), err)
						}
					}
					err := w.turns(ctx, h, text)
					if err == nil && !w.quiet && w.report.idle() {
						what, or := "nothing waits in this session", ", or --continue where its task did not complete"
						if goOn {
							what, or = "nothing waits in this session, and its last turn completed", ""
						}
						w.lines.Print(what + "; give it a prompt: tureen resume " + h.ID() + ` "PROMPT"` + or)
					}
					return err
				},
			})
		},
	}
	formatFlag(cmd, &format)
	cmd.Flags().BoolVar(&goOn, "continue", false, "go on with a task that did not complete, without a prompt")
	return cmd
}
