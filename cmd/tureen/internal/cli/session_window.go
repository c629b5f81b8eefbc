package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

func (a *app) sessionWindowsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "windows [ID | last]",
		Short: "List the windows of a session",
		Long: `Windows lists the stretches between two resets, oldest first, and the compactions of
any strategy that came about in each. A compaction that is no reset begins no window,
nor does a reset that was undone.

--json prints an array of windows:
  window, id           ordinal from 1; the name that the strategy gave it, or ""
  first_seq, last_seq  its events; of the last window as far as the log goes
  from, to             when it began and ended; to is null for the last window
  tokens               in use when it ended, or now; null where that cannot be told
  began, ended         trigger of the reset; "session" for the first, "" for none yet
  reset_ms             how long the reset took that it began with, or null
  boot_bytes           size of the frozen text that it began with
  compactions []       as tureen context show has them, oldest first; the reset that
                       the window began with is the first of them
  missing []           what of it does not read: from, to, what`,
		Example: `  tureen session windows last
  tureen session windows 01k7 --json | jq '.[] | [.window, .tokens, .ended]'`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(func(s *store) error {
				row, err := s.summary(cmd.Context(), sessionArgument(args))
				if err != nil {
					return err
				}
				windows, err := windowsOf(cmd.Context(), s, row.ID)
				if err != nil {
					return stateFault(row.ID, err)
				}
				return a.print(asJSON, windows, func(w io.Writer) error { return writeWindows(w, windows) })
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// sessionWindow is a row of session windows.
type sessionWindow struct {
	Ordinal     int                 `json:"window"`
	ID          string              `json:"id"`
	First       int64               `json:"first_seq"`
	Last        int64               `json:"last_seq"`
	From        time.Time           `json:"from"`
	To          *time.Time          `json:"to"`
	Tokens      *int                `json:"tokens"`
	Began       string              `json:"began"`
	Ended       string              `json:"ended"`
	Millis      *int64              `json:"reset_ms"`
	BootBytes   int                 `json:"boot_bytes"`
	Compactions []contextCompaction `json:"compactions"`
	Missing     []session.Damage    `json:"missing"`
}

// windowsOf reads the windows, of a damaged log as many as still show.
func windowsOf(ctx context.Context, s *store, id string) ([]sessionWindow, error) {
	q := session.Query{Kinds: []session.Kind{session.KindSessionCreated, session.KindRecord, session.KindCompactionStarted,
		session.KindCompactionEnded, session.KindCompactionUndone, session.KindLost}}
	all := newWindows()
	err := all.read(s.events(ctx, id, q))
	if errors.Is(err, session.ErrDamaged) {
		found := err
		all = newWindows()
		if err = all.read(s.behind(ctx, id, found)); err == nil && all.head == 0 {
			return nil, found
		}
		s.warn(fmt.Sprintf("session %s is damaged: what is missing may hold the bounds of windows", id),
			"tureen session verify "+id+" says what is wrong, tureen session salvage "+id+" rescues what is whole")
	}
	if err != nil {
		return nil, err
	}
	now := &all.list[len(all.list)-1]
	if now.Last = all.head; len(all.list[0].Missing) == 0 {
		now.Last, now.Tokens = s.measured(ctx, id, all.head)
	}
	return all.list, nil
}

// measured is the head of a log and what its surface measures, nil where it does
// not read.
func (s *store) measured(ctx context.Context, id string, head int64) (int64, *int) {
	r, err := s.Store.View(ctx, id)
	if err != nil {
		return head, nil
	}
	defer r.Close()
	state, err := fold.Load(ctx, r)
	if err != nil {
		return head, nil
	}
	tokens, _ := state.Measure()
	return state.Head, &tokens
}

func writeWindows(w io.Writer, all []sessionWindow) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "WINDOW\tEVENTS\tFROM\tTO\tTOKENS\tBEGAN\tENDED\tRESET\tBOOT")
	for _, v := range all {
		to, tokens, reset, boot, ended := "-", "-", "-", "-", v.Ended
		if v.To != nil {
			to = clock(*v.To)
		}
		if v.Tokens != nil {
			tokens = render.Amount(*v.Tokens)
		}
		if v.Millis != nil {
			reset = fmt.Sprintf("%dms", *v.Millis)
		}
		if v.BootBytes > 0 {
			boot = size(int64(v.BootBytes))
		}
		if ended == "" {
			ended = "-"
		}
		fmt.Fprintf(tab, "%s\t%d-%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", windowName(v), v.First, v.Last, clock(v.From), to, tokens,
			render.Head(v.Began, 20), render.Head(ended, 20), reset, boot)
		for i, c := range v.Compactions {
			if i == 0 && v.Millis != nil {
				continue // the window's own
			}
			undone := ""
			if c.Undone {
				undone = ", undone"
			}
			fmt.Fprintf(tab, "\t%d\t%s\t%s by %s (%s) %s→%s tokens, %dms%s\n", c.Seq, clock(c.Time), render.Head(c.Kind, 20), render.Head(c.Strategy, 40),
				render.Head(string(c.Trigger), 20), render.Amount(c.TokensBefore), render.Amount(c.TokensAfter), c.Millis, undone)
		}
		for _, d := range v.Missing {
			fmt.Fprintf(tab, "\t%d\t(missing)\t%s\n", d.From, render.Head(d.Error(), 200))
		}
	}
	return tab.Flush()
}

func windowName(v sessionWindow) string {
	if v.ID == "" {
		return fmt.Sprint(v.Ordinal)
	}
	return fmt.Sprintf("%d %s", v.Ordinal, render.Head(v.ID, 40))
}
