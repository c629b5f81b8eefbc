package shell

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
)

const (
	// statusLost is the status of a job that an earlier process took with it.
	statusLost = "unknown: the host or the plugin stopped while it ran"
	// statusClosed is the status of one that was stopped in order.
	statusClosed = "stopped: the session ended"
	// statusElsewhere is the status of one that ran when a branch was made of its session.
	statusElsewhere = "unknown: it belongs to the session that this one was branched from"
)

// untold is what the model was not told yet of jobs of earlier processes (C097). It is
// told with the next step, before the model acts; where none comes, by a message that
// opens a turn. A kill in the middle does no harm: the log is looked at before
// anything is said again (R1).
type untold struct {
	owed    []record
	shown   []record // given to the step at shownAt, which may not have come about
	shownAt hook.Where
	oldest  int64 // the event after which all that was told of them stands
}

// inject gives a step what there is to tell.
func (b *board) inject(ctx context.Context, at hook.Where) (texts []string) {
	b.telling.Lock()
	defer b.telling.Unlock()
	if len(b.shown) > 0 && at == b.shownAt {
		return nil // it is the same step, which has heard of more input
	}
	if err := b.confirm(ctx); err != nil {
		b.p.logger.Warn("what was told of earlier jobs could not be noted", "session", b.session, "error", err)
		return nil
	}
	for _, r := range b.owed {
		texts = append(texts, r.text())
	}
	b.shown, b.owed, b.shownAt = b.owed, nil, at
	return texts
}

// toldAll tells whether nothing is left for steps to come.
func (b *board) toldAll() bool {
	b.telling.Lock()
	defer b.telling.Unlock()
	return len(b.shown) == 0 && len(b.owed) == 0
}

// tellOwed tells what no step has taken. That a job was stopped with the session
// wakes nobody: it waits for a step. The next call tries again what has failed.
func (b *board) tellOwed(ctx context.Context) error {
	b.telling.Lock()
	defer b.telling.Unlock()
	if err := b.confirm(ctx); err != nil {
		return err
	}
	for i := 0; i < len(b.owed); {
		r := b.owed[i]
		if r.Status == statusClosed {
			i++
			continue
		}
		if err := b.tell(ctx, r); err != nil {
			return err
		}
		b.owed = slices.Delete(b.owed, i, i+1)
		if err := b.noteTold(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// confirm finds out whether the step that was to show something came about. The
// caller holds telling.
func (b *board) confirm(ctx context.Context) error {
	if len(b.shown) == 0 {
		return nil
	}
	told, err := b.told(ctx, b.oldest)
	if err != nil {
		return err
	}
	for len(b.shown) > 0 {
		r := b.shown[0]
		if !told[r.key()] {
			b.owed = append(b.owed, r)
		} else if err := b.noteTold(ctx, r); err != nil {
			return err
		}
		b.shown = b.shown[1:]
	}
	return nil
}

func (b *board) noteTold(ctx context.Context, r record) error {
	r.Tell = false
	return b.put(ctx, r)
}

// subject finds in a message which job it tells of.
var subject = regexp.MustCompile(`(?i)\bbackground job (job-\d+) \(`)

// told reads of which jobs the model was told after an event, by their key.
func (b *board) told(ctx context.Context, after int64) (map[string]bool, error) {
	told := map[string]bool{}
	for e, err := range b.access.Events(ctx, session.Query{Kinds: []session.Kind{session.KindInboxQueued, session.KindMessageUser}, After: after}) {
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case session.KindInboxQueued:
			if item, err := session.Decode[session.InboxItem](e); err == nil && item.From == Name {
				told[item.Key] = true
			}
		case session.KindMessageUser:
			m, err := session.Decode[session.Message](e)
			if err != nil || m.From != Name || m.Message == nil {
				continue
			}
			if found := subject.FindStringSubmatch(m.Message.Text()); found != nil {
				told[record{ID: found[1]}.key()] = true
			}
		}
	}
	return told, nil
}

// text is what the model is told of a job that has ended, in whichever way.
func (r record) text() string {
	switch {
	case r.Status == statusLost && r.File != "":
		return fmt.Sprintf("Background job %s (%s) was started to go on by itself, and the session it was started in has ended since. Whether it still runs is not known here: look for its process, and at its output in %s.", r.ID, r.Label, r.File)
	case r.Status == statusLost:
		return fmt.Sprintf("The host or the plugin stopped while background job %s (%s) ran, and its processes were killed. How far it came is not known, and its output is gone. Its command was:\n%s\nCheck the actual state before you run it again.", r.ID, r.Label, r.Command)
	case r.Status == statusClosed:
		return fmt.Sprintf("Background job %s (%s) still ran when the session was closed, and was stopped with it. Its output is gone. Its command was:\n%s\nStart it again where it is still needed.", r.ID, r.Label, r.Command)
	}
	return fmt.Sprintf("Background job %s (%s) has ended [status: %s]. Read its output with job_output.", r.ID, r.Label, r.Status)
}
