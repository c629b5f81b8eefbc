package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/profile"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup/notes"
)

func (a *app) sessionRmCommand() *cobra.Command {
	var older string
	var yes bool
	cmd := &cobra.Command{
		Use:   "rm ID... | --all-older-than AGE",
		Short: "Remove sessions for good",
		Long: `Rm removes sessions with all that their logs hold; there is no way back. It asks
first at a terminal, elsewhere it needs --yes. The sessions of its subagents go with
a session, its forks stay. A session that a process works in stays, and the exit
code is 9.

AGE counts from the last change: 12h, 30d, 8w. The notes of a session are not
removed; where they are is said.`,
		Example: `  tureen session rm 01k7
  tureen session rm --all-older-than 30d --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && older == "":
				return usagef("usage: "+cmd.UseLine(), "no session is named")
			case len(args) > 0 && older != "":
				return usagef("leave one of them out", "both sessions and --all-older-than are given")
			}
			return a.withStore(func(s *store) error { return a.removeSessions(cmd.Context(), s, args, older, yes) })
		},
	}
	cmd.Flags().StringVar(&older, "all-older-than", "", "remove each session that did not change for so long")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// removeSessions removes what is named, or old. What cannot be removed does not
// keep the rest.
func (a *app) removeSessions(ctx context.Context, s *store, ids []string, older string, yes bool) error {
	remover, ok := s.Store.(session.Remover)
	if !ok {
		return faultf(exitState, "SESSION_STORE", "", "this store does not remove sessions")
	}
	list, err := s.List(ctx)
	if err != nil {
		return err
	}
	rows, err := s.named(ctx, ids)
	if older != "" {
		rows, err = olderThan(list, older, time.Now())
	}
	if err != nil {
		return err
	}
	rows = withSubagents(list, rows)
	if err := a.mayRemove(ctx, rows, yes); err != nil {
		return err
	}
	var kept []*fault
	err = a.print(false, nil, func(w io.Writer) (err error) {
		if len(rows) == 0 {
			_, err = fmt.Fprintln(w, "no session is that old")
		}
		stays := map[string]bool{}
		for _, row := range rows {
			if stays[row.ID] = stays[row.Parent]; stays[row.ID] {
				continue // it goes with its parent
			}
			if err := a.removeSession(ctx, w, remover, row); err != nil {
				stays[row.ID] = true
				kept = append(kept, faultOf(stateFault(row.ID, err)))
			}
		}
		return err
	})
	return a.firstOf(kept, err)
}

func (a *app) removeSession(ctx context.Context, w io.Writer, remover session.Remover, row session.Summary) error {
	dir := a.notesOf(row)
	if err := remover.Remove(ctx, row.ID); err != nil {
		return err
	}
	fmt.Fprintf(w, "removed %s (%s)%s\n", row.ID, size(row.Bytes), ofParent(row))
	if dir != "" {
		fmt.Fprintf(w, "  its notes stay in %s\n", dir)
	}
	return nil
}

func ofParent(row session.Summary) string {
	if row.Parent == "" {
		return ""
	}
	return ", a subagent of " + row.Parent
}

// named finds sessions by the beginnings of their ids, each once.
func (s *store) named(ctx context.Context, ids []string) ([]session.Summary, error) {
	var rows []session.Summary
	for _, id := range ids {
		row, err := s.summary(ctx, id)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(rows, func(r session.Summary) bool { return r.ID == row.ID }) {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// olderThan are the sessions that did not change for so long, and neither did those
// of their subagents.
func olderThan(list []session.Summary, age string, now time.Time) ([]session.Summary, error) {
	d, err := parseAge(age)
	if err != nil {
		return nil, err
	}
	var old []session.Summary
	for _, b := range forest(list) {
		tree := withSubagents(list, []session.Summary{b.Summary})
		if b.depth == 0 && !slices.ContainsFunc(tree, func(row session.Summary) bool { return !row.Updated.Before(now.Add(-d)) }) {
			old = append(old, b.Summary)
		}
	}
	return old, nil
}

var days = regexp.MustCompile(`^(\d{1,5})([dw])$`)

// parseAge reads 30d, 8w, or a duration.
func parseAge(text string) (time.Duration, error) {
	if m := days.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // they are digits
		unit := 24 * time.Hour
		if m[2] == "w" {
			unit *= 7
		}
		return time.Duration(n) * unit, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usagef("write it as 12h, 30d or 8w", "--all-older-than %q is no age", text)
	}
	return d, nil
}

// mayRemove has the person agree.
func (a *app) mayRemove(ctx context.Context, rows []session.Summary, yes bool) error {
	if yes || len(rows) == 0 {
		return nil
	}
	if !a.canAsk() {
		return usagef("look at what is meant, then add --yes", "%s to be removed, and nobody can be asked", areSessions(len(rows)))
	}
	for _, row := range rows {
		a.lines.Print(fmt.Sprintf("  %s  %s  %s  %s%s", row.ID, clock(row.Updated), size(row.Bytes), mark(row), render.Head(row.Title, 50)))
	}
	agreed, err := a.agrees(ctx, "remove "+render.Count(len(rows), "session")+" for good?")
	if err == nil && !agreed {
		err = usagef("", "nothing was removed")
	}
	return err
}

func areSessions(n int) string {
	if n == 1 {
		return "1 session is"
	}
	return fmt.Sprintf("%d sessions are", n)
}

// notesOf is where the notes of a session are, "" where it has none.
func (a *app) notesOf(row session.Summary) string {
	home, err := a.notesHome(&profile.Profile{})
	if err != nil {
		return ""
	}
	if o, err := a.profileOptions(row.Workspace); err == nil {
		if p, err := profile.Load(row.Profile, o); err == nil && p.NotesHome != "" {
			home = p.NotesHome
		}
	}
	if _, err := os.Stat(home); err != nil {
		return ""
	}
	tree, err := notes.Open(home)
	if err != nil {
		return ""
	}
	defer tree.Close()
	s, err := tree.Store(notes.Who{Session: row.ID, Created: row.Created, Agent: "tureen", Workspace: row.Workspace})
	if err != nil {
		return ""
	}
	dir := s.Homes()[0].Where() // its own
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}
