package shell_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/shell"
)

// noted puts a job's record into a log.
func noted(t *testing.T, log *ledger, id, more string) {
	t.Helper()
	record := session.Record{Plugin: shell.Name, Kind: "job", Key: id, Data: json.RawMessage(`{"id":"` + id + `","label":"Old one","command":"make"` + more + `}`)}
	if err := log.append(session.New(session.KindRecord, record)); err != nil {
		t.Fatal(err)
	}
}

func made(t *testing.T, log *ledger, o *session.Origin) {
	t.Helper()
	if err := log.append(session.New(session.KindSessionCreated, session.Created{ID: "s", Origin: o})); err != nil {
		t.Fatal(err)
	}
}

// TestL9_C097_JobsStayWithTheSessionThatABranchWasMadeFrom: nothing is told of them in
// the branch, which counts its own on from there and is told of those.
func TestL9_C097_JobsStayWithTheSessionThatABranchWasMadeFrom(t *testing.T) {
	t.Parallel()
	log, dir := &ledger{}, t.TempDir()
	made(t, log, &session.Origin{Session: "other", Seq: 5, How: session.HowFork})
	noted(t, log, "job-1", "")
	noted(t, log, "job-2", `,"status":"exit code: 4","tell":true`)
	noted(t, log, "job-3", `,"status":"exit code: 0"`)
	leave(t, log, "job-4")
	for range 2 {
		t.Run("open", func(t *testing.T) {
			c := reopen(t, `{}`, dir, log)
			c.tells(c.step(1, 1))
			c.settled()
			c.refuses("job_output", args{"id": "job-1"}, "JOB_ELSEWHERE", "job job-1 belongs to the session that this one was branched from")
			c.refuses("job_output", args{"id": "job-2"}, "JOB_GONE", "job job-2 belonged to an earlier process")
		})
	}
	if n := len(log.notices(t)); n != 0 {
		t.Errorf("%d notices", n)
	}
}

// TestL9_C097_ABranchIsToldOfItsOwnJobs: those that a process of the branch left behind.
func TestL9_C097_ABranchIsToldOfItsOwnJobs(t *testing.T) {
	t.Parallel()
	log := &ledger{}
	made(t, log, &session.Origin{Session: "other", Seq: 2, How: session.HowFork})
	leave(t, log, "job-1")
	leave(t, log, "job-2")
	c := reopen(t, `{}`, t.TempDir(), log)
	c.tells(c.step(1, 1), lost+"2 (Old one) ran")
	c.says("shell", args{"command": "true", "run_in_background": true}, strings.Replace(startedFirst, "job-1", "job-3", 1))
}

// TestC108_WhatWasToldIsNotLookedForAgain: of a log as it was written before, with
// ends whose notice is in the inbox, the messages are read one time.
func TestC108_WhatWasToldIsNotLookedForAgain(t *testing.T) {
	t.Parallel()
	log, dir := &ledger{}, t.TempDir()
	made(t, log, nil)
	for _, id := range []string{"job-1", "job-2"} {
		leave(t, log, id)
		noted(t, log, id, `,"status":"exit code: 0","tell":true`)
		if err := log.Steer(t.Context(), "Background job "+id+" (Old one) has ended", "job:"+id, true); err != nil {
			t.Fatal(err)
		}
	}
	said := session.InboxItem{Queue: session.NextTurn, Source: session.SourceOwner, Key: "job:job-0", Text: "go on", Wake: true}
	for range 500 {
		if err := log.append(session.New(session.KindInboxQueued, said)); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []int{504, 1} { // the second time how the session was made alone
		t.Run("open", func(t *testing.T) {
			log.mu.Lock()
			log.read = 0
			log.mu.Unlock()
			c := reopen(t, `{}`, dir, log)
			c.tells(c.step(1, 1))
			log.mu.Lock()
			defer log.mu.Unlock()
			if log.read > want || i == 0 && log.read < 500 {
				t.Errorf("open %d read %d events, want at most %d", i+1, log.read, want)
			}
		})
	}
}

// TestC108_RecordsOfForgottenJobsAreTakenAway: a session with many jobs, some of an
// earlier process, keeps as many as it knows of, and no id comes twice.
func TestC108_RecordsOfForgottenJobsAreTakenAway(t *testing.T) {
	t.Parallel()
	log, dir := &ledger{}, t.TempDir()
	for i := range 40 {
		noted(t, log, fmt.Sprintf("job-%d", i+1), `,"status":"exit code: 0"`)
	}
	kept := func() (n int) {
		for range log.Records(t.Context(), "") {
			n++
		}
		return n
	}
	t.Run("first", func(t *testing.T) {
		c := reopen(t, `{}`, dir, log)
		for i := range 25 {
			c.ok("shell", args{"command": "true", "run_in_background": true})
			c.ok("job_output", args{"id": fmt.Sprintf("job-%d", i+41), "wait": true})
		}
		c.settled()
		if n := kept(); n > 20+21+2 {
			t.Errorf("%d records", n)
		}
	})
	c := reopen(t, `{}`, dir, log)
	for i := range 4 {
		c.says("shell", args{"command": "true", "run_in_background": true}, strings.Replace(startedFirst, "job-1", fmt.Sprintf("job-%d", i+66), 1))
	}
	c.settled()
	if n := kept(); n > 20+4+2 {
		t.Errorf("%d records in the end", n)
	}
}
