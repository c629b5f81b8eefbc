package shell

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// maxNamed is how many jobs are named where a run says what it waits for.
const maxNamed = 5

// patience is how a run waits for jobs: not for ever, since one may never end. The
// board's mu guards it.
type patience struct {
	since   time.Time // the last start or end of a job, or end of a turn
	turn    int       // the newest turn that was over
	urged   bool      // the model was told to make an end
	urgedAt int       // in the turn before the one that this opened
}

// stir begins the wait anew.
func (b *board) stir() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.since = time.Now()
}

// hold says what a run waits for after a turn, "" for nothing. When the time for it
// is over the model is told once, and the turn after that is not held any more.
func (b *board) hold(ctx context.Context, turn int) string {
	untold, running := b.pending()
	if len(untold) > 0 || len(running) == 0 {
		return waitsFor(append(untold, running...))
	}
	b.mu.Lock()
	if turn > b.turn {
		b.turn, b.since = turn, time.Now()
	}
	if b.urged && turn > b.urgedAt+1 {
		b.urged = false // somebody has begun another turn since
	}
	over, let := time.Since(b.since) >= b.p.config.Wait, b.urged && turn > b.urgedAt
	b.mu.Unlock()
	if let || b.p.config.Wait == 0 {
		return ""
	}
	if over && b.urge(ctx, running, turn) {
		b.mu.Lock()
		b.urged, b.urgedAt = true, turn
		b.mu.Unlock()
	}
	return waitsFor(running)
}

// urge tells the model that jobs keep the run open, and wakes it.
func (b *board) urge(ctx context.Context, running []*job, turn int) bool {
	var names []string
	for _, j := range running[:min(maxNamed, len(running))] {
		names = append(names, fmt.Sprintf("%s (%s)", j.id, j.label()))
	}
	if len(running) > maxNamed {
		names = append(names, "…")
	}
	what, end := "1 background job still runs and keeps", "it is"
	if n := len(running); n > 1 {
		what, end = fmt.Sprintf("%d background jobs still run and keep", n), "they are"
	}
	text := fmt.Sprintf("%s this run open: %s. Kill what is not needed any more with job_kill, or wait for what is with job_output. If you answer without doing so, the run ends and %s stopped.", what, strings.Join(names, ", "), end)
	if err := b.access.Steer(ctx, text, fmt.Sprintf("wait:%d", turn), true); err != nil {
		b.p.logger.Warn("the model was not told that jobs keep the run open", "session", b.session, "error", err)
		return false
	}
	return true
}

// pending are the jobs that the model has yet to hear of: those that have ended, and
// those that run. A job that outlives the session keeps nobody waiting.
func (b *board) pending() (untold, running []*job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		switch runs := j.running(); {
		case j.process == nil || j.isSettled() || runs && j.outlives():
		case runs:
			running = append(running, j)
		default:
			untold = append(untold, j)
		}
	}
	return untold, running
}

func waitsFor(jobs []*job) string {
	var labels []string
	for _, j := range jobs[:min(maxNamed, len(jobs))] {
		labels = append(labels, j.label())
	}
	switch n := len(jobs); {
	case n == 0:
		return ""
	case n == 1:
		return "1 background job (" + labels[0] + ")"
	case n > maxNamed:
		labels = append(labels, "…")
	}
	return fmt.Sprintf("%d background jobs (%s)", len(jobs), strings.Join(labels, ", "))
}

// waitText says to the model how long a run waits for a job.
func (p *Provider) waitText() string {
	if p.config.Wait == 0 {
		return "The run does not wait for it: what still runs when you have answered is stopped."
	}
	limit := p.config.Wait.String()
	if strings.HasSuffix(limit, "m0s") {
		limit = strings.TrimSuffix(limit, "0s")
	}
	if strings.HasSuffix(limit, "h0m") {
		limit = strings.TrimSuffix(limit, "0m")
	}
	return "The run waits for its end (at most " + limit + "): stop it with job_kill when it is not needed any more. You are told when it ends."
}
