package agent

import (
	"context"
	"errors"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// turn runs from claimed input until nothing is owed (L1). A returned error
// means that the log cannot be written; every other failure is how the turn ended.
func (a *Agent) turn(ctx context.Context) (session.Reason, *session.Failure, error) {
	a.turnCount++
	if err := a.rec.build(func(s *fold.State) ([]session.Event, error) {
		return []session.Event{session.New(session.KindTurnStarted, session.TurnStarted{}).At(s.Turn.Ordinal+1, 0)}, nil
	}); err != nil {
		return session.ReasonError, nil, err
	}
	ctx, end := a.Limits.bound(ctx, a.Now().Sub(a.started))
	defer end()
	reason, err := a.steps(ctx)
	return a.close(ctx, reason, err)
}

// steps takes steps until one ends the turn and nothing waits behind it.
func (a *Agent) steps(ctx context.Context) (session.Reason, error) {
	reason := session.ReasonCompleted
	for first := true; ; first = false {
		if why := a.Limits.reached(a); why != nil {
			return session.ReasonLimit, why
		}
		if ctx.Err() != nil { // what is not claimed yet stays in the inbox
			return reason, context.Cause(ctx)
		}
		admitted, err := a.admit(ctx, first)
		if err != nil || !admitted {
			return reason, err
		}
		out, err := a.step(ctx)
		if err != nil {
			return session.ReasonError, err
		}
		if out == outcomeMaxTokens {
			reason = session.ReasonMaxTokens // sticky (L1)
		}
		if out == outcomeOwed {
			continue
		}
		open, err := a.stopping(ctx)
		if err != nil || !open {
			return reason, err
		}
	}
}

// stopping is asked when a step ended the turn: does anything keep it open?
// What waits for the next step does; so may a hook (L5) and a compaction that
// is due (N15).
func (a *Agent) stopping(ctx context.Context) (open bool, err error) {
	if a.waiting() {
		return true, nil
	}
	if a.Hooks.Declared(hook.TurnStopping) {
		if err := a.rec.flush(ctx); err != nil {
			return false, err
		}
		messages, stop, err := a.Hooks.TurnStopping(ctx, a.where())
		if err != nil {
			return false, err
		}
		if stop != nil {
			return false, &blockedError{stop.Code, stop.Message}
		}
		for _, m := range messages {
			if err := a.hear(session.NextStep, m); err != nil {
				return false, err
			}
		}
		if a.waiting() {
			return true, nil
		}
	}
	goOn, err := a.relieveStopping(ctx)
	return goOn || a.waiting(), err
}

// close answers what is unanswered and ends the turn, in one append.
func (a *Agent) close(ctx context.Context, reason session.Reason, cause error) (session.Reason, *session.Failure, error) {
	var failure *session.Failure
	var blocked *blockedError
	var limit *limitError
	var archived *ArchivedError
	if cause != nil && ctx.Err() != nil { // whatever the end of ctx broke
		cause = errors.Join(cause, context.Cause(ctx))
	}
	switch {
	case cause == nil:
	case errors.As(cause, &blocked):
		reason, failure = session.ReasonBlocked, &session.Failure{Code: blocked.code, Message: blocked.why}
	case errors.As(cause, &archived):
		reason, failure = session.ReasonBlocked, archived.Failure()
	case errors.As(cause, &limit):
		reason, failure = session.ReasonLimit, limit.failure()
	case ctx.Err() != nil:
		reason = session.ReasonCancelled
	default:
		reason, failure = session.ReasonError, failureOf(cause)
	}
	a.rec.snapshot()
	at := a.where()
	err := a.rec.build(func(s *fold.State) ([]session.Event, error) {
		var events []session.Event
		if s.Compaction.Armed != nil && cause != nil {
			events = append(events, session.New(session.KindCompactionDropped, session.CompactionDropped{
				CallID: s.Compaction.Armed.CallID, Why: "the turn ended: " + string(reason)}).At(at.Turn, at.Step))
		}
		for _, c := range s.Turn.Calls {
			result := fold.Unanswered(c)
			if reason == session.ReasonCancelled && !c.Started {
				result = fold.Aborted(c)
			}
			events = append(events, session.New(session.KindToolResult, result).At(at.Turn, at.Step).On(session.Op{Kind: session.OpAppend}))
		}
		if s.Turn.StepOpen {
			events = append(events, session.New(session.KindStepEnded, session.StepEnded{}).At(at.Turn, at.Step))
		}
		return append(events, session.New(session.KindTurnEnded, session.TurnEnded{Reason: reason, Error: failure}).At(at.Turn, 0)), nil
	})
	if err == nil {
		err = a.rec.flush(ctx)
	}
	if err != nil {
		return session.ReasonError, failureOf(err), err
	}
	if unheard := archived != nil && at.Step == 0; !unheard && a.Hooks.Declared(hook.TurnEnded) {
		if err := a.Hooks.TurnEnded(context.WithoutCancel(ctx), at, session.TurnEnded{Reason: reason, Error: failure}); err != nil {
			a.Logger.Warn("turn-ended hook failed", "error", err)
		}
	}
	return reason, failure, nil
}

// blockedError ends a turn that a hook rejected.
type blockedError struct{ code, why string }

func (e *blockedError) Error() string { return "blocked: " + e.why }

// failureOf puts an error into the log's form. Model errors keep their code.
func failureOf(err error) *session.Failure {
	f := &session.Failure{Code: "ERROR", Message: err.Error()}
	var model *llm.Error
	if errors.As(err, &model) {
		f.Code, f.Hint = string(model.Code), model.Hint
	}
	var coded interface{ FailureCode() string }
	if errors.As(err, &coded) {
		f.Code = coded.FailureCode()
	}
	return f
}
