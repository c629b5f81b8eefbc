package main_test

import (
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

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
	if by := c.sessions(t); len(by) != 0 { // they go with the session that they worked for
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
