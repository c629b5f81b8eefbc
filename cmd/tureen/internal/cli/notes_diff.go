package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/notesoup/notes"
)

func (a *app) notesDiffCommand() *cobra.Command {
	var asJSON bool
	var id string
	cmd := &cobra.Command{
		Use:   "diff ADDRESS [REV [REV]]",
		Short: "Show what changed in a note",
		Long: `Diff shows a unified diff: of the newest version that is kept and the note as it
stands, of the version REV and the note, or of two versions. Revisions are those of
tureen notes log. Of a note that is gone the other side is empty. The exit code is 0
whether or not there is a difference.`,
		Example: `  tureen notes diff @project/decisions
  tureen notes diff @project/decisions 02bd77e0
  tureen notes diff MAP 02bd77e0 7f3a91c2 --session 01k7`,
		Args: arguments(1, 3, "an address and up to two revisions"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onNote(cmd.Context(), id, args[0], func(n *oldNote) error {
				d, err := n.diff(cmd.Context(), args[1:])
				if err != nil {
					return err
				}
				return a.print(asJSON, d, func(w io.Writer) error { return d.write(w, a) })
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	noteSessionFlag(cmd, &id)
	return cmd
}

// noteDiff is the object of notes diff. From and To are null for what is not there.
type noteDiff struct {
	Address string    `json:"address"`
	From    *noteSide `json:"from"`
	To      *noteSide `json:"to"`
	Added   int       `json:"added"` // lines
	Removed int       `json:"removed"`
	Diff    string    `json:"diff"`
}

type noteSide struct {
	Rev     string     `json:"rev"`
	Written time.Time  `json:"written"`
	Ended   *time.Time `json:"ended"`
}

func (n *oldNote) diff(ctx context.Context, revs []string) (noteDiff, error) {
	from, to, err := n.sides(ctx, revs)
	if err != nil {
		return noteDiff{}, err
	}
	d := noteDiff{Address: n.at.String(), From: sideOf(from), To: sideOf(to)}
	_, d.Diff, _ = strings.Cut(string(diff.Diff(d.name(d.From), []byte(from.Text), d.name(d.To), []byte(to.Text))), "\n")
	d.Added, d.Removed = changedLines(d.Diff)
	return d, nil
}

// sides are the two texts; the zero Version is that of no note.
func (n *oldNote) sides(ctx context.Context, revs []string) (from, to notes.Version, err error) {
	if len(revs) == 2 {
		if from, err = n.version(ctx, revs[0]); err == nil {
			to, err = n.version(ctx, revs[1])
		}
		return from, to, err
	}
	newest, err := n.newest(ctx, 2)
	if err != nil {
		return from, to, err
	}
	rest := newest
	if newest[0].Ended.IsZero() {
		to, rest = newest[0], newest[1:]
	}
	if len(revs) == 1 {
		from, err = n.version(ctx, revs[0])
	} else if len(rest) > 0 {
		from = rest[0]
	}
	return from, to, err
}

func sideOf(v notes.Version) *noteSide {
	if v.Rev == "" {
		return nil
	}
	s := &noteSide{Rev: v.Rev, Written: v.Written}
	if !v.Ended.IsZero() {
		s.Ended = &v.Ended
	}
	return s
}

func (d noteDiff) name(s *noteSide) string {
	if s == nil {
		return "/dev/null"
	}
	return d.Address + " rev=" + s.Rev
}

func changedLines(text string) (added, removed int) {
	for _, line := range body(text) {
		switch line[0] {
		case '+':
			added++
		case '-':
			removed++
		}
	}
	return added, removed
}

// body are the lines of a diff behind its two names.
func body(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	return lines[min(2, len(lines)):]
}

func (d noteDiff) write(w io.Writer, a *app) error {
	style, err := render.NewStyle(a.color, w, a.env)
	if err != nil {
		return err
	}
	if d.Diff == "" {
		if !a.quiet {
			a.lines.Print(d.Address + ": no difference")
		}
		return nil
	}
	for i, line := range strings.SplitAfter(d.Diff, "\n") {
		text, end := strings.CutSuffix(line, "\n")
		switch text = render.PlainFor(w, text); {
		case i < 2:
			text = style.Bold(text)
		case strings.HasPrefix(text, "@@"):
			text = style.Cyan(text)
		case strings.HasPrefix(text, "+"):
			text = style.Green(text)
		case strings.HasPrefix(text, "-"):
			text = style.Red(text)
		}
		if end {
			text += "\n"
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}
