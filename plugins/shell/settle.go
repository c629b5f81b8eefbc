package shell

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// tellAttempts and tellPause bound how often the host is told again, where it
	// does not listen.
	tellAttempts = 5
	tellPause    = time.Second
)

// settle notes the end of a job in the log, and tells the model where it does not
// know yet: once (C097). It waits for calls of job_output that are about to.
func (b *board) settle(j *job) {
	j.mu.Lock()
	if j.waiting > 0 || j.settling {
		j.mu.Unlock()
		return // the last that waits comes here again
	}
	j.settling = true
	tell := !j.known && !j.killed
	j.mu.Unlock()
	r := j.record()
	r.Tell = tell
	b.insist("note the end of "+j.id, func(ctx context.Context) error { return b.put(ctx, r) })
	if tell {
		b.insist("tell of the end of "+j.id, func(ctx context.Context) error { return b.tell(ctx, r) })
	}
	j.mu.Lock()
	j.settled = true
	j.mu.Unlock()
}

func (j *job) isSettled() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.settled
}

// tell queues the notice of a job's end, which wakes the agent (L4).
func (b *board) tell(ctx context.Context, r record) error {
	return b.access.Steer(ctx, fmt.Sprintf("Background job %s (%s) has ended [status: %s]. Read its output with job_output.", r.ID, r.Label, r.Status), r.key(), true)
}

// insist does something at the host, again where it fails, until the session ends.
func (b *board) insist(what string, do func(context.Context) error) {
	var err error
	for attempt := range tellAttempts {
		if err = do(b.open); err == nil || errors.Is(err, context.Canceled) {
			return
		}
		select {
		case <-b.open.Done():
			return
		case <-time.After(tellPause << attempt / 2):
		}
	}
	b.p.logger.Warn("the host did not listen", "session", b.session, "to", what, "error", err)
}
