package agent

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// askIdleEvery is how often something that is waited for is asked about.
const askIdleEvery = 500 * time.Millisecond

// Run takes turns until nothing is owed, nothing is waited for and nothing came
// meanwhile (L16), and tells how the last one ended. The reason is "" where there
// was nothing to do; a failure beside ReasonCompleted says what was begun and has
// stopped short. A cancelled ctx ends the step; the inbox is kept.
func (a *Agent) Run(ctx context.Context) (session.Reason, *session.Failure, error) {
	var reason session.Reason
	var failure *session.Failure
	for first := true; ; first = false {
		if err := a.collectMail(ctx); err != nil {
			return session.ReasonError, failureOf(err), err
		}
		if !first && !a.owed() && !a.hasErrand() {
			return reason, failure, nil
		}
		r, f, err := a.attend(ctx)
		if r != "" {
			reason, failure = r, f
		}
		if err != nil || reason != "" && reason != session.ReasonCompleted || ctx.Err() != nil {
			return reason, failure, err
		}
	}
}

// Serve takes turns as input comes, until ctx ends. How a turn ended does not end
// it, except for a log that cannot be written, which is the error. idle, where not
// nil, is called each time there is nothing to do.
func (a *Agent) Serve(ctx context.Context, idle func(session.Reason, *session.Failure)) error {
	for {
		reason, failure, err := a.Run(ctx)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = nil // a look at the mail that was cut short
		}
		if err != nil || ctx.Err() != nil {
			return err
		}
		// What a failed turn left in the inbox waits for the next word: by itself it
		// would fail again, for ever.
		newest := a.newestItem()
		failed, frozen := reason == session.ReasonError || reason == session.ReasonLimit, a.frozen() != ""
		if idle != nil {
			idle(reason, failure)
		}
		stuck := func() bool { // a session that was archived goes on when it is taken out again
			return (failed || frozen && a.frozen() != "") && a.newestItem() == newest
		}
		for (!a.owed() || stuck()) && !a.hasErrand() && ctx.Err() == nil {
			a.await(ctx, mailEvery)
			if err := a.collectMail(ctx); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// turning ends the step under way from another goroutine.
type turning struct {
	mu     sync.Mutex
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// Cancel ends the step under way, as Ctrl-C does, and keeps the inbox. It tells
// whether anything was under way.
func (a *Agent) Cancel(cause error) bool {
	a.turning.mu.Lock()
	defer a.turning.mu.Unlock()
	if a.turning.cancel == nil {
		return false
	}
	a.turning.cancel(cause)
	return true
}

func (t *turning) set(ctx context.Context, cancel context.CancelCauseFunc) {
	t.mu.Lock()
	t.ctx, t.cancel = ctx, cancel
	t.mu.Unlock()
}

// aborted tells that what is under way was cancelled and is about to end.
func (t *turning) aborted() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ctx != nil && t.ctx.Err() != nil
}

// attend works until nothing is owed or waited for, while commands of other
// processes are heard. What persons asked for from outside is done before the first
// turn and after each.
func (a *Agent) attend(ctx context.Context) (session.Reason, *session.Failure, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.turning.set(ctx, cancel)
	defer a.turning.set(context.Background(), nil)
	defer a.watchMail(ctx, cancel)()
	defer a.stopChildrenWith(ctx)()
	var reason session.Reason
	var failure *session.Failure
	for err := a.errands(ctx); ; err = a.errands(ctx) {
		for err == nil && a.owed() {
			if reason, failure, err = a.turn(ctx); err != nil {
				return session.ReasonError, failure, err
			}
			if err = a.errands(ctx); err != nil || reason == session.ReasonCompleted {
				continue
			}
			if !cutShort(reason) || !a.Hooks.Declared(hook.Idle) || a.frozen() != "" {
				return reason, failure, nil
			}
			break // a plugin may have another turn follow
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return session.ReasonCancelled, nil, nil
		case err != nil:
			return session.ReasonError, failureOf(err), err
		}
		more, err := a.idle(ctx, cutShort(reason))
		var limit *limitError
		switch {
		case errors.Is(err, errWaitCut):
			a.waitedFor = "" // the next wait is told anew
			return session.ReasonCancelled, nil, nil
		case errors.As(err, &limit):
			return session.ReasonLimit, limit.failure(), nil
		}
		if err != nil {
			return session.ReasonError, failureOf(err), err
		}
		if !more {
			if reason == session.ReasonCompleted && a.unfinished != "" {
				failure = &session.Failure{Code: CodeUnfinished, Message: a.unfinished}
			}
			return reason, failure, nil
		}
	}
}

// idle asks what is still going on, and waits for it; more tells whether to look at
// the inbox again (L16). What hooks want to begin the next turn with is queued once
// nothing is waited for (P4). Where the last turn was cut short the run ends, unless
// a hook wants another turn.
func (a *Agent) idle(ctx context.Context, short bool) (more bool, err error) {
	var idle hook.Idleness
	waited := a.waitedFor != "" || a.childrenRunning() != ""
	if a.Hooks.Declared(hook.Idle) && a.frozen() == "" {
		if err := a.rec.flush(ctx); err != nil {
			return false, err
		}
		if idle, err = a.Hooks.Idle(ctx, a.where()); err != nil {
			a.Logger.Warn("idle hook failed", "error", err)
		}
	}
	if n := a.childrenRunning(); n != "" {
		idle.Waits = append(idle.Waits, n)
	}
	switch {
	case short && (len(idle.FollowUps) == 0 || ctx.Err() != nil):
		a.waitedFor = ""
		return false, errors.Join(a.leftUndone(strings.Join(idle.Unfinished, "; ")), a.rec.flush(ctx))
	case a.owed():
		return true, nil
	case ctx.Err() != nil && (waited || len(idle.Waits) > 0):
		return false, errWaitCut
	case ctx.Err() != nil:
		return false, nil
	case len(idle.Waits) > 0:
		return a.wait(ctx, strings.Join(idle.Waits, ", "))
	}
	a.waitedFor = ""
	if err := a.leftUndone(strings.Join(idle.Unfinished, "; ")); err != nil {
		return false, err
	}
	for _, m := range idle.FollowUps {
		if err := a.hear(session.NextTurn, m); err != nil {
			return false, err
		}
	}
	return a.owed(), a.rec.flush(ctx)
}

// cutShort tells of a turn that ended early and leaves the way open to another.
func cutShort(reason session.Reason) bool {
	return reason == session.ReasonMaxTokens || reason == session.ReasonBlocked
}

// CodeUnfinished is how a run ends that stopped short of what was begun in it.
const CodeUnfinished = "UNFINISHED"

// leftUndone keeps what has stopped without being reached, "" for nothing, and says
// it once.
func (a *Agent) leftUndone(what string) error {
	said := a.unfinished
	if a.unfinished = what; what == "" || what == said {
		return nil
	}
	return a.rec.stage(session.New(session.KindWarning, session.Warning{Code: CodeUnfinished, Message: what}))
}

// wait lets a while pass, and is over with a *limitError once the time limit is
// reached: no turn is open that could say so.
func (a *Agent) wait(ctx context.Context, what string) (bool, error) {
	if a.Limits.Timeout > 0 && a.Now().Sub(a.started) >= a.Limits.Timeout {
		limit := a.Limits.timeUp()
		limit.found += ", while the run waited for " + what
		f := limit.failure()
		return false, errors.Join(limit, a.rec.commit(ctx, session.New(session.KindWarning, session.Warning{Code: f.Code, Message: f.Message, Hint: f.Hint})))
	}
	if a.Observer != nil && what != a.waitedFor {
		a.Observer.Progress("waiting", what) // once, not each time it is asked
	}
	a.waitedFor = what
	a.await(ctx, askIdleEvery)
	if ctx.Err() != nil {
		return false, errWaitCut
	}
	return true, nil
}

// errWaitCut is a cancel while something was waited for: no turn tells of it.
var errWaitCut = errors.New("cancelled while waiting")

// await returns when something was queued, after d, or when ctx ends.
func (a *Agent) await(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-a.signal:
	case <-timer.C:
	}
}

// newestItem is the seq of the newest item in the inbox, 0 where it is empty.
func (a *Agent) newestItem() int64 {
	var newest int64
	a.rec.view(func(s *fold.State) {
		for _, it := range s.Inbox {
			newest = max(newest, it.Seq)
		}
	})
	return newest
}

func (a *Agent) wake() {
	select {
	case a.signal <- struct{}{}:
	default:
	}
}

func (a *Agent) owed() bool {
	owed := false
	a.rec.view(func(s *fold.State) {
		for _, it := range s.Inbox {
			owed = owed || it.Queue == session.NextTurn || it.Wake
		}
	})
	return owed
}
