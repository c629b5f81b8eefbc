package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

const familyProfile = `schema  = 1
extends = "base"
[model]
name              = "scripted"
context_window    = 32000
max_output_tokens = 2000
[compaction]
strategy = "none"
[[plugins]]
use = "files"
[[plugins]]
use = "shell"
[[plugins]]
use = "subagents"
config = { %s }
%s`

// cast is a model that plays several agents: which one a request comes from stands
// in its task as "You are NAME.". What each says depends on the request alone.
type cast struct {
	*sandbox
	roles map[string]func(scene) scripted.Reply

	mu     sync.Mutex
	scenes []scene
}

// scene is one request.
type scene struct {
	role string
	n    int // answers that stand in the request
	req  llm.Request
}

var roleName = regexp.MustCompile(`You are ([a-z0-9-]+)\.`)

// Reply implements scripted.Agent.
func (c *cast) Reply(req llm.Request) scripted.Reply {
	s := scene{req: req}
	for _, m := range req.Messages {
		if m.Role == llm.RoleAssistant {
			s.n++
		}
		if name := roleName.FindStringSubmatch(m.Text()); m.Role == llm.RoleUser && name != nil && s.role == "" {
			s.role = name[1]
		}
	}
	c.mu.Lock()
	c.scenes = append(c.scenes, s)
	c.mu.Unlock()
	if play := c.roles[s.role]; play != nil {
		return play(s)
	}
	return scripted.Reply{Error: &scripted.Failure{Status: 400, Message: fmt.Sprintf("nobody plays %q", s.role), Type: "invalid_request_error", Code: "no_role"}}
}

// said is the text of the last message.
func (s scene) said() string { return s.req.Messages[len(s.req.Messages)-1].Text() }

// all is every text of the request.
func (s scene) all() string {
	var b strings.Builder
	for _, m := range s.req.Messages {
		b.WriteString(m.Text() + "\n")
	}
	return b.String()
}

// of are the requests of a role.
func (c *cast) of(role string) []scene {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.scenes), func(s scene) bool { return s.role != role })
}

// newCast serves roles on loopback. The texts are the config of the plugin and more
// of the profile.
func newCast(t *testing.T, config, more string, roles map[string]func(scene) scripted.Reply) *cast {
	t.Helper()
	c := &cast{sandbox: user(t), roles: roles}
	write(t, c.path("work", "family.toml"), fmt.Sprintf(familyProfile, config, more))
	server, err := scripted.Serve(t.Context(), scripted.Options{Model: "scripted", ContextWindow: 32000, MaxOutputTokens: 2000, Agent: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	c.env = append(c.env, "OPENAI_BASE_URL="+server.BaseURL(), "OPENAI_API_KEY=any")
	return c
}

func calling(calls ...any) scripted.Reply {
	r := batch(0, calls...)
	r.Text = ""
	for i := range r.Calls {
		r.Calls[i].ID = "" // the server makes one
	}
	return r
}

func spawning(role, label string) object {
	return object{"task": "You are " + role + ".", "label": label}
}

// perform runs a task and returns the result.
func (c *cast) perform(t *testing.T, args ...string) (host.Result, outcome) {
	t.Helper()
	o := c.run(t, append(args, "-P", "family.toml", "-o", "json")...)
	var r host.Result
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatalf("%v in %q; %s", err, o.stdout, o.stderr)
	}
	return r, o
}

// sessions are all sessions by parent, the person's own under "".
func (c *cast) sessions(t *testing.T) map[string][]session.Summary {
	t.Helper()
	var list []session.Summary
	if err := json.Unmarshal([]byte(c.ok(t, "session", "list", "--json").stdout), &list); err != nil {
		t.Fatal(err)
	}
	by := map[string][]session.Summary{}
	for _, s := range list {
		by[s.Parent] = append(by[s.Parent], s)
	}
	return by
}

// settlements are those in a session's log, in order.
func (c *cast) settlements(t *testing.T, id string) []session.ChildSettled {
	t.Helper()
	events, violations, err := c.events(id)
	if err != nil || len(violations) > 0 {
		t.Fatalf("%v, %v", err, violations)
	}
	var list []session.ChildSettled
	for _, e := range events {
		if p, err := session.Decode[session.ChildSettled](e); err == nil && e.Kind == session.KindChildSettled {
			list = append(list, p)
		}
	}
	return list
}

// TestS1_S3_L16_TwoSubagentsReportAndTheParentGoesOn: two are started side by side,
// the parent ends its turn, is told of each, and the run ends only then.
func TestS1_S3_L16_TwoSubagentsReportAndTheParentGoesOn(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"none", "summary", "notesoup"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			twoReport(t, strategy)
		})
	}
}

