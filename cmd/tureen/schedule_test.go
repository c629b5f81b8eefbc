package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

// reminders are the keys of the occurrences that were queued in a session.
func (c *cast) reminders(t *testing.T, id string) []string {
	t.Helper()
	events, violations, err := c.events(id)
	if err != nil || len(violations) > 0 {
		t.Fatalf("%v, %v", err, violations)
	}
	var keys []string
	for _, e := range events {
		if p, err := session.Decode[session.InboxItem](e); err == nil && e.Kind == session.KindInboxQueued && p.From == "schedule" {
			keys = append(keys, p.Key)
		}
	}
	return keys
}

const useSchedule = "[[plugins]]\nuse = \"schedule\"\n"

// TestS8_L16_ARunStaysForAReminder: it wakes the idle run, once, and the run ends then.
func TestS8_L16_ARunStaysForAReminder(t *testing.T) {
	t.Parallel()
	c := newCast(t, "", useSchedule, map[string]func(scene) scripted.Reply{"clerk": func(s scene) scripted.Reply {
		switch {
		case s.n == 0:
			return calling("schedule_create", object{"title": "look", "prompt": "Look at the \"oven\".", "after_seconds": 2})
		case strings.Contains(s.said(), `prompt: "Look at the \"oven\"."`):
			return scripted.Reply{Text: "The oven is hot."}
		}
		return scripted.Reply{Text: "It is set."}
	}})
	r, o := c.perform(t, "run", "You are clerk.")
	if o.exit != 0 || r.Text != "The oven is hot." || r.Turns != 2 {
		t.Fatalf("exit %d, %+v\n%s", o.exit, r, o.stderr)
	}
	if keys := c.reminders(t, r.Session); len(keys) != 1 {
		t.Errorf("delivered %v", keys)
	}
	if r, _ := c.perform(t, "resume", "last"); r.Turns != 0 {
		t.Errorf("a reminder that was delivered comes again: %+v", r)
	}
}

// TestS8_AMissedReminderComesOnceAtTheNextResume: one that repeats was missed three
// times while nothing ran. The latest occurrence comes, once, also where the host is
// killed right after it was queued.
func TestS8_AMissedReminderComesOnceAtTheNextResume(t *testing.T) {
	t.Parallel()
	c := newCast(t, "", useSchedule+"config = { wait = \"0s\" }\n", map[string]func(scene) scripted.Reply{"clerk": func(s scene) scripted.Reply {
		switch {
		case s.n == 0:
			return calling("schedule_create", object{"title": "look", "prompt": "Look now.", "every_seconds": 86400},
				"schedule_create", object{"title": "never", "prompt": "Look never.", "cron": "0 0 31 2 *"})
		case strings.Contains(s.said(), `prompt: "Look now."`):
			return scripted.Reply{Text: "I looked."}
		}
		return scripted.Reply{Text: "It is set."}
	}})
	r, o := c.perform(t, "run", "You are clerk.")
	if o.exit != 0 || r.Text != "It is set." || len(c.reminders(t, r.Session)) != 0 {
		t.Fatalf("exit %d, %+v\n%s", o.exit, r, o.stderr)
	}
	if seen := c.of("clerk")[1].all(); !strings.Contains(seen, "r1: every 24h0m0s, next at ") || !strings.Contains(seen, "due on no day of the next five years") {
		t.Errorf("the clerk saw:\n%s", seen)
	}
	due := c.backdate(t, r.Session)
	c.crash(t, "kind:inbox.queued:1:after", "resume", "last", "-P", "family.toml")
	for i := range 3 {
		r, o = c.perform(t, "resume", r.Session)
		if want := map[int]int{0: 1}[i]; o.exit != 0 || r.Turns != want {
			t.Errorf("resume %d: exit %d, %+v\n%s", i, o.exit, r, o.stderr)
		}
		if keys := c.reminders(t, r.Session); len(keys) != 1 || keys[0] != fmt.Sprintf("schedule:r1:%d", due.Unix()) {
			t.Errorf("delivered %v, want that of %s", keys, due)
		}
	}
	if text := c.of("clerk")[2].said(); !strings.Contains(text, "A reminder of this session is due") {
		t.Errorf("the clerk saw:\n%s", text)
	}
}

// backdate sets the daily reminder r1 as if that had been three days and an hour ago,
// and returns its latest occurrence.
func (c *cast) backdate(t *testing.T, id string) time.Time {
	t.Helper()
	since := time.Now().Add(-73 * time.Hour).Truncate(time.Second)
	data, err := json.Marshal(object{"id": "r1", "title": "look", "prompt": "Look now.", "since": since, "rule": object{"every_seconds": 86400}})
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlitelog.Open(c.path("data"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	log, err := store.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	head, err := log.Head(t.Context())
	if err == nil {
		_, err = log.Append(t.Context(), session.Batch{Head: head, Events: []session.Event{
			session.New(session.KindRecord, session.Record{Plugin: "schedule", Kind: "reminder", Key: "r1", Data: data})}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return since.Add(72 * time.Hour)
}
