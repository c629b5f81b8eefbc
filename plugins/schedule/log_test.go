package schedule_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/session"
)

// daily puts a reminder into a log that was set three days and an hour ago, and returns
// its latest occurrence.
func (l *lent) daily(t *testing.T, id string, more args) time.Time {
	t.Helper()
	since := time.Now().Add(-73 * time.Hour).Truncate(time.Second)
	r := args{"id": id, "title": id, "prompt": "p", "since": since, "rule": args{"every_seconds": 86400}}
	for k, v := range more {
		r[k] = v
	}
	data, err := json.Marshal(r)
	if err == nil {
		err = l.PutRecord(t.Context(), "reminder", id, data)
	}
	if err != nil {
		t.Fatal(err)
	}
	return since.Add(72 * time.Hour)
}

// delivered puts an occurrence into a log as queued.
func (l *lent) delivered(id string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextTurn, From: "schedule", Key: fmt.Sprintf("schedule:%s:%d", id, at.Unix())}))
}

func (l *lent) created(c session.Created) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(session.New(session.KindSessionCreated, c))
}

// reads counts what another process reads of a log but for its records.
func (l *lent) reads(t *testing.T) int {
	t.Helper()
	l.mu.Lock()
	l.read = 0
	l.mu.Unlock()
	run(t, l, `{}`).says("It is ", "schedule_list", args{})
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read
}

// TestS8_C108_WhatWasQueuedIsLookedUpOnce: a log from before records told of it is
// searched for what was queued, one time; then its records say all.
func TestS8_C108_WhatWasQueuedIsLookedUpOnce(t *testing.T) {
	t.Parallel()
	log := &lent{}
	log.created(session.Created{ID: "s"})
	log.delivered("r1", log.daily(t, "r1", nil))
	log.daily(t, "r2", args{"deleted": true})
	for range 1000 {
		log.delivered("r9", time.Now())
	}
	if n := log.reads(t); n != 1002 {
		t.Errorf("%d events were read first", n)
	}
	if n := log.reads(t); n != 1 { // how the session was made
		t.Errorf("%d events were read then", n)
	}
	if n := len(log.queued()); n != 1001 {
		t.Errorf("%d messages", n)
	}
	log.daily(t, "r3", nil)
	log.await(t, 1001)
	run(t, log, `{}`)
	log.await(t, 1002)
	if n := log.reads(t); n > 3 { // the process before may not have noted yet that it was queued
		t.Errorf("%d events were read in the end", n)
	}
}

// TestS8_AKillWhileAReminderIsQueued: it was noted that it would be, and it was, or was
// not.
func TestS8_AKillWhileAReminderIsQueued(t *testing.T) {
	t.Parallel()
	for name, queued := range map[string]bool{"queued": true, "not queued": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &lent{}
			due := time.Now().Add(-73 * time.Hour).Truncate(time.Second).Add(72 * time.Hour)
			log.daily(t, "r1", args{"sent": due, "sending": true})
			if queued {
				log.delivered("r1", due)
			}
			for range 2 {
				run(t, log, `{}`).says("r1: every 24h0m0s", "schedule_list", args{})
				if items := log.await(t, 1); len(items) != 1 || items[0].Key != fmt.Sprintf("schedule:r1:%d", due.Unix()) {
					t.Fatalf("queued %+v", items)
				}
			}
		})
	}
}

// TestL9_S8_ABranchHasNoRemindersOfItsOwnYet: those of the session it was made from are
// due there, what was set in the branch is due in it, and no id is given twice.
func TestL9_S8_ABranchHasNoRemindersOfItsOwnYet(t *testing.T) {
	t.Parallel()
	log := &lent{}
	log.created(session.Created{ID: "s", Origin: &session.Origin{Session: "other", Seq: 4, How: session.HowFork}})
	log.daily(t, "r1", nil)
	log.daily(t, "r2", args{"sent": time.Now().Add(-49 * time.Hour)})
	log.daily(t, "r3", args{"sent": time.Now(), "sending": true})
	b := run(t, log, `{}`)
	b.says("No reminders.", "schedule_list", args{})
	b.says("Set. r4: ", "schedule_create", args{"title": "t", "prompt": "p", "after_seconds": 1})
	items := log.await(t, 1)
	b = run(t, log, `{}`)
	b.says("No reminders.", "schedule_list", args{})
	b.says("Set. r5: ", "schedule_create", args{"title": "t", "prompt": "p", "every_seconds": 3600})
	run(t, log, `{}`).says("r5: every 1h0m0s", "schedule_list", args{})
	if n := len(log.queued()); n != 1 {
		t.Errorf("%d came, the first is %+v", n, items[0])
	}
	rescued := &lent{}
	rescued.created(session.Created{ID: "s", Origin: &session.Origin{Session: "other", Seq: 2, How: session.HowSalvage}})
	rescued.daily(t, "r1", nil)
	run(t, rescued, `{}`)
	rescued.await(t, 1)
}

// TestC108_RemindersThatAreOverLeaveNoRecords: but for the last one's, after which ids
// are counted.
func TestC108_RemindersThatAreOverLeaveNoRecords(t *testing.T) {
	t.Parallel()
	b := run(t, &lent{}, `{}`)
	for i := range 40 {
		b.says(fmt.Sprintf("Set. r%d: ", i+1), "schedule_create", args{"title": "t", "prompt": "p", "daily": "01:00"})
		b.says("is gone", "schedule_delete", args{"id": fmt.Sprint("r", i+1)})
	}
	n := 0
	for range b.log.Records(t.Context(), "") {
		n++
	}
	if n != 1 {
		t.Errorf("%d records are left", n)
	}
	run(t, b.log, `{}`).says("Set. r41: ", "schedule_create", args{"title": "t", "prompt": "p", "daily": "01:00"})
}
