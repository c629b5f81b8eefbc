package shell_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/shell"
)

const lost = "The host or the plugin stopped while background job job-"

// TestC097_AJobEndsDuringACall: the notice is queued while the agent is busy with
// another call, and wakes it once it is idle.
func TestC097_AJobEndsDuringACall(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	c.ok("shell", args{"command": untilGo + "exit 7", "run_in_background": true, "description": "Build it"})
	c.ok("shell", args{"command": "touch go; sleep 0.3"})
	c.settled()
	c.told("Background job job-1 (Build it) has ended [status: exit code: 7].")
}

func TestC097_AJobEndsWhileNobodyAsks(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	c.ok("shell", args{"command": "sleep 0.1; kill -9 $$", "run_in_background": true})
	c.until("somebody is told", func() bool { return len(c.log.notices(t)) > 0 })
	c.settled()
	c.told("Background job job-1 (Try something) has ended [status: killed by signal: SIGKILL].")
}

// TestC097_AJobDiesWithTheProcess: the next process tells what is known, once,
// however often the session is opened after that.
func TestC097_AJobDiesWithTheProcess(t *testing.T) {
	t.Parallel()
	log, dir := &ledger{}, t.TempDir()
	t.Run("first", func(t *testing.T) {
		c := reopen(t, `{}`, dir, log)
		c.ok("shell", args{"command": "echo begun > begun; sleep 1000", "run_in_background": true, "description": "Fill the table"})
		c.ok("shell", args{"command": "sleep 1", "run_in_background": true})
		c.says("job_output", args{"id": "job-2", "wait": true}, "(no new output)", "[status: exit code: 0]")
		c.until("it runs", func() bool {
			r := c.use(t.Context(), "shell", session.Confinement{}, args{"command": "cat begun"})
			return r.Text == "begun"
		})
		log.setDeaf(true) // as for a process that is killed
	})
	log.setDeaf(false)
	for range 3 {
		t.Run("again", func(t *testing.T) {
			c := reopen(t, `{}`, dir, log)
			c.settled()
			c.told(lost + "1 (Fill the table) ran, and its processes were killed. How far it came is not known, and its output is gone. Its command was:\necho begun > begun; sleep 1000\nCheck the actual state before you run it again.")
			c.refuses("job_output", args{"id": "job-1"}, "JOB_GONE", "job job-1 belonged to an earlier process of the plugin, and its output is gone with it [status: unknown: the host or the plugin stopped while it ran]")
			c.says("job_list", args{}, "job-1 [unknown: the host or the plugin stopped while it ran] Fill the table", "job-2 [exit code: 0] Try something")
		})
	}
	t.Run("new ids", func(t *testing.T) {
		c := reopen(t, `{}`, dir, log)
		c.says("shell", args{"command": "true", "run_in_background": true}, strings.Replace(startedFirst, "job-1", "job-3", 1))
	})
}

// TestC097_AKillWhileItIsTold: wherever the process dies on its way from the end of
// a job to the notice, there is one notice in the end.
func TestC097_AKillWhileItIsTold(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// The log takes the start alone; start and end; start, end and notice. Then it is
	// deaf, as to a process that is killed. Each next process dies after one event more.
	for room := 1; room <= 3; room++ {
		log := &ledger{room: room}
		t.Run("run", func(t *testing.T) {
			c := reopen(t, `{}`, dir, log)
			c.ok("shell", args{"command": "exit 5", "run_in_background": true})
			c.until("the log is full", func() bool {
				log.mu.Lock()
				defer log.mu.Unlock()
				return len(log.events) == room
			})
		})
		for range 4 {
			log.mu.Lock()
			log.deaf, log.room = false, len(log.events)+1
			log.mu.Unlock()
			t.Run("again", func(t *testing.T) {
				c := reopen(t, `{}`, dir, log)
				c.until("the log is full or there is nothing to do", func() bool {
					log.mu.Lock()
					full := log.deaf
					log.mu.Unlock()
					return full || c.waits() == ""
				})
			})
		}
		want := "Background job job-1 (Try something) has ended [status: exit code: 5]."
		if room == 1 {
			want = lost + "1 "
		}
		got := log.notices(t)
		if len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("room for %d: %d notices: %q", room, len(got), got)
		}
	}
}

// What stands in the log may be anything.
func TestC097_RecordsOfOthersAndNonsenseAreLeftAlone(t *testing.T) {
	t.Parallel()
	log := &ledger{}
	put := func(plugin, kind, key, data string) {
		if err := log.append(session.New(session.KindRecord, session.Record{Plugin: plugin, Kind: kind, Key: key, Data: json.RawMessage(data)})); err != nil {
			t.Fatal(err)
		}
	}
	put("other", "job", "job-1", `{"id":"job-1"}`)
	put(shell.Name, "other", "job-1", `{"id":"job-1"}`)
	put(shell.Name, "job", "x", `{"id":5}`)
	put(shell.Name, "job", "x", `"text"`)
	put(shell.Name, "job", "job-8", `{"id":"job-8","label":"Old","status":"exit code: 0"}`)
	put(shell.Name, "job", "job-9", `{"id":"job-9","label":"Told","status":"exit code: 0","tell":true}`)
	if err := log.Steer(t.Context(), "told", "job:job-9", true); err != nil {
		t.Fatal(err)
	}
	c := reopen(t, `{}`, t.TempDir(), log)
	c.settled()
	if n := len(c.log.notices(t)); n != 1 {
		t.Errorf("%d notices", n)
	}
	if got := c.ok("shell", args{"command": "true", "run_in_background": true}); !strings.HasPrefix(got, "started background job job-10\n") {
		t.Error(got)
	}
	if got := c.ok("job_list", args{}); !strings.HasPrefix(got, "job-8 [exit code: 0] Old\njob-9 [exit code: 0] Told\njob-10 ") {
		t.Error(got)
	}
}

// The host lends a session a moment after it has opened it. A run is kept waiting until
// the log could be looked at, and so is a new job, whose id depends on it.
func TestC097_TheLogIsLookedAtOnceItIsThere(t *testing.T) {
	t.Parallel()
	log := &ledger{late: 40}
	record := session.Record{Plugin: shell.Name, Kind: "job", Key: "job-4", Data: json.RawMessage(`{"id":"job-4","label":"Old one","command":"make"}`)}
	if err := log.append(session.New(session.KindRecord, record)); err != nil {
		t.Fatal(err)
	}
	c := reopen(t, `{}`, t.TempDir(), log)
	if w := c.waits(); w != "a look at earlier background jobs" {
		t.Errorf("waits for %q", w)
	}
	if got := c.ok("shell", args{"command": "true", "run_in_background": true}); !strings.HasPrefix(got, "started background job job-5\n") {
		t.Error(got)
	}
	c.settled()
	c.told(lost+"4 (Old one) ran", "Background job job-5 ")
}
