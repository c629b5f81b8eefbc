package main_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// ticking is a command that touches a file ten times a second until it is killed.
func ticking(file string) object {
	return object{"description": "tick", "command": "while true; do date +%s%N > " + file + "; sleep 0.1; done & wait", "timeoutMs": 600000}
}

// beats tells whether a file still changes.
func (c *cast) beats(file string) bool {
	before, _ := os.ReadFile(c.path("work", file))
	time.Sleep(time.Second)
	after, _ := os.ReadFile(c.path("work", file))
	return string(before) != string(after)
}

// startFamily starts a run whose boss waits for two subagents that tick, until both do.
func startFamily(t *testing.T, args ...string) (*cast, *killed) {
	t.Helper()
	ticks := func(s scene) scripted.Reply {
		switch {
		case s.n == 0:
			return calling("shell", ticking(s.role))
		case strings.Contains(s.said(), "Go on, "+s.role):
			return scripted.Reply{Text: s.role + " goes on."}
		}
		return scripted.Reply{Text: s.role + " is done."}
	}
	c := newCast(t, "", "", map[string]func(scene) scripted.Reply{
		"boss": func(s scene) scripted.Reply {
			id := regexp.MustCompile(`Started subagent (\S+)\.`).FindStringSubmatch(s.all())
			switch {
			case s.n == 0:
				return calling("subagent", spawning("tick", "tick"), "subagent", spawning("tock", "tock"))
			case strings.HasSuffix(s.said(), "Go on."):
				return calling("send_message", object{"agent_id": id[1], "message": "Go on, tick, and go on, tock. Go on, tick. Go on, tock"})
			case strings.Contains(s.all(), " goes on."):
				return scripted.Reply{Text: "It went on."}
			}
			return scripted.Reply{Text: "I wait."}
		},
		"tick": ticks, "tock": ticks,
	})
	k := c.start(t, "", append(args, "-P", "family.toml", "-o", "json", "You are boss.")...)
	t.Cleanup(func() { _ = k.cmd.Process.Kill() })
	waitFor(t, func() bool { return exists(c.path("work", "tick")) && exists(c.path("work", "tock")) })
	waitFor(t, func() bool { return len(c.of("boss")) == 2 })
	return c, k
}

// TestC139_C096_AStoppedParentStopsTheSubagents: by Ctrl-C or from another process, while
// it waits for them. Their commands are gone before the run says that it ended, and
// nothing of it is lost.
func TestC139_C096_AStoppedParentStopsTheSubagents(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*testing.T, *cast, *killed){
		"Ctrl-C": func(t *testing.T, _ *cast, k *killed) {
			if err := k.cmd.Process.Signal(syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		},
		"cancel": func(t *testing.T, c *cast, _ *killed) { c.ok(t, "cancel", "--session", "last") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, k := startFamily(t, "run")
			by := c.sessions(t)
			for _, child := range by[by[""][0].ID] { // it belongs to the run
				for _, args := range [][]string{{"resume", child.ID, "mine"}, {"session", "rm", child.ID, "--yes"}} {
					if o := c.run(t, args...); o.exit != 9 || !strings.Contains(o.stderr, "is in use by pid ") {
						t.Errorf("%s of a subagent at work: exit %d, %s", args[0], o.exit, o.stderr)
					}
				}
			}
			stop(t, c, k)
			k.wait(t)
			checkStopped(t, c, k)
		})
	}
}

func checkStopped(t *testing.T, c *cast, k *killed) {
	t.Helper()
	if c.beats("tick") || c.beats("tock") {
		t.Error("a command of a subagent goes on")
	}
	var r host.Result
	if err := json.Unmarshal(k.said(), &r); err != nil {
		t.Fatalf("%v in %q", err, k.said())
	}
	if k.exit != 130 || r.Status != "cancelled" || r.Children.Count != 2 {
		t.Errorf("exit %d, %+v\n%s", k.exit, r, &k.stderr)
	}
	settled := c.settlements(t, r.Session)
	if len(settled) != 2 || settled[0].Reason != session.ReasonCancelled || settled[0].Lost {
		t.Fatalf("settled %+v", settled)
	}
	asked := len(c.of("boss"))
	r, o := c.perform(t, "resume", "last", "--continue")
	if o.exit != 0 || len(c.of("boss")) != asked+1 || len(c.settlements(t, r.Session)) != 2 {
		t.Errorf("exit %d, %+v\n%s", o.exit, r, o.stderr)
	}
	if boss := c.of("boss")[asked].all(); strings.Count(boss, "was stopped before it had finished") != 2 {
		t.Errorf("the boss is told:\n%s", boss)
	}
}

