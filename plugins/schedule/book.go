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

// maxReminders is how many a session may have (S8), maxRetired how many records are
// taken away at once.
const maxReminders, maxRetired = 50, 20

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
	// Sent is the last occurrence that was queued, Since where there was none, and
	// zero in logs that do not tell. With Sending it was about to be.
	Sent    time.Time `json:"sent,omitzero"`
	Sending bool      `json:"sending,omitempty"`
}

// book is the reminders of one session. All of it is in the log: the reminders are
// records, and what was queued stands in the inbox under a key of its own.
type book struct {
	id     string
	access session.Access
	zone   *time.Location
	end    context.CancelFunc
	moved  chan struct{} // something changed: look at the clock again

	mu        sync.Mutex
	loaded    bool
	reminders map[string]Reminder // some that are over too, for their ids
	waits     int                 // reminders delivered by this process
}

// key names an occurrence in the inbox.
func key(id string, at time.Time) string { return fmt.Sprintf("schedule:%s:%d", id, at.Unix()) }

// live are the reminders that will be due or are, oldest first. The caller holds mu.
func (b *book) live() []Reminder {
	var list []Reminder
	for _, r := range slices.SortedFunc(maps.Values(b.reminders), func(a, c Reminder) int { return number(a.ID) - number(c.ID) }) {
		if b.alive(r) {
			list = append(list, r)
		}
	}
	return list
}

// due is when a reminder is to be delivered next: the latest occurrence that was
// missed, or the next one. The caller holds mu.
func (b *book) due(r Reminder, now time.Time) (time.Time, bool) {
	now, base := now.In(b.zone), r.Since
	if r.Sent.After(base) {
		base = r.Sent
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
	b.retire(ctx)
	select {
	case b.moved <- struct{}{}:
	default:
	}
	return nil
}

// retire takes the records of reminders that are over away, a few at a time, but for
// the one with the last id. What fails is done with the next one that is stored. The
// caller holds mu.
func (b *book) retire(ctx context.Context) {
	last, left := b.last(), maxRetired
	for id, r := range b.reminders {
		if number(id) == last || b.alive(r) {
			continue
		}
		if left == 0 || b.access.PutRecord(ctx, recordReminder, id, json.RawMessage("null")) != nil {
			return
		}
		delete(b.reminders, id)
		left--
	}
}

// alive tells whether a reminder will be due or is, or may not have been queued yet.
// The caller holds mu.
func (b *book) alive(r Reminder) bool {
	_, ok := b.due(r, time.Now())
	return !r.Deleted && (ok || r.Sending)
}

// last is the highest number of an id. The caller holds mu.
func (b *book) last() int {
	last := 0
	for id := range b.reminders {
		last = max(last, number(id))
	}
	return last
}

// newID is one that no reminder of the session ever had. The caller holds mu.
func (b *book) newID() string {
	return "r" + strconv.Itoa(b.last()+1)
}

func number(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "r"))
	return n
}
