package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
)

func (a *app) sessionCommand() *cobra.Command {
	return group("session", "The sessions on this machine", `A session is one conversation, kept as an append-only log of events. ID may be the
beginning of an id, or "last" for the newest.`,
		a.sessionListCommand(), a.sessionShowCommand(), a.sessionWindowsCommand(),
		a.sessionSearchCommand(), a.sessionForkCommand(), a.sessionArchiveCommand(), a.sessionExportCommand(), a.sessionImportCommand(),
		a.sessionVerifyCommand(), a.sessionSalvageCommand(), a.sessionRmCommand())
}

func (a *app) sessionListCommand() *cobra.Command {
	var asJSON, all bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the sessions, newest first",
		Long: `List shows the sessions, newest first, those of subagents indented under the session
that spawned them. Archived ones are left out unless --all is given; --json always
has all of them, in one list, with "archived" and "parent".`,
		Example: `  tureen session list
  tureen session list --all
  tureen session list --json | jq -r '.[0].id'`,
		Args: arguments(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withStore(func(s *store) error {
				list, err := s.List(cmd.Context())
				if err != nil {
					return err
				}
				if list == nil {
					list = []session.Summary{}
				}
				return a.print(asJSON, list, func(w io.Writer) error { return writeSessions(w, list, all) })
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&all, "all", false, "list archived sessions too")
	return cmd
}

func writeSessions(w io.Writer, list []session.Summary, all bool) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(w, `no session so far; start one: tureen run "PROMPT"`)
		return err
	}
	shown, hidden := forest(list), 0
	if !all {
		shown, hidden = unarchived(shown)
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(shown) > 0 {
		fmt.Fprintln(tab, "ID\tSTATUS\tUPDATED\tTURNS\tSIZE\tPROFILE\tSTRATEGY\tTITLE")
	}
	for _, b := range shown {
		fmt.Fprintf(tab, "%s%s\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", strings.Repeat("  ", b.depth), b.ID, b.Status, clock(b.Updated), b.Turns, size(b.Bytes),
			plain(b.Profile), plain(b.Strategy), listMark(b)+render.Head(b.Title, 50))
	}
	if err := tab.Flush(); err != nil || hidden == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "%s: tureen session list --all\n", areArchived(hidden))
	return err
}

// listMark leaves out what the indent says already.
func listMark(b branch) string {
	if b.depth > 0 {
		b.Parent = ""
	}
	return mark(b.Summary)
}

func areArchived(n int) string {
	if n == 1 {
		return "1 session is archived"
	}
	return fmt.Sprintf("%d sessions are archived", n)
}

func clock(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

func size(bytes int64) string {
	if bytes >= 1e9 {
		return fmt.Sprintf("%.1fGB", float64(bytes)/1e9)
	}
	return render.Amount(int(bytes)) + "B"
}

// withSession opens a session for reading.
func (a *app) withSession(ctx context.Context, prefix string, read func(session.Summary, session.Reader) error) error {
	return a.withStore(func(s *store) error { return s.withSession(ctx, prefix, read) })
}

func (s *store) withSession(ctx context.Context, prefix string, read func(session.Summary, session.Reader) error) error {
	row, err := s.summary(ctx, prefix)
	if err != nil {
		return err
	}
	r, err := s.View(ctx, row.ID)
	if err != nil {
		return err
	}
	defer r.Close()
	err = read(row, r)
	if errors.Is(err, session.ErrDamaged) || errors.Is(err, session.ErrNewer) {
		return stateFault(row.ID, err)
	}
	return err
}

// sessionArgument is the session that a reading verb is about.
func sessionArgument(args []string) string {
	if len(args) == 0 {
		return "last"
	}
	return args[0]
}
