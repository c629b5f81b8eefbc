package main_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

const steering = "Somebody else says: mind the gap."

// rich is a user with the rich plan, during which another process steers.
func rich(t testing.TB, u *sandbox) *crew {
	t.Helper()
	replies, steerAt := richPlan()
	p := planned(t, u, replies)
	p.flags = append(p.flags, "-c", "model.context_window=26000") // a file and a bit
	p.plan.began = func(n int) {
		if n == steerAt {
			p.steer(t)
		}
	}
	return p
}

// steer leaves a mail for whoever owns the session.
func (p *crew) steer(t testing.TB) {
	store, err := sqlitelog.Open(p.path("data"))
	if err != nil {
		t.Error(err)
		return
	}
	defer store.Close()
	if err := store.Post(context.Background(), p.lastSession(), session.Mail{Command: session.CommandSteer, Text: steering}); err != nil {
		t.Errorf("steer: %v", err)
	}
}

// TestR1_L17_ACrashAtAnyBoundary kills the host at boundaries of a rich run: on
// both sides of what is stored before something is shown or dispatched, inside an
// append, around a compaction, a mail, a failed attempt. Each time the session
// goes on and completes, and nothing is lost, done twice or left behind.
func TestR1_L17_ACrashAtAnyBoundary(t *testing.T) {
	t.Parallel()
	for _, point := range []string{
		"append:1:before", // the session is made and nothing else
		"kind:inbox.queued:1:before", "kind:inbox.queued:1:after",
		"kind:step.started:1:during",
		"kind:tool.started:1:after",                                                          // a parallel batch, none dispatched
		"kind:tool.result:1:before",                                                          // all of it done, nothing stored
		"kind:tool.started:4:after",                                                          // an exclusive call, not dispatched
		"kind:tool.result:4:before", "kind:tool.result:4:after", "kind:tool.result:6:during", // done; done and stored with the next one's start
		"kind:inbox.queued:2:before", "kind:inbox.queued:2:after", // the steering
		"kind:compaction.armed:1:before", "kind:compaction.armed:1:after",
		"kind:compaction.ended:1:before", "kind:compaction.ended:1:during", "kind:compaction.ended:1:after",
		"kind:compaction.ended:2:before", "kind:compaction.ended:2:during", "kind:compaction.ended:2:after",
		"kind:assistant.attempt:1:after",
		"kind:turn.ended:1:before", "kind:turn.ended:1:after",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			p := rich(t, user(t))
			k := p.crash(t, point, p.run()...)
			if !k.byKill {
				t.Fatalf("the run has no such point; it ended with %d: %s", k.exit, &k.stderr)
			}
			id := p.lastSession()
			events, _, err := p.events(id)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lost(k.said(), events) {
				t.Errorf("said and not stored: %s", line)
			}
			p.goOn(t, id)
			if f := p.audit(t, id); !f.none() {
				t.Error(f.String())
			}
			if o := p.ok(t, "session", "verify", id); !strings.Contains(o.stdout, " ok, ") {
				t.Errorf("session verify: %s", o.stdout)
			}
		})
	}
}

// TestR1_ACrashWhileResuming kills the repair itself, and the resume that repairs
// after it.
func TestR1_ACrashWhileResuming(t *testing.T) {
	t.Parallel()
	p := rich(t, user(t))
	points := []string{"kind:tool.started:4:after", "append:1:before", "append:1:during", "append:1:after", "append:2:after", "kind:step.started:1:after"}
	id := ""
	for i, point := range points {
		args := p.run()
		if i > 0 {
			args = p.resume(id, "--continue")
		}
		k := p.crash(t, point, args...)
		if !k.byKill {
			t.Fatalf("%s: not killed: %d %s", point, k.exit, &k.stderr)
		}
		id = p.lastSession()
		events, _, err := p.events(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lost(k.said(), events) {
			t.Errorf("%s: said and not stored: %s", point, line)
		}
	}
	p.goOn(t, id)
	if f := p.audit(t, id); !f.none() {
		t.Error(f.String())
	}
}

// TestR1_T8_AKilledHostLeavesNoCommandRunning kills the host while a command, and
// what it has started, would go on for long.
func TestR1_T8_AKilledHostLeavesNoCommandRunning(t *testing.T) {
	t.Parallel()
	p := planned(t, user(t), []scripted.Reply{
		batch(1, "shell", object{"description": "wait", "command": "sleep 1000 & (sleep 1001; true) & echo > begun; wait"}), batch(2, "shell", effect("c2-0")), {Text: "Done."}})
	k := p.start(t, "", p.run()...)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		if _, err := os.Stat(p.path("work", "begun")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the command did not begin: %s", &k.stderr)
		}
	}
	if err := k.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	k.wait(t)
	for deadline := time.Now().Add(time.Minute); len(p.processes()) > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still there:\n%s", strings.Join(p.processes(), "\n"))
		}
	}
	id := p.lastSession()
	p.goOn(t, id)
	if f := p.audit(t, id); !f.none() {
		t.Error(f.String())
	}
}

var record = flag.Bool("record", false, "write testdata/sessions/rich.jsonl anew")

