package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/tureen-host/tureen/cmd/tureen/internal/render"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// What became of an undo.
const (
	undoDone    = "undone"
	undoRefused = "refused"
	undoTaken   = mailTaken   // the owner has the request and has not done it yet
	undoWaiting = mailWaiting // the session has it
)

// contextUndone is what an undo came to: the object of --json.
type contextUndone struct {
	Session string `json:"session"`
	State   string `json:"state"`
	Owner   string `json:"owner"` // who did it or was asked, "" for nobody
	Ordinal int    `json:"ordinal,omitempty"`
	Seq     int64  `json:"seq,omitempty"` // of the compaction's end
	Before  int    `json:"tokens_before,omitempty"`
	After   int    `json:"tokens_after,omitempty"`
	Why     string `json:"why,omitempty"`
	ForkAt  int64  `json:"fork_at,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

func (a *app) contextUndoCommand() *cobra.Command {
	var id string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "undo [ID | last]",
		Short: "Take the newest compaction back",
		Long: `Undo gives a session the context back that it had before its newest compaction:
the messages, the window and what the strategy noted in the log, exactly. It can be
had until the model has answered again; from then on a branch from before the
compaction is the way, and the refusal names the command for it. Files that notes
are kept in are left as they are.

Nothing is asked of the model: neither a key nor the endpoint is needed. Where
another process works in the session, that one is asked, and does it once nothing
runs there: during a turn the answer that comes is in the way.

Automatic compaction rests from then on, until tureen compact, or another model,
window, profile or strategy. A compaction that the agent asks for, or that the
endpoint forces, is still made.

--json prints one object: session, state (undone, refused, or taken or waiting where
its owner has not done it yet), owner, ordinal and seq of the compaction,
tokens_before and tokens_after, and why, fork_at and hint of a refusal. A refusal
exits with 9.`,
		Example: `  tureen context undo
  tureen context undo --session 01k7 --json`,
		Args: arguments(0, 1, "one session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := sessionNamed(args, id)
			if err != nil {
				return err
			}
			return a.withStore(func(s *store) error {
				u, err := a.undo(cmd.Context(), s, id)
				if err != nil {
					return err
				}
				if asJSON || u.State != undoRefused {
					err = a.print(asJSON, u, func(w io.Writer) error {
						_, err := fmt.Fprintln(w, u)
						return err
					})
				}
				if u.State == undoRefused && err == nil {
					return faultf(exitState, "NO_UNDO", u.Hint, "session %s: %s", u.Session, session.UndoRefused{Why: u.Why}.Sentence())
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&id, "session", "", "the session, instead of the argument")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// String says what happened.
func (u contextUndone) String() string {
	switch u.State {
	case undoDone:
		return fmt.Sprintf("compaction #%d is undone: %s→%s tokens; automatic compaction rests until tureen compact, or another model, window, profile or strategy", u.Ordinal, render.Amount(u.Before), render.Amount(u.After))
	case undoTaken:
		return "taken by " + u.Owner + ", which looks at it once its turn has ended; tureen context show tells what came of it"
	}
	return "left for " + u.Owner + ", which has not taken it yet; should it end first, tureen resume " + u.Session + " takes it"
}

// undo takes the newest compaction back, or asks who has the session for it.
func (a *app) undo(ctx context.Context, s *store, prefix string) (contextUndone, error) {
	id, err := s.Resolve(ctx, prefix)
	if err != nil {
		return contextUndone{}, err
	}
	u := contextUndone{Session: id}
	if u.Owner, err = s.owner(ctx, id); err != nil {
		return u, err
	}
	if u.Owner != "" {
		return u, s.askUndo(ctx, &u)
	}
	log, err := s.Open(ctx, id)
	if err != nil {
		return u, err
	}
	defer log.Close()
	return u, stateFault(id, a.undoHere(ctx, log, &u))
}

// undoHere takes it back in this process. Nothing but the log is needed: the next
// one that opens the session opens the strategy with what the log says then.
func (a *app) undoHere(ctx context.Context, log session.Log, u *contextUndone) error {
	state, err := fold.Load(ctx, log)
	if err != nil {
		return err
	}
	stands, err := state.Repaired() // the log as it stands when it is open
	if err != nil {
		return err
	}
	if _, err := stands.Undoable(); u.refused(err) {
		return nil
	}
	u.Before, _ = state.Measure()
	tools, err := tool.NewRegistry(ctx, log.ID(), nil)
	if err != nil {
		return err
	}
	bare, err := agent.Open(ctx, agent.Options{Log: log, State: state, Tools: tools, Hooks: hook.NewChain(a.logger()), Logger: a.logger(),
		Opened: session.Opened{Version: Version, Plugins: []string{}, Resumed: true}})
	if err != nil {
		return err
	}
	undone, err := bare.Undo(ctx, "")
	if u.refused(err) {
		return nil
	}
	u.State, u.Ordinal, u.Seq, u.After = undoDone, undone.Ordinal, undone.Seq, bare.Meter().Measured
	return err
}

// refused takes the reason why there is no undo, and tells whether err was one.
func (u *contextUndone) refused(err error) bool {
	var no *fold.NoUndo
	if !errors.As(err, &no) {
		return false
	}
	u.State, u.Why, u.ForkAt = undoRefused, no.Why, no.At
	if no.At > 0 {
		u.Hint = forkCommand(u.Session, no.At) + " makes a session that goes on from before it"
	}
	return true
}

// askUndo asks the owner and waits, within bounds, for what comes of it.
func (s *store) askUndo(ctx context.Context, u *contextUndone) error {
	log, err := s.View(ctx, u.Session)
	if err != nil {
		return err
	}
	defer log.Close()
	state, err := fold.Load(ctx, log)
	if err != nil {
		return stateFault(u.Session, err)
	}
	u.Before, _ = state.Measure()
	d, err := s.deliver(ctx, u.Session, session.Mail{Command: session.CommandUndo}, true)
	if err != nil {
		return err
	}
	if u.State, u.Owner = undoWaiting, d.Owner; d.State != mailTaken {
		return nil
	}
	u.State = undoTaken
	return stateFault(u.Session, u.await(ctx, log, state))
}

// await follows the log until the owner has answered, or it took too long.
func (u *contextUndone) await(ctx context.Context, log session.Reader, state *fold.State) error {
	answers := session.Query{After: state.Head, Kinds: []session.Kind{session.KindCompactionUndone, session.KindUndoRefused}}
	for deadline := time.Now().Add(mailWait); ; {
		for e, err := range log.Read(ctx, answers) {
			if err != nil {
				return err
			}
			if e.Kind == session.KindUndoRefused {
				p, err := session.Decode[session.UndoRefused](e)
				u.State, u.Why, u.Hint, u.ForkAt = undoRefused, p.Why, p.Hint, p.ForkAt
				return err
			}
			p, err := session.Decode[session.CompactionUndone](e)
			if err != nil {
				return err
			}
			after, err := fold.Load(ctx, log)
			if err != nil {
				return err
			}
			u.State, u.Ordinal, u.Seq = undoDone, p.Ordinal, p.Seq
			u.After, _ = after.Measure()
			return nil
		}
		if time.Now().After(deadline) {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(mailEvery):
		}
	}
}
