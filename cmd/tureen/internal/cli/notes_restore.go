package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/notesoup/notes"
)

func (a *app) notesRestoreCommand() *cobra.Command {
	var id string
	cmd := &cobra.Command{
		Use:   "restore ADDRESS [REV]",
		Short: "Put an old version of a note back",
		Long: `Restore puts back a version that tureen notes log lists. What stands there now is kept
as a version, so a restore can be taken back the same way. It also brings back a note
that was deleted, or moved away: then REV may be left out, and the newest version is
taken. A note that was moved stays where it is besides.`,
		Example: `  tureen notes restore @project/decisions 02bd77e0
  tureen notes restore plans/release`,
		Args: arguments(1, 2, "an address and a revision"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.onNote(cmd.Context(), id, args[0], func(n *oldNote) error { return n.restore(cmd.Context(), args[1:]) })
		},
	}
	noteSessionFlag(cmd, &id)
	return cmd
}

// oldNote is a note whose versions a verb is about.
type oldNote struct {
	*app
	desk    noteDesk
	store   *notes.Store
	at      notes.Address
	lengths []int // of the texts that the session wrote
}

// onNote opens the notes for a verb about the versions of one.
func (a *app) onNote(ctx context.Context, id, address string, use func(*oldNote) error) error {
	if _, err := notes.Parse(address); err != nil {
		return noteFault(err)
	}
	d, err := a.noteDeskOf(ctx, id)
	if err != nil {
		return err
	}
	done, err := a.noteWrites(ctx, d.who.Session)
	if err != nil {
		return err
	}
	return a.withNotes(ctx, d.who.Session, func(s *notes.Store) error {
		if s == nil {
			return noteFault(notes.Refuse(notes.CodeNotFound, "", "there is no note %s, and no version of one is kept", address))
		}
		at, _, err := s.Find(address)
		if err != nil {
			return noteFault(err)
		}
		return use(&oldNote{a, d, s, at, done.lengths(at.String())})
	})
}

// version finds the one that a person named.
func (n *oldNote) version(ctx context.Context, rev string) (notes.Version, error) {
	v, err := n.store.Version(ctx, n.at.String(), rev, n.lengths...)
	return v, n.fault(err)
}

func (n *oldNote) fault(err error) error {
	if err == nil {
		return nil
	}
	f := faultOf(noteFault(err))
	if f.Code == string(notes.CodeNotFound) && strings.HasPrefix(f.Message, "no version") {
		f.Hint = n.desk.command("log", n.at.String()) + " lists the versions"
	}
	return f
}

// newest are the first versions of the note: the present one has no end.
func (n *oldNote) newest(ctx context.Context, count int) (all []notes.Version, err error) {
	for v, err := range n.store.Versions(ctx, n.at.String()) {
		if err != nil {
			return nil, n.fault(err)
		}
		if v.Unreadable != "" && v.Ended.IsZero() {
			return nil, n.fault(notes.Refuse(v.Unreadable, "", "%s does not read", n.at))
		}
		if v.Unreadable != "" || len(all) > 0 && v.Rev == all[len(all)-1].Rev {
			continue
		}
		if all = append(all, v); len(all) == count {
			break
		}
	}
	if len(all) == 0 {
		return nil, n.fault(notes.Refuse(notes.CodeNotFound, "", "there is no note %s, and no version of one is kept", n.at))
	}
	return all, nil
}

func (n *oldNote) restore(ctx context.Context, args []string) error {
	var v notes.Version
	if len(args) == 1 {
		var err error
		if v, err = n.version(ctx, args[0]); err != nil {
			return err
		}
	} else {
		newest, err := n.newest(ctx, 1)
		if err != nil {
			return err
		}
		if v = newest[0]; v.Ended.IsZero() {
			return usagef(n.desk.command("log", n.at.String())+" lists the versions", "%s is there: say which revision to restore", n.at)
		}
	}
	r, err := n.store.Restore(ctx, n.at.String(), v)
	if err != nil {
		return n.fault(err)
	}
	return n.print(false, nil, func(w io.Writer) error {
		_, err := fmt.Fprintln(w, noteDone(r))
		return err
	})
}
