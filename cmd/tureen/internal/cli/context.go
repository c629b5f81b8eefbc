package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
)

func (a *app) contextCommand() *cobra.Command {
	return group("context", "How full a session's context is, and with what", `The context is what the model sees next. Show tells how full it is and with what,
preview what a compaction would make of it now, undo takes the newest one back.`,
		a.contextShowCommand(), a.contextPreviewCommand(), a.contextUndoCommand())
}

const contextShowLong = `Show tells how full a session's context is, with what it is filled, and what the
compactions so far came to. It only reads: it works while another process has the
session, starts no plugin and needs no key.

The line is that of the profile that tureen resume would take; -P and -c try
another. Tokens of parts and turns are estimates; the measure may be the
endpoint's own count.

--json prints one object with these fields:
  session, seq         the session, and the event that this is true of
  owner                the process that works in it, "" for none
  archived, waiting    whether it is archived; how many inputs and requests wait in it
  profile, strategy, automatic
                       what a resume would run; whether it compacts by itself
  provider, model      who answers
  context_window, window_source
                       tokens; profile, probed or unknown (then 0)
  output_reserve       tokens kept for an answer
  reset_at, budget_source, budget_problem
                       the line, 0 = none; profile, defaults or none; why not the profile
  reserve, warning, reminder
                       tokens left of the window at the line, at the close-out
                       warning and at the first reminder
  measured, measured_source, room, past_line
                       tokens in use; usage or estimate; tokens left before the line
  fixed                tokens that no compaction removes
  window               ordinal of the window, from 1
  compactions {count, newest []}
                       newest first: seq, time, ordinal, strategy, kind, trigger,
                       tokens_before, tokens_after, ms, model_calls, relieved, undone
  marks_shown, armed, asked, breaker, failures, rest
                       the marks of this window; requests that wait, or null;
                       whether automatic compaction rests, and why
  undo {possible, ordinal, why, fork_at, command}
                       whether context undo would work, and what does instead
  breakdown {system, tools, owner, notices, checkpoint, assistant, results, total}
  turns, outline []    turns in the context; the newest of them: turn, from, to,
                       prompt, steps, calls, tokens`

func (a *app) contextShowCommand() *cobra.Command {
	var id string
	var asJSON bool
	var last int
	cmd := &cobra.Command{
		Use:   "show [ID | last]",
		Short: "Show what fills the context, and how much room is left",
		Long:  contextShowLong,
		Example: `  tureen context show
  tureen context show --session 01k7 --last 100
  tureen context show --json | jq .room
  tureen context show -c compaction.trigger_tokens=40000`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 0 {
				return usagef("0 shows none", "--last %d is negative", last)
			}
			id, err := sessionNamed(args, id)
			if err != nil {
				return err
			}
			return a.withStore(func(s *store) error {
				v, err := a.viewContext(cmd.Context(), s, id, last)
				if err != nil {
					return err
				}
				return a.print(asJSON, v, func(w io.Writer) error {
					style, err := render.NewStyle(a.color, w, a.env)
					if err != nil {
						return err
					}
					return v.write(w, style, render.IsTerminal(w))
				})
			})
		},
	}
	cmd.Flags().StringVar(&id, "session", "", "the session, instead of the argument")
	cmd.Flags().IntVar(&last, "last", 20, "how many of the newest turns to outline")
	jsonFlag(cmd, &asJSON)
	return cmd
}