// TestS3_R1_SubagentsOfAKilledHostAreToldOfOnce: the host is killed while two are at
// work; the next one says of each that it is lost, once; and a message lets one go
// on.
func TestS3_R1_SubagentsOfAKilledHostAreToldOfOnce(t *testing.T) {
	t.Parallel()
	c, k := startFamily(t, "run")
	if err := k.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	k.wait(t)
	if c.beats("tick") || c.beats("tock") {
		t.Error("a command of a subagent goes on")
	}
	r, o := c.perform(t, "resume", "last")
	if o.exit != 0 || r.Turns != 1 {
		t.Fatalf("exit %d, %+v\n%s", o.exit, r, o.stderr)
	}
	boss := c.of("boss")
	if all := boss[len(boss)-1].all(); strings.Count(all, "was at work when the host stopped") != 2 {
		t.Errorf("the boss is told:\n%s", all)
	}
	for range 2 {
		settled := c.settlements(t, r.Session)
		if len(settled) != 2 || !settled[0].Lost || !settled[1].Lost || settled[0].Usage.Total() == 0 {
			t.Fatalf("settled %+v", settled)
		}
		c.ok(t, "resume", "last") // says it once only
	}
	r, o = c.perform(t, "resume", "last", "Go on.")
	if o.exit != 0 || r.Text != "It went on." || r.Children.Count != 1 {
		t.Fatalf("exit %d, %+v\n%s", o.exit, r, o.stderr)
	}
	settled := c.settlements(t, r.Session)
	if len(settled) != 3 || settled[2].Reason != session.ReasonCompleted || settled[2].Lost || !strings.HasSuffix(settled[2].Text, " goes on.") {
		t.Errorf("settled %+v", settled)
	}
	all := 0
	for _, s := range settled {
		all += s.Usage.Total()
	}
	if all <= 0 || r.Children.Usage != settled[2].Usage {
		t.Errorf("the result has %+v, the log %+v", r.Children.Usage, settled[2].Usage)
	}
	if o := c.ok(t, "session", "verify"); !strings.Contains(o.stdout, " ok, ") {
		t.Errorf("verify: %s", o.stdout)
	}
}

