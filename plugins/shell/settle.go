package shell

import (
	"context"
	"time"
)

const (
	// tellAttempts and tellPause bound how often the host is told again, where it
	// does not listen.
	tellAttempts = 5
	tellPause    = time.Second
	// lastTime is how long the host may take to note something when a session ends.
	lastTime = time.Second
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
	if b.insist("note the end of "+j.id, func(ctx context.Context) error { return b.put(ctx, r) }) != nil && b.open.Err() != nil {
		b.putLast(r)
	}
	if tell {
		if b.insist("tell of the end of "+j.id, func(ctx context.Context) error { return b.tell(ctx, r) }) == nil {
			_ = b.noteTold(b.open, r) // else the next process finds it in the log
		}
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
	return b.access.Steer(ctx, r.text(), r.key(), true)
}

// noteClosed notes in the log that a job is stopped because the session ends: nobody
// is to believe afterwards that something went wrong.
func (b *board) noteClosed(j *job) {
	now := time.Now().UTC()
	r := j.record()
	r.Status, r.Ended, r.Tell = statusClosed, &now, true
	b.putLast(r)
}

// putLast notes something although the session ends. The host may be gone already.
func (b *board) putLast(r record) {
	ctx, cancel := context.WithTimeout(context.Background(), lastTime)
	defer cancel()
	if err := b.put(ctx, r); err != nil {
		b.p.logger.Info("the host took no note of the end of a job any more", "session", b.session, "job", r.ID, "error", err)
	}
}

// insist does something at the host, again where it fails, until the session ends.
func (b *board) insist(what string, do func(context.Context) error) (err error) {
	for attempt := range tellAttempts {
		if err = do(b.open); err == nil || b.open.Err() != nil {
			return err
		}
		select {
		case <-b.open.Done():
			return err
		case <-time.After(tellPause << attempt / 2):
		}
	}
	b.p.logger.Warn("the host did not listen", "session", b.session, "to", what, "error", err)
	return err
}