func twoReport(t *testing.T, strategy string) {
	works := func(what string) func(scene) scripted.Reply {
		return func(s scene) scripted.Reply {
			if s.n == 0 {
				return calling("shell", object{"description": "work", "command": "sleep 0.3; echo " + what + " > " + what + ".txt"})
			}
			return scripted.Reply{Text: what + " is done."}
		}
	}
	c := newCast(t, "", "", map[string]func(scene) scripted.Reply{
		"boss": func(s scene) scripted.Reply {
			switch {
			case s.n == 0:
				return calling("subagent", spawning("left", "the left side"), "subagent", spawning("right", "the right side"))
			case strings.Contains(s.all(), "left is done.") && strings.Contains(s.all(), "right is done."):
				return scripted.Reply{Text: "Both are done."}
			}
			return scripted.Reply{Text: "I wait."}
		},
		"left": works("left"), "right": works("right"),
	})
	r, o := c.perform(t, "run", "-c", "compaction.strategy="+strategy, "You are boss.")
	if o.exit != 0 || r.Text != "Both are done." || r.Children.Count != 2 || r.Children.Usage.Total() == 0 {
		t.Fatalf("exit %d, %+v\n%s", o.exit, r, o.stderr)
	}
	for _, file := range []string{"left.txt", "right.txt"} {
		if !exists(c.path("work", file)) {
			t.Errorf("%s is missing: a subagent works elsewhere", file)
		}
	}
	by := c.sessions(t)
	if len(by[""]) != 1 || by[""][0].ID != r.Session || len(by[r.Session]) != 2 {
		t.Fatalf("sessions: %+v", by)
	}
	for _, child := range by[r.Session] {
		if child.Status != "completed" || !strings.HasSuffix(child.Title, " side") {
			t.Errorf("child %+v", child)
		}
		if o := c.ok(t, "session", "verify", child.ID); !strings.Contains(o.stdout, " ok, ") {
			t.Errorf("verify: %s", o.stdout)
		}
	}
	var used int
	for _, s := range c.settlements(t, r.Session) {
		used += s.Usage.Total()
		if s.Reason != session.ReasonCompleted || !strings.HasSuffix(s.Text, " is done.") || s.Lost {
			t.Errorf("settled %+v", s)
		}
	}
	if used != r.Children.Usage.Total() {
		t.Errorf("the settlements have %d tokens, the result %d", used, r.Children.Usage.Total())
	}
	if left := c.of("left")[0].all(); !strings.Contains(left, "You are a subagent") || !strings.Contains(left, r.Session) || !strings.Contains(left, "Subagent depth: 1 of at most 1") {
		t.Errorf("a subagent is not told what it is:\n%s", left)
	}
	if boss := c.of("boss")[0].all(); strings.Contains(boss, "Subagent depth") {
		t.Errorf("the boss is told of a depth:\n%s", boss)
	}
	// last is the person's own session.
	if o := c.ok(t, "session", "show", "last", "--json"); !strings.Contains(o.stdout, r.Session) {
		t.Errorf("last: %s", o.stdout)
	}
	c.ok(t, "session", "rm", r.Session, "--yes")
	if by := c.sessions(t); len(by[""]) != 0 || len(by[r.Session]) != 2 {
		t.Errorf("after rm: %+v", by)
	}
}