// TestRichRun runs the rich plan without a crash: it does what the crash tests
// rely on. With -record it makes the session that other tests cut to pieces.
func TestRichRun(t *testing.T) {
	t.Parallel()
	p := rich(t, user(t))
	k := p.crash(t, "", p.run()...)
	id := p.lastSession()
	if k.exit != 0 || p.left() != 0 {
		t.Fatalf("ended with %d, %d replies left: %s", k.exit, p.left(), &k.stderr)
	}
	if f := p.audit(t, id); !f.none() {
		t.Error(f.String())
	}
	events, _, err := p.events(id)
	if err != nil {
		t.Fatal(err)
	}
	if l := lost(k.said(), events); len(l) > 0 {
		t.Errorf("said and not stored: %q", l)
	}
	triggers, seen := "", map[session.Kind]int{}
	for _, e := range events {
		seen[e.Kind]++
		if c, err := session.Decode[session.CompactionEnded](e); err == nil && e.Kind == session.KindCompactionEnded {
			triggers += string(c.Trigger) + " "
		}
	}
	if triggers != "requested pressure " || seen[session.KindAttempt] != 1 || seen[session.KindMarkShown] == 0 || seen[session.KindInboxQueued] != 2 {
		t.Errorf("compactions %q, events %v", triggers, seen)
	}
	effects, _ := os.ReadFile(p.path("work", "effects.txt"))
	if got := strings.Join(strings.Fields(string(effects)), " "); got != "c2-0 c2-3 c4-0 c5-1 c7-0 c10-0" {
		t.Errorf("effects: %s", got)
	}
	if *record {
		out := p.ok(t, "session", "export", id).stdout
		out = strings.ReplaceAll(out, p.path("work"), "/srv/dir")
		out = strings.ReplaceAll(out, p.dir, "/box")
		if err := os.WriteFile("../../testdata/sessions/rich.jsonl", []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestT2_L15_AKilledPluginIsAnErrorResult kills a plugin while it works for a
// call: the model reads that, the next process serves the next call, and the run
// completes.
func TestT2_L15_AKilledPluginIsAnErrorResult(t *testing.T) {
	t.Parallel()
	note := object{"path": "plan.md", "mode": "create", "text": "noted\n"}
	for plugin, calls := range map[string][2]scripted.Reply{
		"shell":    {batch(1, "shell", object{"description": "wait", "command": "echo > begun; exec sleep 1000"}), batch(2, "shell", effect("c2-0"))},
		"files":    {batch(1, "write", object{"file_path": "out.md", "content": "x"}), batch(2, "read", reads("a.md"))},
		"notesoup": {batch(1, "notes_write", note), batch(2, "notes_write", note, "empty_brain", object{"note": "n"})},
	} {
		t.Run(plugin, func(t *testing.T) {
			t.Parallel()
			// a call before it, after which no hook of the plugin looks at calls any more
			p := planned(t, user(t), []scripted.Reply{batch(7, "glob", object{"pattern": "*.toml"}), calls[0], calls[1], {Text: "Done all the same."}})
			killed := make(chan struct{})
			p.plan.began = func(n int) {
				if n == 1 {
					kill := p.caught(t, plugin)
					go func() { kill(); close(killed) }()
				}
			}
			k := p.crash(t, "", "run", "-q", "-P", "crash.toml", "-o", "json", "Work the plan off.")
			<-killed
			var r host.Result
			if err := json.Unmarshal(k.said(), &r); err != nil {
				t.Fatalf("%v in %s", err, k.said())
			}
			if r.Status != "completed" || r.Text != "Done all the same." {
				t.Fatalf("%s %q %+v\n%s", r.Status, r.Text, r.Error, &k.stderr)
			}
			events, _, err := p.events(r.Session)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				q, err := session.Decode[session.ToolResult](e)
				if err != nil || e.Kind != session.KindToolResult {
					continue
				}
				switch first := q.Message.CallID == "c1-0"; {
				case first && (q.Code != "TOOL_FAILED" || !strings.Contains(q.Message.Text(), "unknown")):
					t.Errorf("the result of the call is %q %q", q.Code, q.Message.Text())
				case !first && q.Message.IsError:
					t.Errorf("call %s after the kill: %q", q.Message.CallID, q.Message.Text())
				}
			}
			if plugin == "notesoup" && len(r.Compactions) != 1 {
				t.Errorf("the strategy's next process did not reset the window: %+v", r.Compactions)
			}
			if f := p.audit(t, r.Session); !f.none() {
				t.Error(f.String())
			}
		})
	}
}

// caught returns what kills a plugin during its first call. The shell is killed
// while its command runs; the others are frozen before the call, which hangs in
// them then, and killed when the log says that it is dispatched.
func (p *crew) caught(t *testing.T, plugin string) (kill func()) {
	pid := p.plugin(plugin)
	if pid == 0 {
		t.Errorf("plugin %s does not run", plugin)
		return func() {}
	}
	under := func() bool { _, err := os.Stat(p.path("work", "begun")); return err == nil }
	if plugin != "shell" {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
		under = func() bool {
			events, _, err := p.events(p.lastSession())
			return err == nil && slices.ContainsFunc(events, func(e session.Event) bool {
				started, err := session.Decode[session.ToolStarted](e)
				return e.Kind == session.KindToolStarted && err == nil && started.CallID == "c1-0"
			})
		}
	}
	return func() {
		defer syscall.Kill(pid, syscall.SIGKILL)
		for deadline := time.Now().Add(time.Minute); !under(); time.Sleep(2 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Error("the call was never dispatched")
				return
			}
		}
	}
}
