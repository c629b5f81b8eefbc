package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/notesoup/notes"
)

func (a *app) notesSearchCommand() *cobra.Command {
	var asJSON bool
	var id, in string
	var limit int
	cmd := &cobra.Command{
		Use:   "search TEXT",
		Short: "Find words in notes",
		Long: `Search finds a text, letter for letter but without regard to case, in the notes that
a session sees, line by line. Where it stands nowhere that is said, and the exit code
is 0. What does not read is passed over with a warning.`,
		Example: `  tureen notes search "port 8080"
  tureen notes search TODO --in @project
  tureen notes search deploy --in @human/habits --json | jq -r '.matches[].line'`,
		Args: arguments(1, 1, "one text"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 0 {
				return usagef("0 shows all", "--limit %d is negative", limit)
			}
			return a.withNotes(cmd.Context(), id, func(s *notes.Store) error {
				return a.searchNotes(cmd.Context(), s, notes.SearchAsk{Query: args[0], In: in}, limit, asJSON)
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	noteSessionFlag(cmd, &id)
	cmd.Flags().StringVar(&in, "in", "", "search this note, folder or home only")
	_ = cmd.RegisterFlagCompletionFunc("in", a.completeNote) // it is there
	cmd.Flags().IntVar(&limit, "limit", 100, "how many matches to show; 0 shows all")
	return cmd
}

// noteSessionFlag names the session whose notes a verb is about.
func noteSessionFlag(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "session", "last", "the session whose notes are meant")
}

// noteMatches is the object of notes search.
type noteMatches struct {
	Query   string      `json:"query"`
	In      string      `json:"in"`
	Notes   int         `json:"notes"`
	Matches []noteMatch `json:"matches"`
	More    bool        `json:"more"`
	Skipped []noteGap   `json:"skipped"`
}

type noteMatch struct {
	Address string `json:"address"`
	Line    int    `json:"line"`
	Rev     string `json:"rev"`
	Text    string `json:"text"`
}

// noteGap is an entry of a home that is not shown.
type noteGap struct {
	Address string `json:"address"`
	Why     string `json:"why"`
}

func (a *app) searchNotes(ctx context.Context, s *notes.Store, ask notes.SearchAsk, limit int, asJSON bool) error {
	out := noteMatches{Query: ask.Query, In: ask.In, Matches: []noteMatch{}, Skipped: []noteGap{}}
	var found notes.Found
	if s != nil {
		var err error
		if found, err = s.Matches(ctx, ask); notes.CodeOf(err) == notes.CodeTooLarge {
			return usagef(fmt.Sprintf("use 1 to %d characters", notes.MaxQuery), "%q cannot be searched for", render.Head(ask.Query, 40))
		} else if err != nil {
			return noteFault(err)
		}
	}
	out.Notes = found.Notes
	for _, m := range found.Matches {
		if out.More = limit > 0 && len(out.Matches) == limit; out.More {
			break
		}
		out.Matches = append(out.Matches, noteMatch{m.Address.String(), m.Line, m.Rev, m.Excerpt})
	}
	for _, sk := range found.Skipped {
		out.Skipped = append(out.Skipped, noteGap{sk.Path, sk.Why})
	}
	a.tellOf(out.Skipped)
	err := a.print(asJSON, out, func(w io.Writer) error { return out.write(w, a) })
	if err == nil && out.More && !asJSON && !a.quiet {
		a.lines.Print("there is more: --limit 0 shows all")
	}
	return err
}

// tellOf warns of what is in a home and not shown.
func (a *app) tellOf(gaps []noteGap) {
	if a.quiet {
		return
	}
	for _, g := range gaps[:min(len(gaps), 5)] {
		a.lines.Warning(fmt.Sprintf("%s is passed over: %s", line(g.Address), g.Why), "")
	}
	if more := len(gaps) - 5; more > 0 {
		a.lines.Warning(render.Count(more, "entry")+" more are passed over", "")
	}
}

func (m noteMatches) write(w io.Writer, a *app) error {
	style, err := render.NewStyle(a.color, w, a.env)
	if err != nil {
		return err
	}
	if len(m.Matches) == 0 {
		_, err := fmt.Fprintf(w, "%q stands in none of %s\n", m.Query, render.Count(m.Notes, "note"))
		return err
	}
	for _, row := range m.Matches {
		if _, err := fmt.Fprintf(w, "%s:%d: %s\n", style.Bold(row.Address), row.Line, render.PlainFor(w, row.Text)); err != nil {
			return err
		}
	}
	return nil
}
