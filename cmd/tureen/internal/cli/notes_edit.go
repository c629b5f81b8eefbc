package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// noteEdit is one edit of a note by a person.
type noteEdit struct {
	*app
	desk    noteDesk
	address string // as it was typed
	from    string // a file, "-" for stdin, "" for the editor
	ifRev   string

	at  notes.Address
	rev string // that is edited, "" for a note that is made
	old string
}

func (a *app) notesEditCommand() *cobra.Command {
	var id string
	e := &noteEdit{app: a}
	cmd := &cobra.Command{
		Use:   "edit ADDRESS",
		Short: "Edit a note, or make one",
		Long: `Edit opens a note in $VISUAL, else $EDITOR, else vi, and writes what you saved as an
agent would: under the same lock, within the same limits of a note, with the old text
kept as a version (tureen notes log). The home is not locked while you type. If
somebody else changed the note meanwhile, nothing is written: your text stays in a
file that is named, and so is what merges it.

--from takes the text from a file, or from stdin with "-", and needs no terminal.
With --if-rev the note is written only if it has that revision.

A running agent sees the new text when it reads the note, and in its next notebook.`,
		Example: `  tureen notes edit @human/habits
  EDITOR="code --wait" tureen notes edit @project/decisions
  printf 'Always run the linter.\n' | tureen notes edit @self/rules --from -
  tureen notes edit MAP --session 01k7 --if-rev 7f3a91c2 --from map.md`,
		Args: arguments(1, 1, "one address"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e.address = args[0]
			if _, err := notes.Parse(e.address); err != nil {
				return noteFault(err)
			}
			var err error
			if e.desk, err = a.noteDeskOf(cmd.Context(), id); err != nil {
				return err
			}
			return e.desk.open(func(s *notes.Store) error { return e.run(cmd.Context(), s) })
		},
	}
	noteSessionFlag(cmd, &id)
	cmd.Flags().StringVar(&e.from, "from", "", `take the text from this file, "-" for stdin`)
	cmd.Flags().StringVar(&e.ifRev, "if-rev", "", "write only if the note has this revision")
	return cmd
}

func (e *noteEdit) run(ctx context.Context, s *notes.Store) error {
	if err := e.read(ctx, s); err != nil {
		return err
	}
	if e.from == "" {
		return e.inEditor(ctx, s)
	}
	text, err := e.input(ctx)
	if err != nil {
		return err
	}
	said, err := e.put(ctx, s, text)
	if err == nil {
		return e.say(said)
	}
	file := e.from
	if file == "-" {
		var cannot error
		if file, cannot = keepText(path.Base(e.at.Path), text); cannot != nil {
			return noteFault(err)
		}
	}
	return e.kept(err, file)
}

// read takes the note as it stands now.
func (e *noteEdit) read(ctx context.Context, s *notes.Store) error {
	at, h, err := s.Find(e.address)
	if err != nil {
		return noteFault(err)
	}
	if e.at = at; at.Home == notes.Other {
		return noteFault(notes.Refuse(notes.CodeReadOnly, "", "%s belongs to another project", at))
	}
	n, err := h.Read(ctx, at.Path)
	if err != nil && notes.CodeOf(err) != notes.CodeNotFound {
		return noteFault(err)
	}
	if e.rev, e.old = n.Rev, n.Text; e.ifRev != "" && e.ifRev != e.rev {
		return e.conflict(fmt.Sprintf("%s has rev=%s, not %s", at, cmp.Or(e.rev, "none"), e.ifRev))
	}
	return nil
}

func (e *noteEdit) conflict(message string) *fault {
	return faultf(exitState, string(notes.CodeRev), e.desk.command("show", e.at.String())+" --json tells its revision", "%s", message)
}

// maxNoteInput is what is read at most: more is no note.
const maxNoteInput = 1 << 20

// input is the text of --from.
func (e *noteEdit) input(ctx context.Context) (string, error) {
	type input struct {
		text string
		err  error
	}
	read := make(chan input, 1)
	go func() {
		if e.from == "-" {
			text, err := readText(e.in)
			read <- input{text, err}
			return
		}
		text, err := readTextFile(e.from)
		read <- input{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case in := <-read:
		if in.err != nil {
			return "", usagef("name a file with the text, or - for stdin", "--from %s: %v", e.from, cause(in.err))
		}
		return in.text, nil
	}
}

func readText(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxNoteInput+1))
	if err == nil && len(b) > maxNoteInput {
		err = fmt.Errorf("it has more than %d bytes, a note has at most %d", maxNoteInput, notes.MaxNoteBytes)
	}
	return string(b), err
}

func readTextFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return readText(f)
}

// put writes the text and says what it came to.
func (e *noteEdit) put(ctx context.Context, s *notes.Store, text string) (said string, err error) {
	switch {
	case text == e.old && e.rev == "":
		return fmt.Sprintf("nothing was written, so %s was not made", e.at), nil
	case text == e.old:
		return fmt.Sprintf("%s is unchanged (rev=%s)", e.at, e.rev), nil
	}
	r, err := s.Put(ctx, e.address, text, e.rev)
	if err != nil {
		return "", err
	}
	return noteDone(r), nil
}

func (e *noteEdit) say(text string) error {
	return e.print(false, nil, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, text)
		return err
	})
}

// noteDone tells of a change.
func noteDone(r notes.Receipt) string {
	what := fmt.Sprintf("(rev=%s, %s)", r.After.Rev, render.Count(r.After.Lines(), "line"))
	switch {
	case !r.Changed:
		return fmt.Sprintf("%s is unchanged %s", r.Address, what)
	case r.Before == nil:
		return fmt.Sprintf("%s is made %s", r.Address, what)
	}
	return fmt.Sprintf("%s is changed %s; rev=%s is kept", r.Address, what, r.Before.Rev)
}
