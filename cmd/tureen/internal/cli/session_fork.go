package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session/fold"
)

func (a *app) sessionForkCommand() *cobra.Command {
	var asJSON bool
	var at int64
	cmd := &cobra.Command{
		Use:   "fork [ID | last] [--at SEQ]",
		Short: "Branch a session: a new one that begins with its log",
		Long: `Fork makes a session that begins with the events of another up to SEQ, or with all
of them. Each goes its own way from there; the other stays as it is and may be at
work meanwhile. What the cut leaves open is closed: a call without a result is told
to be one whose outcome is not known. The notes of the session stay with the other,
and so do its subagents.

The id of the new session goes to stdout. tureen session show lists the seqs; an
event inside a compaction is no place for a cut, and the nearest ones that are
places are named.`,
		Example: `  tureen session fork last
  tureen session fork 01k7 --at 120
  tureen resume $(tureen session fork -q last --at 120) "try it another way"`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("at") && at < 1 {
				return usagef("seqs count from 1; tureen session show lists them", "--at %d is no event", at)
			}
			return a.withStore(func(s *store) error {
				id, err := s.Resolve(cmd.Context(), sessionArgument(args))
				if err != nil {
					return err
				}
				moved, err := a.fork(cmd.Context(), s, id, at)
				if err != nil {
					return err
				}
				return a.printMoved(asJSON, moved, moved, fmt.Sprintf("it begins with %s of session %s", upTo(moved), moved.From))
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().Int64Var(&at, "at", 0, "the last event to take over (default the newest)")
	return cmd
}

func (a *app) fork(ctx context.Context, s *store, id string, at int64) (host.Moved, error) {
	p := a.activity("fork")
	defer p.clear()
	moved, err := host.Fork(ctx, s.Store, id, at, p.at)
	var cut *fold.CutError
	if errors.As(err, &cut) {
		return moved, cutFault(id, cut)
	}
	return moved, stateFault(id, err)
}

func upTo(m host.Moved) string {
	if m.At == 1 {
		return "event 1"
	}
	return fmt.Sprintf("events 1 to %d", m.At)
}

// cutFault names the places where a session can be cut.
func cutFault(id string, cut *fold.CutError) *fault {
	if cut.Why == "" {
		return usagef(fmt.Sprintf("choose one from 1 to %d; tureen session show %s lists the last ones", cut.Head, id), "session %s has no event %d", id, cut.At)
	}
	hint := "tureen session show " + id + " lists the events"
	switch {
	case cut.Before > 0 && cut.After > 0:
		hint = fmt.Sprintf("the nearest places are --at %d and --at %d", cut.Before, cut.After)
	case cut.Before > 0 || cut.After > 0:
		hint = fmt.Sprintf("the nearest place is --at %d", max(cut.Before, cut.After))
	}
	return usagef(hint, "session %s cannot be cut at event %d: %s", id, cut.At, cut.Why)
}

// printMoved prints the id of a session that was made, and on stderr what it is and
// how to go on with it. shown is what a program gets.
func (a *app) printMoved(asJSON bool, shown any, m host.Moved, what string) error {
	if !a.quiet && !asJSON {
		a.lines.Print(fmt.Sprintf("%s %s (%s): %s", a.lines.Bold("session"), m.Session, render.Count(int(m.Events), "event"), what))
		a.lines.Print(`go on: tureen resume ` + m.Session + ` "PROMPT"`)
	}
	return a.printID(asJSON, shown, m.Session)
}
