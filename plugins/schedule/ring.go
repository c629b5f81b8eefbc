package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tureen-host/tureen/compaction"
)

// Waits of a session's clock.
const (
	soon     = 50 * time.Millisecond // the host lends a session a moment after it opened it
	later    = 30 * time.Second      // the longest after a failure
	longest  = 10 * time.Minute      // a machine may sleep meanwhile, and its clock be set
	patience = 20 * time.Second      // for one delivery
)

// Open starts the clock of a session. Subagents have none.
func (p *Provider) Open(_ context.Context, s compaction.Session) error {
	if s.Parent != "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.books[s.ID] != nil {
		return nil
	}
	life, end := context.WithCancel(p.life)
	b := &book{id: s.ID, access: p.host.Session(s.ID), zone: p.config.Zone, end: end, moved: make(chan struct{}, 1)}
	p.books[s.ID] = b
	p.clocks.Go(func() { p.ring(life, b) })
	return nil
}

// Close stops it.
func (p *Provider) Close(_ context.Context, id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.books[id]; b != nil {
		b.end()
		delete(p.books, id)
	}
}

// Stop ends all clocks and waits for them.
func (p *Provider) Stop() {
	p.end()
	p.clocks.Wait()
}

// ring delivers what is due until ctx ends.
func (p *Provider) ring(ctx context.Context, b *book) {
	failed := time.Duration(0)
	for {
		wait, err := p.deliver(ctx, b)
		if err != nil {
			failed = min(max(2*failed, soon), later)
			wait = failed
			if failed == later && ctx.Err() == nil {
				p.logger.Warn("a reminder waits", "session", b.id, "error", err)
			}
		} else {
			failed = 0
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-b.moved:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// deliver queues what is due now and tells how long to wait for the next. Where the
// outcome is not known the log is read again before anything else is sent.
func (p *Provider) deliver(ctx context.Context, b *book) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.load(ctx); err != nil {
		return 0, err
	}
	for {
		now := time.Now()
		r, at, ok := b.first(now)
		switch {
		case !ok:
			return longest, nil
		case at.After(now):
			return min(at.Sub(now), longest), nil
		}
		if err := b.send(ctx, r, at); err != nil {
			b.loaded = false
			return 0, err
		}
		b.waits++
	}
}

// send queues an occurrence. It is noted before that it is about to be, and after that
// that it was, so that there is little to look up after a crash. The caller holds mu.
func (b *book) send(ctx context.Context, r Reminder, at time.Time) error {
	r.Sent, r.Sending = at, true
	if err := b.put(ctx, r); err != nil {
		return err
	}
	if err := b.access.FollowUp(ctx, delivery(r, at.In(b.zone)), key(r.ID, at)); err != nil {
		return err
	}
	r.Sending = false
	return b.put(ctx, r)
}

// delivery is what the model reads.
func delivery(r Reminder, at time.Time) string {
	quote := func(s string) string { q, _ := json.Marshal(s); return string(q) }
	return fmt.Sprintf("A reminder of this session is due. It was set here before; nobody has written just now.\n"+
		"id: %s\ntitle: %s\ndue: %s\nprompt: %s\n"+
		"Do what the prompt asks. schedule_delete takes away a reminder that has served its purpose.",
		quote(r.ID), quote(r.Title), at.Format(time.RFC3339), quote(r.Prompt))
}
