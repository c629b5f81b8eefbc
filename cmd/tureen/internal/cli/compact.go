package cli

import (
	"cmp"
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/session"
)

func (a *app) compactCommand() *cobra.Command {
	var format, id, instructions string
	cmd := &cobra.Command{
		Use:   "compact [ID | last]",
		Short: "Have the strategy shorten a session now",
		Long: `Compact opens a session and asks its strategy for a compaction: the strategy that
the session was created with, unless -P or -c name another. Where another process
works in the session, that one is asked, and does it at its next step with the
strategy that it runs. An archived session is not compacted. What is replaced stays
in the log.`,
		Example: `  tureen compact last
  tureen compact 01k7 --instructions "keep the exact error texts"
  tureen compact last -c compaction.strategy=summary`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionNamed(args, id)
			if err != nil {
				return err
			}
			return a.work(cmd.Context(), format, job{
				open: func(ctx context.Context, w *work) (*host.Host, error) { return w.openOrAsk(ctx, id, instructions) },
				do:   func(ctx context.Context, w *work, h *host.Host) error { return w.compact(ctx, h, instructions) },
			})
		},
	}
	formatFlag(cmd, &format)
	cmd.Flags().StringVar(&id, "session", "", "the session, instead of the argument")
	cmd.Flags().StringVar(&instructions, "instructions", "", "what the strategy should mind")
	return cmd
}

// sessionNamed is the session that an argument or --session names.
func sessionNamed(args []string, flag string) (string, error) {
	if len(args) > 0 && flag != "" {
		return "", usagef("name the session once", "both an argument and --session name a session")
	}
	return cmp.Or(flag, sessionArgument(args)), nil
}

// openOrAsk takes a session, or asks who has it for a compaction: then there is no
// host and nothing left to do.
func (w *work) openOrAsk(ctx context.Context, prefix, instructions string) (*host.Host, error) {
	id, err := w.store.Resolve(ctx, prefix)
	if err != nil {
		return nil, err
	}
	row, err := w.store.summary(ctx, id)
	if err != nil {
		return nil, err
	}
	if row.Archived {
		w.report.take(id)
		return nil, archivedFault(&session.Failure{Code: agent.CodeArchived, Message: "session " + id + " is archived and is not compacted",
			Hint: "tureen session archive --undo " + id + " takes it out again"})
	}
	owner, err := w.store.owner(ctx, id)
	if err != nil {
		return nil, err
	}
	if owner == "" {
		return w.resume(ctx, id)
	}
	if w.globals.profile != "" || len(w.overrides) > 0 {
		return nil, usagef("leave -P and -c out, or wait until that process is done", "session %s is in use by %s, whose own strategy compacts it", id, owner)
	}
	d, err := w.store.deliver(ctx, id, session.Mail{Command: session.CommandCompact, Text: instructions}, true)
	if err != nil {
		return nil, err
	}
	w.report.take(id)
	if !w.quiet {
		w.lines.Print(d.String())
	}
	return nil, nil
}

func archivedFault(f *session.Failure) *fault {
	return faultf(exitBlocked, f.Code, f.Hint, "%s", f.Message)
}

func (w *work) compact(ctx context.Context, h *host.Host, instructions string) error {
	if w.profile.Compaction.Strategy == host.StrategyNone {
		return usagef("choose one with -c compaction.strategy=NAME", "the session runs with no compaction strategy")
	}
	applied, err := h.Agent.Compact(ctx, instructions)
	var archived *agent.ArchivedError
	if errors.As(err, &archived) {
		return archivedFault(archived.Failure())
	}
	if err != nil {
		return err
	}
	if failed := w.report.failedCompaction(); failed != nil && !applied {
		return faultf(exitPlugin, "COMPACTION_FAILED", "the conversation stays as it is; try another strategy with -c compaction.strategy=NAME",
			"strategy %s did not compact: %s", failed.Strategy, failed.Error)
	}
	if !applied && !w.quiet {
		w.lines.Print("nothing to compact")
	}
	return nil
}
