package cli

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/notesoup/notes"
)

const notesLong = `Agents keep notes in homes: small text files that outlive a conversation. A bare
address, such as plans/release, is a note of the session; @project, @human, @self and
@model are the homes of its project, of you, of the agent and of the model, and
@projects/SLUG is another project's, which can only be read.`

func (a *app) notesCommand() *cobra.Command {
	return group("notes", "The notes that agents keep", notesLong,
		a.notesShowCommand(), a.notesSearchCommand(), a.notesEditCommand(), a.notesLogCommand(), a.notesDiffCommand(), a.notesRestoreCommand())
}

func (a *app) notesShowCommand() *cobra.Command {
	var asJSON bool
	var id string
	cmd := &cobra.Command{
		Use:   "show [ADDRESS]",
		Short: "List notes, or print one",
		Long: `Show lists the notes that a session sees: its own, and those of its project, of
you, of the agent and of the model. With the address of a note it prints the
note, with that of a home it lists the home.

A bare address is a note of the session; @project, @human, @self and @model are
the other homes.`,
		Example: `  tureen notes show
  tureen notes show MAP
  tureen notes show @project --session 01k7
  tureen notes show @project/decisions --json`,
		Args: arguments(0, 1, "one address"),
		RunE: func(cmd *cobra.Command, args []string) error {
			address := ""
			if len(args) > 0 {
				address = args[0]
			}
			return a.withNotes(cmd.Context(), id, func(s *notes.Store) error { return a.showNotes(cmd.Context(), s, address, asJSON) })
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().StringVar(&id, "session", "last", "the session whose notes are meant")
	return cmd
}

// noteRow is a note in a list, with its text where it alone was asked for.
type noteRow struct {
	Address string    `json:"address"`
	Rev     string    `json:"rev"`
	Bytes   int64     `json:"bytes"`
	Written time.Time `json:"written"`
	Title   string    `json:"title"`
	Text    *string   `json:"text,omitempty"`
	Problem string    `json:"problem,omitempty"` // why it does not read
}

func (a *app) showNotes(ctx context.Context, s *notes.Store, address string, asJSON bool) error {
	scope, err := notes.ParseScope(address)
	if err != nil {
		return noteFault(err)
	}
	if s == nil && scope.Path != "" {
		return noteFault(notes.Refuse(notes.CodeNotFound, "", "there is no note %s", address))
	}
	if s == nil {
		return a.print(asJSON, []noteRow{}, func(w io.Writer) error { return writeNotes(w, nil) })
	}
	if scope.Path != "" {
		at, n, err := s.Read(ctx, address)
		if err != nil {
			return noteFault(err)
		}
		row := rowOf(at, n)
		row.Text = &n.Text
		return a.print(asJSON, row, func(w io.Writer) error {
			_, err := io.WriteString(w, render.PlainFor(w, n.Text))
			return err
		})
	}
	homes := s.Homes()
	if address != "" {
		h, err := s.Home(scope)
		if err != nil {
			return noteFault(err)
		}
		homes = []notes.Home{h}
	}
	rows, gaps, err := noteRows(ctx, homes, scope.Slug)
	if err != nil {
		return noteFault(err)
	}
	a.tellOf(gaps)
	return a.print(asJSON, rows, func(w io.Writer) error { return writeNotes(w, rows) })
}

// noteRows lists homes; gaps are what is in them and is no note.
func noteRows(ctx context.Context, homes []notes.Home, slug string) (rows []noteRow, gaps []noteGap, err error) {
	rows = []noteRow{}
	for _, h := range homes {
		listing, err := h.List(ctx)
		if err != nil {
			return nil, nil, err
		}
		at := func(path string) notes.Address { return notes.Address{Home: h.Kind(), Slug: slug, Path: path} }
		for _, info := range listing.Notes {
			n, err := h.Read(ctx, info.Path)
			if err != nil {
				n = notes.Note{Info: info}
			}
			rows = append(rows, rowOf(at(info.Path), n))
			rows[len(rows)-1].Problem = string(notes.CodeOf(err))
		}
		for _, sk := range listing.Skipped {
			gaps = append(gaps, noteGap{at(sk.Path).String(), sk.Why})
		}
		if listing.More {
			gaps = append(gaps, noteGap{at("").String(), fmt.Sprintf("it has more than %d notes", notes.MaxNotes)})
		}
	}
	return rows, gaps, nil
}

func rowOf(at notes.Address, n notes.Note) noteRow {
	return noteRow{Address: at.String(), Rev: n.Rev, Bytes: n.Bytes, Written: n.Written, Title: n.Title()}
}

func writeNotes(w io.Writer, rows []noteRow) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(w, "no notes")
		return err
	}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "ADDRESS\tWRITTEN\tSIZE\tTITLE")
	for _, r := range rows {
		title := render.Head(r.Title, 60)
		if r.Problem != "" {
			title = "(" + r.Problem + ")"
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", r.Address, clock(r.Written), size(r.Bytes), title)
	}
	return tab.Flush()
}

// printNotes shows the notes of a session, or the one at an address, to a person.
func (a *app) printNotes(ctx context.Context, id, address string) error {
	return a.withNotes(ctx, id, func(s *notes.Store) error { return a.showNotes(ctx, s, address, false) })
}
