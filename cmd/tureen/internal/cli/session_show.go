package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
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
		Long: `Show prints what is known of a session and its last events. Of a damaged session it
shows what still reads, and in its place a line for what does not.`,
		Example: `  tureen session show last
  tureen session show 01k7 --last 100
  tureen session show last --json | jq .log[].kind`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if last < 0 {
				return usagef("0 shows none", "--last %d is negative", last)
			}
			return a.withStore(func(s *store) error {
				list, err := s.List(cmd.Context())
				if err != nil {
					return err
				}
				row, err := s.summary(cmd.Context(), sessionArgument(args))
				if err != nil {
					return err
				}
				shown := shownSession{Summary: row, Subagents: []subagent{}}
				for _, child := range subagentsOf(list, row.ID) {
					shown.Subagents = append(shown.Subagents, subagent{child.ID, child.Status, child.Title})
				}
				if err := shown.read(cmd.Context(), s, last); err != nil {
					return stateFault(row.ID, err)
				}
				return a.print(asJSON, shown, func(w io.Writer) error { return writeSession(w, shown) })
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().IntVar(&last, "last", 20, "how many of the last events to show")
	return cmd
}

// shownSession is what show prints.
type shownSession struct {
	session.Summary
	Subagents []subagent      `json:"subagents"`
	Questions []fold.Question `json:"questions"`
	Log       []session.Event `json:"log"`
	// Damage is what does not read, among the events of Log or behind them.
	Damage []session.Damage `json:"damage,omitempty"`
}

// subagent is a session that another one spawned.
type subagent struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Title  string `json:"title"`
}

// read reads the last events and the open questions, behind damage too. The error is
// that of the whole where nothing reads.
func (s *shownSession) read(ctx context.Context, st *store, last int) error {
	err := s.readWhole(ctx, st, last)
	if !errors.Is(err, session.ErrDamaged) {
		return err
	}
	found, any := err, false
	s.Log, s.Damage = []session.Event{}, nil
	for e, err := range st.behind(ctx, s.ID, found) {
		var damage *session.Damage
		switch {
		case errors.As(err, &damage):
			s.Damage = append(s.Damage, *damage)
		case err != nil:
			return err
		default:
			any = true
			if s.Log = append(s.Log, e); len(s.Log) > last {
				s.Log = s.Log[1:]
			}
		}
	}
	if !any {
		return found
	}
	over := &passedOver{s.Damage, found}
	st.warn(fmt.Sprintf("session %s is damaged: %v", s.ID, over),
		"tureen session verify "+s.ID+" says what is wrong, tureen session salvage "+s.ID+" rescues what is whole")
	if len(s.Log) > 0 {
		first := s.Log[0].Seq
		s.Damage = slices.DeleteFunc(s.Damage, func(d session.Damage) bool { return d.To != 0 && d.To < first })
	}
	return s.readQuestions(ctx, rest{s: st, id: s.ID, found: found})
}

func (s *shownSession) readWhole(ctx context.Context, st *store, last int) error {
	r, err := st.View(ctx, s.ID)
	if err != nil {
		return err
	}
	defer r.Close()
	if s.Log, err = lastEvents(ctx, r, last); err != nil {
		return err
	}
	return s.readQuestions(ctx, r)
}

func (s *shownSession) readQuestions(ctx context.Context, r session.Reader) error {
	open, err := openQuestions(ctx, r)
	s.Questions = append([]fold.Question{}, open...)
	return err
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

func writeSession(w io.Writer, s shownSession) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(tab, "session\t%s\ntitle\t%s\nstatus\t%s\nprofile\t%s\nstrategy\t%s\nworkspace\t%s\n", s.ID, render.Head(s.Title, 200), s.Status, plain(s.Profile), plain(s.Strategy), plain(s.Workspace))
	fmt.Fprintf(tab, "created\t%s\nupdated\t%s\nsize\t%s, %s, %s\n", clock(s.Created), clock(s.Updated),
		render.Count(s.Turns, "turn"), render.Count(int(s.Events), "event"), size(s.Bytes))
	if s.Archived {
		fmt.Fprintf(tab, "archived\tyes; tureen session archive --undo %s takes it out again\n", s.ID)
	}
	if s.Origin != nil {
		fmt.Fprintf(tab, "origin\t%s\n", origin(s.Origin))
	}
	if s.Parent != "" {
		fmt.Fprintf(tab, "subagent of\t%s\n", render.Head(s.Parent, 80))
	}
	for _, c := range s.Subagents {
		fmt.Fprintf(tab, "subagent\t%s %s: %s\n", c.ID, c.Status, render.Head(c.Title, 80))
	}
	for _, q := range s.Questions {
		fmt.Fprintf(tab, "open %s\t%s: %s\n", q.Kind, q.ID, render.Head(q.Text, 200))
	}
	if err := tab.Flush(); err != nil || len(s.Log)+len(s.Damage) == 0 {
		return err
	}
	fmt.Fprintln(w)
	damage := s.Damage
	lost := func(before int64) {
		for ; len(damage) > 0 && damage[0].From < before; damage = damage[1:] {
			fmt.Fprintf(tab, "%d\t\t\t(damaged)\t%s\n", damage[0].From, render.Head(damage[0].Error(), 200))
		}
	}
	for _, e := range s.Log {
		lost(e.Seq)
		where := ""
		if e.Turn > 0 {
			where = fmt.Sprintf("%d.%d", e.Turn, e.Step)
		}
		fmt.Fprintf(tab, "%d\t%s\t%s\t%s\t%s\n", e.Seq, e.Time.Local().Format("15:04:05.000"), where, render.Head(string(e.Kind), 80), render.Gist(e))
	}
	lost(math.MaxInt64)
	return tab.Flush()
}

// origin says what a log was made from.
func origin(o *session.Origin) string {
	from := render.Head(o.Session, 80)
	switch o.How {
	case session.HowFork:
		return fmt.Sprintf("forked from %s at event %d", from, o.Seq)
	case session.HowSalvage:
		return "salvaged from " + from
	}
	return render.Head(string(o.How), 40) + " of " + from
}