var verdict = object{"type": "object", "required": []string{"verdict"}, "properties": object{"verdict": object{"type": "string"}, "count": object{"type": "integer"}}}

func structured(role string) object {
	return object{"task": "You are " + role + ".", "label": role, "output_schema": verdict}
}

// TestS4_AStructuredResultIsHandedInOrMissed: one subagent hands its result in, after
// arguments that do not fit, and tries a second time; one never does, is told to
// twice, and its parent hears that there is none.
func TestS4_AStructuredResultIsHandedInOrMissed(t *testing.T) {
	t.Parallel()
	c := newCast(t, "", "", map[string]func(scene) scripted.Reply{
		"boss": func(s scene) scripted.Reply {
			switch {
			case s.n == 0:
				return calling("subagent", structured("judge"), "subagent", structured("mute"),
					"subagent", object{"task": "t", "label": "l", "output_schema": object{"type": "array"}})
			case strings.Contains(s.all(), `{"count":3,"verdict":"guilty"}`) && strings.Contains(s.all(), "NO_STRUCTURED_RESULT"):
				return scripted.Reply{Text: "Heard."}
			}
			return scripted.Reply{Text: "I wait."}
		},
		"judge": func(s scene) scripted.Reply {
			switch s.n {
			case 0:
				return scripted.Reply{Text: "Guilty, I think."} // no result
			case 1:
				return calling("structured_output", object{"verdict": 7})
			case 2:
				return calling("structured_output", object{"verdict": "guilty", "count": 3}, "structured_output", object{"verdict": "innocent"})
			}
			return scripted.Reply{Text: "The turn should be over."}
		},
		"mute": func(s scene) scripted.Reply { return scripted.Reply{Text: "Hm."} },
	})
	r, o := c.perform(t, "run", "You are boss.")
	if o.exit != 0 || r.Text != "Heard." || r.Children.Count != 2 {
		t.Fatalf("exit %d, %+v\n%s", o.exit, r, o.stderr)
	}
	if boss := c.of("boss")[1].all(); !strings.Contains(boss, "no subagent was started: output_schema must have") {
		t.Errorf("a list as a result was not refused:\n%s", boss)
	}
	judge := c.of("judge")
	if len(judge) != 3 {
		t.Errorf("the judge was asked %d times, want 3", len(judge))
	}
	if !strings.Contains(judge[1].said(), "Call structured_output now") || !strings.Contains(judge[2].said(), "Error: invalid arguments") {
		t.Errorf("the judge heard %q, then %q", judge[1].said(), judge[2].said())
	}
	if mute := c.of("mute"); len(mute) != 3 {
		t.Errorf("the mute one was asked %d times, want 3", len(mute))
	}
	for _, s := range c.settlements(t, r.Session) {
		switch {
		case s.Report != nil:
			if string(s.Report) != `{"count":3,"verdict":"guilty"}` || s.Reason != session.ReasonCompleted {
				t.Errorf("settled %+v", s)
			}
			events, _, err := c.events(s.ID)
			if err != nil {
				t.Fatal(err)
			}
			results := ""
			for _, e := range events {
				if p, err := session.Decode[session.ToolResult](e); err == nil && e.Kind == session.KindToolResult {
					results += p.Code + ";"
				}
			}
			if results != "INVALID_ARGUMENTS;;REPORTED;" {
				t.Errorf("results %s", results)
			}
		case s.Reason != session.ReasonBlocked || s.Error == nil || s.Error.Code != "NO_STRUCTURED_RESULT":
			t.Errorf("settled %+v", s)
		}
	}
}

