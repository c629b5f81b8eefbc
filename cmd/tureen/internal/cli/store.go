package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/tureen-host/tureen/host/session"
)

// store is the session store of this user; its errors are faults of the state.
type store struct {
	session.Store
	took func(id string) // hears of a session that was created or opened; nil where nobody does
	warn func(message, hint string)
}

// Prepare implements session.Preparer as far as the store does.
func (s *store) Prepare() {
	if p, ok := s.Store.(session.Preparer); ok {
		p.Prepare()
	}
}

func (s *store) Create(ctx context.Context, created session.Created) (session.Log, error) {
	log, err := s.Store.Create(ctx, created)
	return s.take(created.ID, log, err)
}

func (s *store) Open(ctx context.Context, id string) (session.Log, error) {
	log, err := s.Store.Open(ctx, id)
	return s.take(id, log, err)
}

func (s *store) take(id string, log session.Log, err error) (session.Log, error) {
	if err != nil {
		return nil, stateFault(id, err)
	}
	if s.took != nil {
		s.took(id)
	}
	return log, nil
}

func (s *store) View(ctx context.Context, id string) (session.Reader, error) {
	r, err := s.Store.View(ctx, id)
	return r, stateFault(id, err)
}

func (s *store) List(ctx context.Context) ([]session.Summary, error) {
	list, err := s.Store.List(ctx)
	return list, stateFault("", err)
}

func (s *store) Resolve(ctx context.Context, prefix string) (string, error) {
	id, err := s.Store.Resolve(ctx, prefix)
	if err == nil && strings.EqualFold(prefix, "last") {
		s.warnOfNewer(ctx, id)
	}
	return id, stateFault(prefix, err)
}

// warnOfNewer tells which sessions "last" passes over because they do not read.
func (s *store) warnOfNewer(ctx context.Context, last string) {
	list, _ := s.Store.List(ctx)
	for _, row := range list {
		if row.ID == last {
			return
		}
		if row.Parent != "" || readable(row) {
			continue
		}
		s.warn(fmt.Sprintf("session %s is %s: the last one before it is taken", row.ID, row.Status), "tureen session verify "+row.ID+" says what is wrong with it")
	}
}

// summary finds a session's row.
func (s *store) summary(ctx context.Context, prefix string) (session.Summary, error) {
	id, err := s.Resolve(ctx, prefix)
	if err != nil {
		return session.Summary{}, err
	}
	list, err := s.List(ctx)
	if err != nil {
		return session.Summary{}, err
	}
	for _, row := range list {
		if row.ID == id {
			return row, nil
		}
	}
	return session.Summary{}, stateFault(id, session.ErrNotFound)
}

// created reads the birth of a session.
func (s *store) created(ctx context.Context, id string) (session.Created, error) {
	r, err := s.View(ctx, id)
	if err != nil {
		return session.Created{}, err
	}
	defer r.Close()
	for e, err := range r.Read(ctx, session.Query{Limit: 1}) {
		if err != nil {
			return session.Created{}, stateFault(id, err)
		}
		return session.Decode[session.Created](e)
	}
	return session.Created{}, stateFault(id, fmt.Errorf("%w: the log is empty", session.ErrDamaged))
}

// stateFault says what is wrong with a session, or with the store where id is "".
// It returns nil for nil.
func stateFault(id string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	f := stateFaultOf(id, err)
	f.err = err
	return f
}

// storageFault finds a failed write of a log in an error from further up.
func storageFault(err error) *fault {
	for _, known := range []error{session.ErrConflict, session.ErrLocked, session.ErrNotFound, session.ErrNewer, session.ErrDamaged,
		syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EFBIG, syscall.EIO} {
		if errors.Is(err, known) {
			return stateFaultOf("", err)
		}
	}
	return nil
}

const codeDamaged = "SESSION_DAMAGED"

func stateFaultOf(id string, err error) *fault {
	var locked *session.LockedError
	switch {
	case errors.As(err, &locked):
		return faultf(exitState, "SESSION_LOCKED", "wait until that process is done; tureen steer, prompt, compact and cancel reach it with --session "+locked.ID, "session %s is in use by %s", locked.ID, locked.Owner)
	case errors.Is(err, session.ErrNotFound) && (id == "" || id == "last"):
		return faultf(exitState, "SESSION_NOT_FOUND", `start one: tureen run "PROMPT"`, "there is no session so far")
	case errors.Is(err, session.ErrNotFound):
		return faultf(exitState, "SESSION_NOT_FOUND", "tureen session list shows which there are", "there is no session %q", id)
	}
	code := "SESSION_STORE"
	switch {
	case errors.Is(err, session.ErrDamaged):
		code = codeDamaged
	case errors.Is(err, session.ErrAmbiguous):
		code = "SESSION_AMBIGUOUS"
	case errors.Is(err, session.ErrNewer):
		code = "SESSION_NEWER"
	case errors.Is(err, fs.ErrPermission):
		code = "SESSION_NOT_WRITABLE"
	}
	message, hint := advice(err.Error())
	for _, known := range []error{session.ErrAmbiguous, session.ErrDamaged, session.ErrNewer} { // the code says it
		message = strings.Replace(message, " ("+known.Error()+")", "", 1)
	}
	if code == codeDamaged && id != "" && id != "last" {
		hint = "tureen session verify " + id + " says what is wrong, tureen session salvage " + id + " rescues what is whole"
	}
	if hint == "" {
		hint = "check the free space and the rights of the directory of the sessions"
	}
	return faultf(exitState, code, hint, "%s", message)
}
