package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

const (
	mailWait  = 5 * time.Second // for the owner to take a command
	mailEvery = 50 * time.Millisecond
)

// What became of a command.
const (
	mailTaken   = "taken"   // the owner has it
	mailWaiting = "waiting" // the session has it, for its owner or the next resume
	mailIdle    = "idle"    // nobody works in the session: nothing was left
)

// delivery is a command and what became of it.
type delivery struct {
	Session string          `json:"session"`
	Command session.Command `json:"command"`
	State   string          `json:"state"`
	Owner   string          `json:"owner"` // who works in the session, "" for nobody
}

// mailVerb is a verb that leaves a command for the owner of a session.
type mailVerb struct {
	*app
	id     string
	noWait bool
	asJSON bool
}

func (v *mailVerb) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&v.id, "session", "last", "the session")
	cmd.Flags().BoolVar(&v.noWait, "no-wait", false, "do not wait until the session's process has taken it")
	jsonFlag(cmd, &v.asJSON)
}

// say leaves the person's words.
func (v *mailVerb) say(ctx context.Context, command session.Command, args []string) error {
	if err := v.misplaced(ctx, command, args); err != nil {
		return err
	}
	text, err := v.prompt(ctx, args)
	var f *fault
	if errors.As(err, &f) && f.Hint == noPrompt {
		f.Hint = fmt.Sprintf(`say what: tureen %s --session %s "TEXT"`, command, v.id)
	}
	if err != nil {
		return err
	}
	return v.send(ctx, session.Mail{Command: command, Text: text})
}

// idLength is that of a whole id.
const idLength = 26

// misplaced refuses words that begin with the whole id of a session: it is no part of
// what is to be said.
func (v *mailVerb) misplaced(ctx context.Context, command session.Command, args []string) error {
	if len(args) < 2 || len(args[0]) != idLength {
		return nil
	}
	return v.withStore(func(s *store) error {
		if id, err := s.Resolve(ctx, args[0]); err != nil || !strings.EqualFold(id, args[0]) {
			return nil
		}
		return usagef(fmt.Sprintf(`tureen %s --session %s "TEXT"`, command, args[0]), "the words begin with the id of a session, which --session names")
	})
}

func (v *mailVerb) send(ctx context.Context, m session.Mail) error {
	return v.withStore(func(s *store) error {
		id, err := s.Resolve(ctx, v.id)
		if err != nil {
			return err
		}
		d, err := s.deliver(ctx, id, m, !v.noWait)
		if err != nil {
			return err
		}
		return v.print(v.asJSON, d, func(w io.Writer) error {
			_, err := fmt.Fprintln(w, d)
			return err
		})
	})
}

// String says what happens next.
func (d delivery) String() string {
	when := map[session.Command]string{
		session.CommandSteer: "the agent reads it at its next step", session.CommandPrompt: "it is the next turn's",
		session.CommandCancel: "the step ends, what waits in the session is kept", session.CommandCompact: "it compacts at its next step",
		session.CommandAnswer: "the agent has your answer", session.CommandUndo: "it takes the newest compaction back once nothing runs, unless the model has answered by then",
	}[d.Command]
	switch {
	case d.State == mailIdle:
		return "nothing runs in session " + d.Session
	case d.State == mailTaken:
		return "taken by " + d.Owner + ": " + when
	case d.Owner != "":
		return "left for " + d.Owner + ", which has not taken it yet; should it end first, tureen resume " + d.Session + " takes it"
	}
	return "nobody works in session " + d.Session + ": it waits there, tureen resume " + d.Session + " takes it"
}

// deliver leaves a command and waits, within bounds, until the owner has taken it.
// A cancel is left for an owner only.
func (s *store) deliver(ctx context.Context, id string, m session.Mail, wait bool) (delivery, error) {
	d := delivery{Session: id, Command: m.Command, State: mailWaiting}
	box, ok := s.Store.(session.Mailbox)
	if !ok {
		return d, faultf(exitState, "SESSION_STORE", "", "this store takes no commands for sessions of other processes")
	}
	var err error
	if d.Owner, err = s.owner(ctx, id); err != nil {
		return d, err
	}
	if d.Owner == "" && m.Command == session.CommandCancel {
		d.State = mailIdle
		return d, nil
	}
	log, err := s.View(ctx, id)
	if err != nil {
		return d, err
	}
	defer log.Close()
	head, err := log.Head(ctx)
	if err == nil {
		err = box.Post(ctx, id, m)
	}
	if err != nil || !wait || d.Owner == "" {
		return d, stateFault(id, err)
	}
	taken, err := s.awaitTaken(ctx, log, head, m)
	if taken {
		d.State = mailTaken
	}
	return d, stateFault(id, err)
}

// owner names the process that works in a session, "" for none.
func (s *store) owner(ctx context.Context, id string) (string, error) {
	owned, ok := s.Store.(session.Owned)
	if !ok {
		return "", nil
	}
	who, err := owned.Owner(ctx, id)
	return who, stateFault(id, err)
}

// awaitTaken waits until the log shows the command, its owner is gone, or it took
// too long.
func (s *store) awaitTaken(ctx context.Context, log session.Reader, head int64, m session.Mail) (bool, error) {
	deadline := time.Now().Add(mailWait)
	for {
		owner, err := s.owner(ctx, log.ID())
		if err != nil {
			return false, err
		}
		for e, err := range log.Read(ctx, session.Query{After: head, Kinds: []session.Kind{session.KindInboxQueued, session.KindCancelAsked, session.KindCompactionAsked, session.KindQuestionAnswered, session.KindUndoAsked, session.KindSessionArchived}}) {
			if err != nil {
				return false, err
			}
			if took(e, m) {
				return true, nil
			}
		}
		if owner == "" || time.Now().After(deadline) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(mailEvery):
		}
	}
}

// took tells whether an event is a command as its owner stores it.
func took(e session.Event, m session.Mail) bool {
	switch m.Command {
	case session.CommandCancel:
		return e.Kind == session.KindCancelAsked
	case session.CommandUndo:
		return e.Kind == session.KindUndoAsked
	case session.CommandArchive:
		var wish session.Archived
		p, err := session.Decode[session.Archived](e)
		return err == nil && e.Kind == session.KindSessionArchived && json.Unmarshal([]byte(m.Text), &wish) == nil && p.Archived == wish.Archived
	case session.CommandCompact:
		p, err := session.Decode[session.CompactionAsked](e)
		return err == nil && e.Kind == session.KindCompactionAsked && p.Instructions == tool.Clean(m.Text)
	}
	if m.Command == session.CommandAnswer {
		var given session.Answer
		a, err := session.Decode[session.Answer](e)
		return err == nil && json.Unmarshal([]byte(m.Text), &given) == nil && e.Kind == session.KindQuestionAnswered && a.ID == given.ID
	}
	queue := session.NextTurn
	if m.Command == session.CommandSteer {
		queue = session.NextStep
	}
	p, err := session.Decode[session.InboxItem](e)
	return err == nil && e.Kind == session.KindInboxQueued && p.Queue == queue && p.Text == tool.Clean(m.Text)
}
