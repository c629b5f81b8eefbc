package planning

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
)

// maxStalled is how many rounds in a row may come to nothing.
const maxStalled = 3

// TurnEnded stops the goal, or takes its hand off it, where a turn failed or was
// ended, and after rounds that came to nothing. An answer that was cut off and a turn
// that a guard ended are such rounds, and no more than that.
func (p *Planner) TurnEnded(ctx context.Context, at hook.Where, ended session.TurnEnded) error {
	d, unlock, err := p.sit(ctx, at.Session)
	if err != nil {
		return err
	}
	defer unlock()
	if !d.driven() {
		return nil
	}
	g := d.goal.Now
	d.drive.advice = ""
	switch ended.Reason {
	case session.ReasonCompleted:
		return d.reviewRound(ctx, at.Turn, "")
	case session.ReasonMaxTokens:
		d.drive.advice = adviceCut
		return d.reviewRound(ctx, at.Turn, "a cut-off answer")
	case session.ReasonBlocked:
		code := "BLOCKED"
		if ended.Error != nil {
			code = head(ended.Error.Code, maxCode)
		}
		d.drive.advice = fmt.Sprintf(adviceBlocked, code)
		return d.reviewRound(ctx, at.Turn, "a turn ended by "+code)
	case session.ReasonCancelled:
		g = g.stopped(PhasePaused, ReasonCancelled, "the person ended the step")
	case session.ReasonError:
		failure := session.Failure{Code: "ERROR", Message: "the turn failed"}
		if ended.Error != nil {
			failure = *ended.Error
		}
		g = g.stopped(PhaseFailed, failure.Code, failure.Message)
	default:
		d.drive.armed, d.drive.dropped = false, "the run reached a limit"
		return nil
	}
	d.drive.armed = false
	return d.setGoal(ctx, g)
}

// reviewRound looks at a turn that is over: whether it left a question open, and
// whether it was one round too many that came to nothing. trouble is what cut the
// turn short, "" for nothing.
func (d *desk) reviewRound(ctx context.Context, turn int, trouble string) error {
	asked, err := d.asked(ctx, turn)
	if err != nil {
		return err
	}
	d.drive.held = asked == session.OutcomePending
	if trouble != "" {
		return d.stall(ctx, trouble)
	}
	if d.drive.round != turn || d.drive.spoken == turn {
		return nil
	}
	worked, err := d.worked(ctx, turn)
	switch {
	case err != nil:
		return err
	case worked:
		d.drive.stalls = nil
		return nil
	}
	return d.stall(ctx, "no tool call")
}

// stall counts a round that came to nothing, and blocks the goal after too many.
func (d *desk) stall(ctx context.Context, what string) error {
	d.drive.stalls = append(d.drive.stalls, what)
	if len(d.drive.stalls) < maxStalled {
		return nil
	}
	kinds := slices.Compact(slices.Sorted(slices.Values(d.drive.stalls)))
	detail := fmt.Sprintf("%s in %d rounds", strings.Join(kinds, " or "), maxStalled)
	return d.setGoal(ctx, d.goal.Now.stopped(PhaseBlocked, ReasonNoProgress, detail))
}
