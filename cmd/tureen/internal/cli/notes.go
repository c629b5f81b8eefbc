package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup/notes"
)

func (a *app) notesCommand() *cobra.Command {
	return group("notes", "The notes that agents keep", "", a.notesShowCommand())
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
	rows, err := noteRows(ctx, homes, scope.Slug)
	if err != nil {
		return noteFault(err)
	}
	return a.print(asJSON, rows, func(w io.Writer) error { return writeNotes(w, rows) })
}

func noteRows(ctx context.Context, homes []notes.Home, slug string) ([]noteRow, error) {
	rows := []noteRow{}
	for _, h := range homes {
		listing, err := h.List(ctx)
		if err != nil {
			return nil, err
		}
		for _, info := range listing.Notes {
			n, err := h.Read(ctx, info.Path)
			if err != nil {
				n = notes.Note{Info: info}
			}
			rows = append(rows, rowOf(notes.Address{Home: h.Kind(), Slug: slug, Path: info.Path}, n))
		}
	}
	return rows, nil
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
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", r.Address, clock(r.Written), size(r.Bytes), render.Head(r.Title, 60))
	}
	return tab.Flush()
}

// printNotes shows the notes of a session, or the one at an address, to a person.
func (a *app) printNotes(ctx context.Context, id, address string) error {
	return a.withNotes(ctx, id, func(s *notes.Store) error { return a.showNotes(ctx, s, address, false) })
}

// withNotes opens the notes as a session sees them; nil where there is no notes
// home yet: looking leaves no trace.
func (a *app) withNotes(ctx context.Context, prefix string, use func(*notes.Store) error) error {
	return a.withSession(ctx, prefix, func(row session.Summary, r session.Reader) error {
		p, err := a.sessionProfile(row.Profile, row.Workspace, "")
		if err != nil {
			return err
		}
		home, err := a.notesHome(p)
		if err != nil {
			return err
		}
		if _, err := os.Stat(home); errors.Is(err, fs.ErrNotExist) {
			return use(nil)
		}
		header, err := newestHeader(ctx, r)
		if err != nil {
			return err
		}
		tree, err := notes.Open(home)
		if err != nil {
			return noteFault(err)
		}
		defer tree.Close()
		s, err := tree.Store(notes.Who{Session: row.ID, Created: row.Created, Agent: p.AgentName,
			Provider: header.Provider, Model: header.Model, Workspace: row.Workspace})
		if err != nil {
			return noteFault(err)
		}
		return use(s)
	})
}

// newestHeader tells which model the session used last.
func newestHeader(ctx context.Context, r session.Reader) (session.Header, error) {
	for e, err := range r.Read(ctx, session.Query{Kinds: []session.Kind{session.KindRequestHeader}, Reverse: true, Limit: 1}) {
		if err != nil {
			return session.Header{}, err
		}
		return session.Decode[session.Header](e)
	}
	return session.Header{}, nil
}

// noteFault says what is wrong with an address or a note, to a person: the hints
// of a refusal are meant for a model, but for those that name another note.
func noteFault(err error) error {
	var refused *notes.Error
	if !errors.As(err, &refused) {
		message, hint := advice(err.Error())
		return faultf(exitState, "NOTES", hint, "%s", message)
	}
	exit, hint := exitState, "tureen notes show lists what there is"
	if refused.Code == notes.CodeAddress || refused.Code == notes.CodeHome {
		exit, hint = exitUsage, "tureen notes show --help tells how notes are addressed"
	}
	if strings.HasPrefix(refused.Next, "did you mean") {
		hint = refused.Next + "?"
	}
	return faultf(exit, string(refused.Code), hint, "%s", refused.Message)
}
