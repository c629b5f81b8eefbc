package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host/session"
)

// archived is what became of the wish to put a session away.
type archived struct {
	Session  string `json:"session"`
	Archived bool   `json:"archived"` // what was asked for
	State    string `json:"state"`    // done, unchanged, taken or waiting
	Owner    string `json:"owner"`    // who works in the session, "" for nobody
}

// States of an archived besides those of a delivery.
const (
	archiveDone      = "done"
	archiveUnchanged = "unchanged" // it was so before
)

func (a *app) sessionArchiveCommand() *cobra.Command {
	var undo, asJSON bool
	cmd := &cobra.Command{
		Use:   "archive ID... [--undo]",
		Short: "Put sessions away, or take them out again",
		Long: `Archive puts sessions away: they take no step, and neither do their subagents, a
resume of one ends with exit code 11. Nothing of them is lost: show, export, search
and fork work as before, tureen session list --all lists them, and --undo takes them
out again. "last" passes over them, and so it cannot be archived by that name.

A session that another process works in is archived by that process: its running
step ends first.`,
		Example: `  tureen session archive 01k7 01k8
  tureen session archive --undo 01k7`,
		Args: arguments(1, -1, "a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, func(id string) bool { return strings.EqualFold(id, "last") }) {
				return usagef("name it by its id: tureen session list --all", `"last" is another session once one is archived`)
			}
			return a.withStore(func(s *store) error { return a.archiveAll(cmd.Context(), s, args, !undo, asJSON) })
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&undo, "undo", false, "take them out again")
	return cmd
}

// archiveAll archives what is named. What cannot be does not keep the rest.
func (a *app) archiveAll(ctx context.Context, s *store, ids []string, wish, asJSON bool) error {
	rows, err := s.named(ctx, ids)
	if err != nil {
		return err
	}
	results := []archived{}
	var failed []*fault
	for _, row := range rows {
		r, err := s.archive(ctx, row, wish)
		if err != nil {
			failed = append(failed, faultOf(err))
			continue
		}
		results = append(results, r)
	}
	err = a.print(asJSON, results, func(w io.Writer) (err error) {
		for _, r := range results {
			_, err = fmt.Fprintln(w, r)
		}
		return err
	})
	return a.firstOf(failed, err)
}

// firstOf is the error that a verb ends with: of several all but the first are said
// here.
func (a *app) firstOf(failed []*fault, err error) error {
	if len(failed) == 0 {
		return err
	}
	for _, f := range failed[1:] {
		a.lines.Error(f.Message, f.Hint)
	}
	return failed[0]
}

// archive archives a session, or leaves the wish for the process that works in it.
func (s *store) archive(ctx context.Context, row session.Summary, wish bool) (archived, error) {
	r := archived{Session: row.ID, Archived: wish, State: archiveUnchanged}
	if row.Archived == wish && readable(row) {
		return r, nil
	}
	payload := session.Archived{Archived: wish}
	err := s.appendTo(ctx, row.ID, session.New(session.KindSessionArchived, payload))
	if err == nil {
		r.State = archiveDone
		return r, nil
	}
	if !errors.Is(err, session.ErrLocked) {
		return r, err
	}
	text, err := json.Marshal(payload)
	if err != nil {
		return r, err
	}
	d, err := s.deliver(ctx, row.ID, session.Mail{Command: session.CommandArchive, Text: string(text)}, true)
	r.State, r.Owner = d.State, d.Owner
	return r, err
}

// appendTo appends an event to a session that nobody works in.
func (s *store) appendTo(ctx context.Context, id string, e session.Event) error {
	log, err := s.Store.Open(ctx, id)
	if err != nil {
		return stateFault(id, err)
	}
	defer log.Close()
	head, err := log.Head(ctx)
	if err == nil {
		_, err = log.Append(ctx, session.Batch{Head: head, Events: []session.Event{e}})
	}
	return stateFault(id, err)
}

// String says what happened and how to take it back.
func (r archived) String() string {
	did, is := "taken out of the archive", "not archived"
	if r.Archived {
		did, is = "archived", "archived already"
	}
	switch r.State {
	case archiveUnchanged:
		return fmt.Sprintf("session %s is %s", r.Session, is)
	case mailTaken:
		return fmt.Sprintf("session %s is %s by %s", r.Session, did, r.Owner)
	case mailWaiting:
		return fmt.Sprintf("left for %s, which has not taken it yet: session %s is then %s", cmp.Or(r.Owner, "the next resume"), r.Session, did)
	case archiveDone:
		if r.Archived {
			return fmt.Sprintf("archived %s; tureen session archive --undo %s takes it out again", r.Session, r.Session)
		}
	}
	return fmt.Sprintf("session %s is %s", r.Session, did)
}