// TestC139_LimitsHoldAcrossTheTree: a model that always starts two subagents is
// held by depth, by the total and, where those are wide, by the budget of tokens.
func TestC139_LimitsHoldAcrossTheTree(t *testing.T) {
	t.Parallel()
	greedy := func(tokens int) map[string]func(scene) scripted.Reply {
		return map[string]func(scene) scripted.Reply{"greedy": func(s scene) scripted.Reply {
			r := calling("subagent", spawning("greedy", "one"), "subagent", spawning("greedy", "two"))
			if s.n > 0 {
				r = scripted.Reply{Text: "I have what I want."}
			}
			r.Usage = &scripted.Usage{PromptTokens: tokens - 10, CompletionTokens: 10}
			return r
		}}
	}
	count := func(t *testing.T, c *cast) (sessions, deepest int, refused map[string]int) {
		refused = map[string]int{}
		depth := map[string]int{"": -1}
		by := c.sessions(t)
		for queue := []string{""}; len(queue) > 0; queue = queue[1:] {
			for _, s := range by[queue[0]] {
				sessions++
				depth[s.ID] = depth[queue[0]] + 1
				deepest = max(deepest, depth[s.ID])
				queue = append(queue, s.ID)
				events, violations, err := c.events(s.ID)
				if err != nil || len(violations) > 0 {
					t.Errorf("%v, %v", err, violations)
				}
				for _, e := range events {
					if p, err := session.Decode[session.ToolResult](e); err == nil && e.Kind == session.KindToolResult && p.Message.IsError {
						refused[p.Code]++
					}
				}
			}
		}
		return sessions, deepest, refused
	}
	t.Run("depth and total", func(t *testing.T) {
		t.Parallel()
		c := newCast(t, "max_depth = 2, max_total = 5", "[limits]\nmax_tokens = 200000\n", greedy(100))
		r, o := c.perform(t, "run", "You are greedy.")
		sessions, deepest, refused := count(t, c)
		if o.exit != 0 || sessions != 6 || deepest != 2 {
			t.Errorf("exit %d, %d sessions, depth %d, %+v\n%s", o.exit, sessions, deepest, r, o.stderr)
		}
		// Of 2 + 4 starts at the upper levels one is over the total; each of the
		// sessions at depth 2 tried two more.
		if refused["TOTAL_LIMIT"] != 1 || refused["DEPTH_LIMIT"] != 2*3 {
			t.Errorf("refused %v", refused)
		}
	})
	t.Run("at once", func(t *testing.T) {
		t.Parallel()
		c := newCast(t, "max_depth = 2, max_active = 1", "", greedy(100))
		if _, o := c.perform(t, "run", "You are greedy."); o.exit != 0 {
			t.Errorf("exit %d: %s", o.exit, o.stderr)
		}
		if sessions, _, refused := count(t, c); sessions != 2 || refused["ACTIVE_LIMIT"] != 3 {
			t.Errorf("%d sessions, refused %v", sessions, refused)
		}
	})
	t.Run("tokens", func(t *testing.T) {
		t.Parallel()
		c := newCast(t, "max_depth = 8, max_active = 64, max_total = 1000", "[limits]\nmax_tokens = 200000\n", greedy(20_000))
		r, o := c.perform(t, "run", "You are greedy.")
		sessions, _, _ := count(t, c)
		used := r.Usage.Total() + r.Children.Usage.Total()
		// Who is asked while the others' answers are under way may go over it.
		if o.exit != 4 || r.Status != "limit" || r.Error == nil || r.Error.Code != "LIMIT_TOKENS" || used < 200_000 || used > 200_000+20_000*sessions/2 {
			t.Errorf("exit %d, %d tokens in %d sessions, %+v\n%s", o.exit, used, sessions, r, o.stderr)
		}
		if asked := len(c.of("greedy")); used != 20_000*asked {
			t.Errorf("%d requests, but %d tokens are booked", asked, used)
		}
	})
}

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
