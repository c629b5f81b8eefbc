package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host"
)

func (a *app) runCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "run [PROMPT | -]",
		Aliases: []string{"exec"},
		Short:   "Give the agent a task and wait until it is done",
		Long: `Run starts a session with your prompt and works until nothing is owed.

The answer goes to stdout; steps, tool calls, the context meter and a line for
each compaction go to stderr: without a terminal as plain lines without colours,
with -q only errors. The prompt is read from stdin where it is "-", or where
there is none and something is piped in.

What the agent asks, and what its plugins want approved, is answered at the
terminal. Where there is none nobody is waited for: approvals are refused.

Ctrl-C once ends the step cleanly and prints how to resume; twice leaves at once.
The exit code tells how the run ended: tureen help exit-codes.`,
		Example: `  tureen run "which of these tests is slow, and why?"
  git diff | tureen run -P notesoup -
  tureen run -o json "list the public types" | jq .compactions
  tureen run -c limits.max_steps=20 -c compaction.strategy=summary "split main.go by topic"`,
		RunE: func(cmd *cobra.Command, args []string) error {
			var text string
			return a.work(cmd.Context(), format, job{
				open: func(ctx context.Context, w *work) (h *host.Host, err error) {
					if text, err = a.prompt(ctx, args); err != nil {
						return nil, err
					}
					return w.create(ctx, text)
				},
				do: func(ctx context.Context, w *work, h *host.Host) error { return w.turns(ctx, h, text) },
			})
		},
	}
	formatFlag(cmd, &format)
	return cmd
}

// create makes a session for a first prompt in the working directory.
func (w *work) create(ctx context.Context, prompt string) (*host.Host, error) {
	p, err := w.loadProfile(w.globals.profile, "")
	if err != nil {
		return nil, err
	}
	workspace, err := w.workspace()
	if err != nil {
		return nil, err
	}
	cfg, err := w.config(ctx, p, workspace)
	if err != nil {
		return nil, err
	}
	return host.Create(ctx, cfg, prompt)
}
