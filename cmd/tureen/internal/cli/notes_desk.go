package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// withNotes opens the notes as a session sees them; nil where there is no notes
// home yet: looking leaves no trace.
func (a *app) withNotes(ctx context.Context, prefix string, use func(*notes.Store) error) error {
	d, err := a.noteDeskOf(ctx, prefix)
	if err != nil {
		return err
	}
	if _, err := os.Stat(d.home); errors.Is(err, fs.ErrNotExist) {
		return use(nil)
	}
	return d.open(use)
}

// noteDesk is where a session's notes are, and whose they are.
type noteDesk struct {
	home string
	who  notes.Who
}

// noteDeskOf finds the notes of a session, which is not held open.
func (a *app) noteDeskOf(ctx context.Context, prefix string) (d noteDesk, err error) {
	err = a.withSession(ctx, prefix, func(row session.Summary, r session.Reader) error {
		p, err := a.sessionProfile(row.Profile, row.Workspace, "")
		if err != nil {
			return err
		}
		if d.home, err = a.notesHome(p); err != nil {
			return err
		}
		header, err := newestHeader(ctx, r)
		d.who = notes.Who{Session: row.ID, Created: row.Created, Agent: p.AgentName,
			Provider: header.Provider, Model: header.Model, Workspace: row.Workspace}
		return err
	})
	return d, err
}

// open opens the notes, and makes their home where it is missing.
func (d noteDesk) open(use func(*notes.Store) error) error {
	tree, err := notes.Open(d.home)
	if err != nil {
		return noteFault(err)
	}
	defer tree.Close()
	s, err := tree.Store(d.who)
	if err != nil {
		return noteFault(err)
	}
	return use(s)
}

// command is a verb about a note of this session, as a shell takes it.
func (d noteDesk) command(verb, address string) string {
	return "tureen notes " + verb + " " + shellWord(address) + " --session " + d.who.Session
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
	switch refused.Code {
	case notes.CodeAddress, notes.CodeHome:
		exit, hint = exitUsage, "tureen notes show --help tells how notes are addressed"
	case notes.CodeReadOnly:
		hint = "name a session of that project with --session; there it is @project"
	case notes.CodeBusy:
		hint = "try again"
	case notes.CodeLink, notes.CodeBinary, notes.CodeTooLarge, notes.CodeIO:
		hint = "look at the file in the notes home: tureen doctor names it"
	}
	if strings.HasPrefix(refused.Next, "did you mean") {
		hint = refused.Next + "?"
	}
	return faultf(exit, string(refused.Code), hint, "%s", refused.Message)
}
