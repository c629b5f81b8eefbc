package schedule

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// maxReminders is how many a session may have (S8).
const maxReminders = 50

// recordReminder is the kind of the records that hold reminders, by id.
const recordReminder = "reminder"

// Reminder is one as the log keeps it.
type Reminder struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Prompt  string    `json:"prompt"`
	Rule    Rule      `json:"rule"`
	Since   time.Time `json:"since"` // when the rule was set
	Deleted bool      `json:"deleted,omitempty"`
}

// book is the reminders of one session. All of it is in the log: the reminders are
// records, and what was delivered stands in the inbox under a key of its own.
type book struct {
	id     string
	access session.Access
	zone   *time.Location
	end    context.CancelFunc
	moved  chan struct{} // something changed: look at the clock again

	mu        sync.Mutex
	loaded    bool
	reminders map[string]Reminder  // those that were deleted too, for their ids
	delivered map[string]time.Time // the last occurrence, by id
	waits     int                  // reminders delivered by this process
}

// key names an occurrence in the inbox.
func key(id string, at time.Time) string { return fmt.Sprintf("schedule:%s:%d", id, at.Unix()) }

// load reads the log, once. The caller holds mu.
func (b *book) load(ctx context.Context) error {
	if b.loaded {
		return nil
	}
	reminders, delivered := map[string]Reminder{}, map[string]time.Time{}
	for e, err := range b.access.Events(ctx, session.Query{Kinds: []session.Kind{session.KindRecord, session.KindInboxQueued}}) {
		if err != nil {
			return fmt.Errorf("read the reminders of session %s: %w", b.id, err)
		}
		switch e.Kind {
		case session.KindRecord:
			var r Reminder
			p, err := session.Decode[session.Record](e)
			if err == nil && p.Plugin == Name && p.Kind == recordReminder && json.Unmarshal(p.Data, &r) == nil {
				reminders[r.ID] = r
			}
		case session.KindInboxQueued:
			if p, err := session.Decode[session.InboxItem](e); err == nil && p.From == Name {
				if id, at, ok := ofKey(p.Key); ok {
					delivered[id] = at
				}
			}
		}
	}
	b.reminders, b.delivered, b.loaded = reminders, delivered, true
	return nil
}

func ofKey(key string) (id string, at time.Time, ok bool) {
	parts := strings.Split(key, ":")
	if len(parts) != 3 || parts[0] != "schedule" {
		return "", time.Time{}, false
	}
	unix, err := strconv.ParseInt(parts[2], 10, 64)
	return parts[1], time.Unix(unix, 0), err == nil
}

// live are the reminders that will be due or are, oldest first. The caller holds mu.
func (b *book) live() []Reminder {
	var list []Reminder
	for _, r := range slices.SortedFunc(maps.Values(b.reminders), func(a, c Reminder) int { return number(a.ID) - number(c.ID) }) {
		if _, ok := b.due(r, time.Now()); !r.Deleted && ok {
			list = append(list, r)
		}
	}
	return list
}

// due is when a reminder is to be delivered next: the latest occurrence that was
// missed, or the next one. The caller holds mu.
func (b *book) due(r Reminder, now time.Time) (time.Time, bool) {
	now, base := now.In(b.zone), r.Since
	if last := b.delivered[r.ID]; last.After(base) {
		base = last
	}
	if missed := r.Rule.last(r.Since.In(b.zone), now); missed.Unix() > base.Unix() {
		return missed, true
	}
	next := r.Rule.next(r.Since.In(b.zone), now)
	return next, !next.IsZero() && next.Unix() > base.Unix()
}

// first is the reminder that is due first. The caller holds mu.
func (b *book) first(now time.Time) (first Reminder, at time.Time, ok bool) {
	for _, r := range b.live() {
		if due, any := b.due(r, now); any && (!ok || due.Before(at)) {
			first, at, ok = r, due, true
		}
	}
	return first, at, ok
}

// put stores a reminder. The caller holds mu.
func (b *book) put(ctx context.Context, r Reminder) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := b.access.PutRecord(ctx, recordReminder, r.ID, data); err != nil {
		return fmt.Errorf("store the reminder: %w", err)
	}
	b.reminders[r.ID] = r
	select {
	case b.moved <- struct{}{}:
	default:
	}
	return nil
}

// newID is one that no reminder of the session ever had. The caller holds mu.
func (b *book) newID() string {
	last := 0
	for id := range b.reminders {
		last = max(last, number(id))
	}
	return "r" + strconv.Itoa(last+1)
}

func number(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "r"))
	return n
}
