package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// CodeArchived is how a turn of an archived session ends (L18).
const CodeArchived = "ARCHIVED"

// Archive puts the session away, or takes it out again (L18). It tells whether that
// changed anything. It may be called while Run is going on: the step under way ends.
//
// An archived session takes no step: its turns end blocked before any plugin is
// asked. What is in its inbox stays there, and is done once the session is taken out
// again and goes on.
func (a *Agent) Archive(ctx context.Context, p session.Archived) (bool, error) {
	changed := false
	err := a.rec.build(func(s *fold.State) ([]session.Event, error) {
		if changed = s.Archived != p.Archived; !changed {
			return nil, nil
		}
		return []session.Event{session.New(session.KindSessionArchived, p)}, nil
	})
	return changed && err == nil, errors.Join(err, a.rec.flush(ctx))
}

// archiveMail is what another process's wish to archive comes to.
func archiveMail(m session.Mail) session.Event {
	var wish struct {
		Archived *bool  `json:"archived"`
		From     string `json:"from"`
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(m.Text)))
	dec.DisallowUnknownFields()
	err := dec.Decode(&wish)
	if err == nil && wish.Archived == nil {
		err = errors.New(`it does not say "archived"`)
	}
	if err != nil {
		return session.New(session.KindWarning, session.Warning{Code: "ARCHIVE_IGNORED",
			Message: "another process left a wish to archive that was not understood: " + tool.Clean(err.Error())})
	}
	return session.New(session.KindSessionArchived, session.Archived{Archived: *wish.Archived, From: m.From})
}

// frozen is the archived session that keeps this one from stepping, "" for none.
func (a *Agent) frozen() string {
	archived := false
	a.rec.view(func(s *fold.State) { archived = s.Archived })
	switch {
	case archived:
		return a.rec.log.ID()
	case a.Frozen != nil:
		return a.Frozen()
	}
	return ""
}

// ArchivedError refuses what an archived session does not do: it ends a turn, and is
// what Compact answers.
type ArchivedError struct{ session, above string }

func (e *ArchivedError) Error() string {
	if e.above != "" {
		return fmt.Sprintf("session %s, which this subagent works for, is archived and takes no step", e.above)
	}
	return fmt.Sprintf("session %s is archived and takes no step; what it was told waits in its inbox", e.session)
}

// Failure is how a turn ends for it.
func (e *ArchivedError) Failure() *session.Failure {
	id := e.session
	if e.above != "" {
		id = e.above
	}
	return &session.Failure{Code: CodeArchived, Message: e.Error(),
		Hint: fmt.Sprintf("tureen session archive --undo %s takes it out again; then resume it", id)}
}

// thawed is an *ArchivedError where the session may not step.
func (a *Agent) thawed() error {
	id, own := a.frozen(), a.rec.log.ID()
	switch id {
	case "":
		return nil
	case own:
		return &ArchivedError{session: own}
	}
	return &ArchivedError{session: own, above: id}
}
