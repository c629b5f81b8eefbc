package shell

import (
	"context"
	"time"

	"github.com/tureen-host/tureen/host/hook"
)

// stepPatience is how long a step waits for the look at earlier jobs, which the host
// lends the log for in its own time. It is less than the host gives a hook.
const stepPatience = 1500 * time.Millisecond

// idle tells a step of earlier jobs, and keeps a run waiting for jobs that will tell
// of their end (L16).
type idle struct {
	hook.Passive
	p *Provider
}

func (i *idle) Name() string { return Name }

func (i *idle) Points() []hook.Point { return []hook.Point{hook.BeforeStep, hook.Idle} }

// OnFailure: a run is not worth less because nobody knows of its jobs.
func (i *idle) OnFailure() string { return "continue" }

func (i *idle) BeforeStep(ctx context.Context, at hook.Where, _ []hook.Pending) (hook.StepDecision, error) {
	b := i.p.board(at.Session)
	if b == nil {
		return hook.StepDecision{}, nil
	}
	b.stir()
	if !b.isReady(ctx, stepPatience) {
		return hook.StepDecision{}, nil
	}
	inject := b.inject(ctx, at)
	return hook.StepDecision{Inject: inject, Rest: b.toldAll()}, nil
}

func (i *idle) Idle(ctx context.Context, at hook.Where) (hook.IdleDecision, error) {
	b := i.p.board(at.Session)
	if b == nil {
		return hook.IdleDecision{}, nil
	}
	if !b.isReady(ctx, 2*recallPause) { // rather than let the run wait for the next time it asks
		return hook.IdleDecision{Wait: "a look at earlier background jobs"}, nil
	}
	if err := b.tellOwed(ctx); err != nil { // the next hook tries again
		b.p.logger.Warn("the model was not told of earlier jobs", "session", b.session, "error", err)
	}
	return hook.IdleDecision{Wait: b.hold(ctx, at.Turn)}, nil
}

// isReady waits a while until earlier jobs are known.
func (b *board) isReady(ctx context.Context, limit time.Duration) bool {
	select { // without a timer in the usual case
	case <-b.ready:
		return true
	default:
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-b.ready:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}
