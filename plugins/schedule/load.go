package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// load reads the records, once. The caller holds mu.
func (b *book) load(ctx context.Context) error {
	if b.loaded {
		return nil
	}
	err := b.read(ctx)
	if err != nil {
		return fmt.Errorf("read the reminders of session %s: %w", b.id, err)
	}
	b.loaded = true
	return nil
}

// read reads the records, and finds out in the inbox what they leave open. The
// reminders of the session that a branch was made from come there: here they are
// over.
func (b *book) read(ctx context.Context) error {
	branched, err := session.Branched(ctx, b.access)
	if err != nil {
		return err
	}
	b.reminders = map[string]Reminder{}
	open := map[string]int64{} // the event behind which what was queued of a reminder stands
	for e, err := range b.access.Records(ctx, recordReminder) {
		if err != nil {
			return err
		}
		var r Reminder
		p, err := session.Decode[session.Record](e)
		if err != nil || json.Unmarshal(p.Data, &r) != nil || r.ID != p.Key {
			continue
		}
		switch {
		case e.Seq <= branched:
			r.Deleted = true
		case r.Deleted:
		case r.Sent.IsZero():
			open[r.ID] = 0
		case r.Sending:
			open[r.ID] = e.Seq
		}
		b.reminders[r.ID] = r
	}
	return b.settle(ctx, open)
}

// settle finds out what was queued of some reminders, each after an event, and
// stores it.
func (b *book) settle(ctx context.Context, open map[string]int64) error {
	if len(open) == 0 {
		return nil
	}
	queued, err := b.queued(ctx, open)
	if err != nil {
		return err
	}
	for id := range open {
		r, there := b.reminders[id]
		at := queued[id]
		switch {
		case !there: // its time had not come and never would have
			continue
		case r.Sending && at.Unix() != r.Sent.Unix():
			r.Sent = r.Sent.Add(-time.Second) // it is still due
		case r.Sending:
		case at.After(r.Since):
			r.Sent = at
		default:
			r.Sent = r.Since
		}
		r.Sending = false
		if err := b.put(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// queued reads the last occurrence that was queued of each of some reminders.
func (b *book) queued(ctx context.Context, open map[string]int64) (map[string]time.Time, error) {
	first := int64(-1)
	for _, after := range open {
		if first < 0 || after < first {
			first = after
		}
	}
	queued := map[string]time.Time{}
	for e, err := range b.access.Events(ctx, session.Query{Kinds: []session.Kind{session.KindInboxQueued}, After: first}) {
		if err != nil {
			return nil, err
		}
		item, err := session.Decode[session.InboxItem](e)
		if err != nil || item.From != Name {
			continue
		}
		id, at, ok := ofKey(item.Key)
		if after, asked := open[id]; ok && asked && e.Seq > after {
			queued[id] = at
		}
	}
	return queued, nil
}

func ofKey(key string) (id string, at time.Time, ok bool) {
	parts := strings.Split(key, ":")
	if len(parts) != 3 || parts[0] != "schedule" {
		return "", time.Time{}, false
	}
	unix, err := strconv.ParseInt(parts[2], 10, 64)
	return parts[1], time.Unix(unix, 0), err == nil
}
