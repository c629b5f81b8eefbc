package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/notesoup/notes"
)

func (a *app) notesLogCommand() *cobra.Command {
	var asJSON bool
	var id string
	var limit int
	cmd := &cobra.Command{
		Use:   "log [ADDRESS]",
		Short: "List the versions of notes",
		Long: `Log lists the versions of a note, newest first, or of all notes of a home; without an
address, of all homes of the session. Whoever replaces, edits, moves or deletes a note,
its old text is kept, up to 256 of a home. An append keeps none, for it loses none:
where the session made it, the text from before it is found all the same.

A version goes by its revision, eight hex digits: tureen notes diff and tureen notes
restore take it. MADE BY names the event where this session did it.

--json prints an array of {address, rev, bytes, written, made_by, session, seq, ended,
ended_by}; ended is null for what stands there now.`,
		Example: `  tureen notes log
  tureen notes log @project/decisions
  tureen notes log @human --limit 0 --json | jq '.[] | select(.ended_by == "delete")'`,
		Args: arguments(0, 1, "one address"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return usagef("0 shows all", "--limit %d is negative", limit)
			}
			address := ""
			if len(args) > 0 {
				address = args[0]
			}
			return a.withNotes(cmd.Context(), id, func(s *notes.Store) error {
				return a.logNotes(cmd.Context(), s, address, id, limit, asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	noteSessionFlag(cmd, &id)
	cmd.Flags().IntVar(&limit, "limit", 50, "how many versions to list; 0 lists all")
	return cmd
}

// noteVersion is a row of notes log.
type noteVersion struct {
	Address string     `json:"address"`
	Rev     string     `json:"rev"`
	Bytes   int64      `json:"bytes"`
	Written time.Time  `json:"written"`
	MadeBy  notes.By   `json:"made_by"` // "" where it is not known
	Session string     `json:"session"` // that made it, "" where it is not known
	Seq     int64      `json:"seq"`     // in its log, 0 where it is not known
	Ended   *time.Time `json:"ended"`
	EndedBy notes.By   `json:"ended_by"`
	Problem string     `json:"problem,omitempty"` // why the text cannot be had
}

// when is what the log goes by: the time of the newest thing that happened to it.
func (v noteVersion) when() time.Time {
	if v.Ended != nil {
		return *v.Ended
	}
	return v.Written
}

func (a *app) logNotes(ctx context.Context, s *notes.Store, address, id string, limit int, asJSON bool) error {
	rows := []noteVersion{}
	if s != nil {
		done, err := a.noteWrites(ctx, id)
		if err != nil {
			return err
		}
		if rows, err = versionRows(ctx, s, address, done, limit); err != nil {
			return noteFault(err)
		}
	}
	scope, err := notes.ParseScope(address)
	if err != nil {
		return noteFault(err)
	}
	if len(rows) == 0 && scope.Path != "" {
		return noteFault(notes.Refuse(notes.CodeNotFound, "", "there is no note %s, and no version of one is kept", address))
	}
	more := limit > 0 && len(rows) > limit
	if more {
		rows = rows[:limit]
	}
	err = a.print(asJSON, rows, func(w io.Writer) error { return writeVersions(w, rows, scope.Path == "") })
	if err == nil && more && !asJSON && !a.quiet {
		a.lines.Print("there is more: --limit 0 lists all")
	}
	return err
}

// versionRows are the newest versions of a note, of a home, or of all homes, one more
// than the limit where there are more.
func versionRows(ctx context.Context, s *notes.Store, address string, done noteWrites, limit int) ([]noteVersion, error) {
	scopes := []string{address}
	if address == "" {
		scopes = scopes[:0]
		for _, h := range s.Homes() {
			scopes = append(scopes, notes.Address{Home: h.Kind()}.String())
		}
	}
	parsed, err := notes.ParseScope(address)
	one := err == nil && parsed.Path != "" // of one note the present version leads
	rows := []noteVersion{}
	for _, scope := range scopes {
		n := 0
		texts := []string{}
		for v, err := range s.Versions(ctx, scope) {
			if err != nil {
				return nil, err
			}
			if rows = append(rows, done.row(v)); done.of(v.String()) != nil {
				texts = append(texts, v.Text)
			}
			if n++; limit > 0 && n > limit {
				break
			}
		}
		if one {
			rows = done.addAppends(rows, texts)
		}
	}
	slices.SortStableFunc(rows, func(x, y noteVersion) int {
		if one && x.Ended == nil {
			return -1
		}
		if one && y.Ended == nil {
			return 1
		}
		return y.when().Compare(x.when())
	})
	byOthers(rows)
	return rows, nil
}

func writeVersions(w io.Writer, rows []noteVersion, addresses bool) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "no notes")
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head, row := "REV\tWRITTEN\tSIZE\tMADE BY\tENDED\n", func(noteVersion) string { return "" }
	if addresses {
		head, row = "ADDRESS\t"+head, func(v noteVersion) string { return v.Address + "\t" }
	}
	fmt.Fprint(tab, head)
	for _, v := range rows {
		made, ended, rev := "-", "-", v.Rev
		if v.MadeBy != "" {
			made = string(v.MadeBy)
		}
		if v.Seq > 0 {
			made += fmt.Sprintf(", event %d", v.Seq)
		}
		if v.Ended != nil {
			ended = strings.TrimSpace(fmt.Sprintf("%s %s", clock(*v.Ended), v.EndedBy))
		}
		if v.Problem != "" {
			rev = v.Problem
		}
		fmt.Fprintf(tab, "%s%s\t%s\t%s\t%s\t%s\n", row(v), rev, clock(v.Written), size(v.Bytes), made, ended)
	}
	return tab.Flush()
}
