package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

func (a *app) sessionShowCommand() *cobra.Command {
	var asJSON bool
	var last int
	cmd := &cobra.Command{
		Use:   "show [ID | last]",
		Short: "Show a session and its last events",
		Example: `  tureen session show last
  tureen session show 01k7 --last 100
  tureen session show last --json | jq .log[].kind`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 0 {
				return usagef("0 shows none", "--last %d is negative", last)
			}
			return a.withSession(cmd.Context(), sessionArgument(args), func(row session.Summary, r session.Reader) error {
				events, err := lastEvents(cmd.Context(), r, last)
				if err != nil {
					return err
				}
				open, err := openQuestions(cmd.Context(), r)
				if err != nil {
					return err
				}
				shown := struct {
					session.Summary
					Questions []fold.Question `json:"questions"`
					Shown     []session.Event `json:"log"`
				}{row, append([]fold.Question{}, open...), events}
				return a.print(asJSON, shown, func(w io.Writer) error { return writeSession(w, row, open, events) })
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().IntVar(&last, "last", 20, "how many of the last events to show")
	return cmd
}

func lastEvents(ctx context.Context, r session.Reader, n int) ([]session.Event, error) {
	events := []session.Event{}
	if n == 0 {
		return events, nil
	}
	for e, err := range r.Read(ctx, session.Query{Reverse: true, Limit: n}) {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	slices.Reverse(events)
	return events, nil
}

func writeSession(w io.Writer, s session.Summary, open []fold.Question, events []session.Event) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "session\t%s\ntitle\t%s\nstatus\t%s\nprofile\t%s\nstrategy\t%s\nworkspace\t%s\n", s.ID, render.Head(s.Title, 200), s.Status, plain(s.Profile), plain(s.Strategy), plain(s.Workspace))
	fmt.Fprintf(tab, "created\t%s\nupdated\t%s\nsize\t%s, %s, %s\n", clock(s.Created), clock(s.Updated),
		render.Count(s.Turns, "turn"), render.Count(int(s.Events), "event"), size(s.Bytes))
	for _, q := range open {
		fmt.Fprintf(tab, "open %s\t%s: %s\n", q.Kind, q.ID, render.Head(q.Text, 200))
	}
	if err := tab.Flush(); err != nil || len(events) == 0 {
		return err
	}
	fmt.Fprintln(w)
	for _, e := range events {
		where := ""
		if e.Turn > 0 {
			where = fmt.Sprintf("%d.%d", e.Turn, e.Step)
		}
		fmt.Fprintf(tab, "%d\t%s\t%s\t%s\t%s\n", e.Seq, e.Time.Local().Format("15:04:05.000"), where, render.Head(string(e.Kind), 80), render.Gist(e))
	}
	return tab.Flush()
}
