package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

const (
	// recallPause and recallTime bound how long the log of a session is waited for:
	// the host lends it once it has opened the session everywhere.
	recallPause = 5 * time.Millisecond
	recallTime  = 30 * time.Second
	// maxPast is how many jobs of earlier processes are known by their id.
	maxPast = keepEnded
	// maxRetired is how many records of jobs are taken away at once.
	maxRetired = 8
)

// recall finds out about the jobs of earlier processes, and what the model was not
// told of them yet; see untold.
func (b *board) recall() {
	defer close(b.ready)
	deadline := time.Now().Add(recallTime)
	for {
		err := b.recallOnce(b.open)
		if err == nil || b.open.Err() != nil {
			return
		}
		if time.Now().After(deadline) {
			b.p.logger.Warn("jobs of an earlier process were not looked for", "session", b.session, "error", err)
			return
		}
		select {
		case <-b.open.Done():
			return
		case <-time.After(recallPause):
		}
	}
}

func (b *board) recallOnce(ctx context.Context) error {
	known, oldest, err := b.records(ctx)
	if err != nil || len(known) == 0 {
		return err
	}
	told := map[string]bool{}
	if oldest > 0 {
		if told, err = b.told(ctx, oldest-1); err != nil {
			return err
		}
	}
	var owed []record
	var over []string
	for i, r := range known {
		lost := r.Status == ""
		if lost {
			known[i].Status = statusLost
		}
		switch {
		case (lost || r.Tell) && !told[r.key()]:
			owed = append(owed, known[i])
			continue
		case lost || r.Tell:
			if err := b.noteTold(ctx, known[i]); err != nil {
				return err
			}
		}
		if i < len(known)-maxPast {
			over = append(over, r.ID)
		}
	}
	b.telling.Lock()
	b.owed, b.oldest = owed, max(0, oldest-1)
	b.telling.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past, b.over = known[max(0, len(known)-maxPast):], over
	return nil
}

// records reads the record of each job, oldest job first, and the seq of the oldest of
// those that something may be left to tell of, 0 for none. Jobs of the session that a
// branch was made from are that session's: nothing is told of them here.
func (b *board) records(ctx context.Context) (known []record, oldest int64, err error) {
	branched, err := session.Branched(ctx, b.access)
	if err != nil {
		return nil, 0, err
	}
	for e, err := range b.access.Records(ctx, recordKind) {
		if err != nil {
			return nil, 0, err
		}
		var r record
		in, err := session.Decode[session.Record](e)
		if err != nil || json.Unmarshal(in.Data, &r) != nil || r.ID == "" || r.ID != in.Key {
			continue
		}
		if e.Seq <= branched {
			r.Status, r.Tell = cmp.Or(r.Status, statusElsewhere), false
		}
		if oldest == 0 && (r.Status == "" || r.Tell) {
			oldest = e.Seq
		}
		known = append(known, r)
	}
	slices.SortStableFunc(known, func(x, y record) int { return x.number() - y.number() })
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range known {
		b.next = max(b.next, r.number()+1)
	}
	return known, oldest, nil
}

// retire takes records of jobs that are forgotten out of the log's view, a few at a
// time; a job with a higher number has one then. What fails is tried again.
func (b *board) retire(ctx context.Context) {
	b.mu.Lock()
	n := min(len(b.over), maxRetired)
	over := slices.Clone(b.over[:n])
	b.over = b.over[n:]
	b.mu.Unlock()
	for i, id := range over {
		if b.access.PutRecord(ctx, recordKind, id, json.RawMessage("null")) != nil {
			b.mu.Lock()
			b.over = append(b.over, over[i:]...)
			b.mu.Unlock()
			return
		}
	}
}
