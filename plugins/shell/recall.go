package shell

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
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
	told, err := b.told(ctx, oldest)
	if err != nil {
		return err
	}
	var owed []record
	for i, r := range known {
		lost := r.Status == ""
		if lost {
			known[i].Status = statusLost
		}
		switch {
		case (lost || r.Tell) && !told[r.key()]:
			owed = append(owed, known[i])
		case lost:
			if err := b.put(ctx, known[i]); err != nil {
				return err
			}
		}
	}
	b.telling.Lock()
	b.owed, b.oldest = owed, oldest
	b.telling.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past = known[max(0, len(known)-maxPast):]
	return nil
}

// records reads the newest record of each job, oldest job first, and the seq of the
// oldest record of a job that something may be left to tell of.
func (b *board) records(ctx context.Context) (known []record, oldest int64, err error) {
	started := map[string]int64{}
	byID := map[string]int{}
	for e, err := range b.access.Events(ctx, session.Query{Kinds: []session.Kind{session.KindRecord}}) {
		if err != nil {
			return nil, 0, err
		}
		in, err := session.Decode[session.Record](e)
		if err != nil || in.Plugin != Name || in.Kind != recordKind {
			continue
		}
		var r record
		if json.Unmarshal(in.Data, &r) != nil || r.ID == "" {
			continue
		}
		if i, ok := byID[r.ID]; ok {
			known[i] = r
			continue
		}
		byID[r.ID], started[r.ID] = len(known), e.Seq
		known = append(known, r)
		if n, err := strconv.Atoi(strings.TrimPrefix(r.ID, "job-")); err == nil {
			b.mu.Lock()
			b.next = max(b.next, n+1)
			b.mu.Unlock()
		}
	}
	for _, r := range known {
		if r.Status == "" || r.Tell {
			oldest = max(0, started[r.ID]-1)
			break
		}
	}
	return known, oldest, nil
}