// TestS5_MessagesGoBothWaysAndAnInterruptSettles: a message to a subagent at work
// and one from it arrive at the next step, one that is interrupted settles, and a
// message lets one that has ended go on with all that it knew.
func TestS5_MessagesGoBothWaysAndAnInterruptSettles(t *testing.T) {
	t.Parallel()
	started := regexp.MustCompile(`Started subagent (\S+)\.`)
	above := regexp.MustCompile(`The agent above you has the id "(\S+)"`)
	c := newCast(t, "", "", map[string]func(scene) scripted.Reply{
		"boss": func(s scene) scripted.Reply {
			ids := started.FindAllStringSubmatch(s.all(), -1)
			switch all := s.all(); {
			case s.n == 0:
				return calling("subagent", spawning("scout", "scout"), "subagent", spawning("tick", "tick"))
			case strings.Contains(all, "The bridge still holds."):
				return scripted.Reply{Text: "All is known."}
			case strings.Contains(all, "The bridge holds.") && strings.Contains(all, "was stopped before it had finished") && !strings.Contains(all, "had ended and goes on"):
				return calling("send_message", object{"agent_id": ids[0][1], "message": "Look again."}, "list_agents", object{}, "send_message", object{"agent_id": "nobody", "message": "Hello?"})
			case strings.Contains(all, "I see a bridge.") && !strings.Contains(all, "Sent."):
				return calling("send_message", object{"agent_id": ids[0][1], "message": "Cross it."}, "interrupt_agent", object{"agent_id": ids[1][1]})
			}
			return scripted.Reply{Text: "I wait."}
		},
		"scout": func(s scene) scripted.Reply {
			switch all := s.all(); {
			case s.n == 0:
				return calling("send_message", object{"agent_id": above.FindStringSubmatch(all)[1], "message": "I see a bridge."})
			case strings.Contains(all, "Look again."):
				return scripted.Reply{Text: "The bridge still holds."}
			case strings.Contains(all, "Cross it."):
				return scripted.Reply{Text: "The bridge holds."}
			}
			return calling("shell", object{"description": "wait", "command": "sleep 0.2"})
		},
		"tick": func(s scene) scripted.Reply { return calling("shell", ticking("tick")) },
	})
	r, o := c.perform(t, "run", "You are boss.")
	if o.exit != 0 || r.Text != "All is known." || r.Children.Count != 2 {
		t.Fatalf("exit %d, %+v\n%s", o.exit, r, o.stderr)
	}
	boss := c.of("boss")
	end := boss[len(boss)-1].all()
	for _, want := range []string{"Message from subagent ", "(scout):\nI see a bridge.", `there is no agent "nobody" for you`,
		" of at most 8. Started in all: 2 of at most 64.", "ended: cancelled  tick"} {
		if !strings.Contains(end, want) {
			t.Errorf("no %q in what the boss saw:\n%s", want, end)
		}
	}
	scouts := c.of("scout")
	if last := scouts[len(scouts)-1].all(); !strings.Contains(last, "Message from the agent that gave you the task:\nLook again.") || !strings.Contains(last, "The bridge holds.") {
		t.Errorf("the scout, gone on with, saw:\n%s", last)
	}
	if s := c.settlements(t, r.Session); len(s) != 3 {
		t.Errorf("settled %+v", s)
	}
	if c.beats("tick") {
		t.Error("the command of the interrupted subagent goes on")
	}
}

// TestS3_ACrashBetweenTheEndAndTheNews: the host is killed when a subagent has come to
// its end and nobody was told yet, or when one was told of but not begun. Each time the
// next one tells it, once.
func TestS3_ACrashBetweenTheEndAndTheNews(t *testing.T) {
	t.Parallel()
	for point, want := range map[string]string{
		"kind:child.settled:1:before": "has finished. It does nothing more",
		"kind:child.settled:1:during": "has finished. It does nothing more",
		"kind:child.settled:1:after":  "has finished. It does nothing more",
		"kind:child.spawned:1:after":  "was at work when the host stopped",
		"kind:child.spawned:1:before": "Whether it took effect is unknown",
	} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			c := newCast(t, "", "", map[string]func(scene) scripted.Reply{
				"boss": func(s scene) scripted.Reply {
					if s.n == 0 {
						return calling("subagent", structured("judge"))
					}
					return scripted.Reply{Text: "I go on."}
				},
				"judge": func(s scene) scripted.Reply { return calling("structured_output", object{"verdict": "guilty"}) },
			})
			k := c.crash(t, point, "run", "-P", "family.toml", "You are boss.")
			if !k.byKill {
				t.Fatalf("not killed: %d %s", k.exit, &k.stderr)
			}
			r, o := c.perform(t, "resume", "last", "--continue")
			if o.exit != 0 {
				t.Fatalf("exit %d, %+v\n%s", o.exit, r, o.stderr)
			}
			boss := c.of("boss")
			all := boss[len(boss)-1].all()
			if strings.Count(all, want) != 1 || strings.Contains(want, "finished") != strings.Contains(all, `Its structured result:
{"verdict":"guilty"}`) {
				t.Errorf("the boss is told:\n%s", all)
			}
			if settled := c.settlements(t, r.Session); len(settled) != map[bool]int{true: 1, false: 0}[!strings.Contains(want, "unknown")] {
				t.Errorf("settled %+v", settled)
			}
		})
	}
}
