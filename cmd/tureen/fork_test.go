package main_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// bytesOf are messages as JSON, so that they compare byte for byte.
func bytesOf(t *testing.T, messages []*llm.Message) (list []string) {
	t.Helper()
	for _, m := range messages {
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, string(b))
	}
	return list
}

const passphrase = "the passphrase is blue heron"

// forking is a boss that learns something in its first turn and has a fork work with
// it in the second. The fork is told by its task from its boss.
func forking(s scene) scripted.Reply {
	switch {
	case strings.Contains(s.said(), "SIDE TASK"):
		if !strings.Contains(s.all(), passphrase) {
			return scripted.Reply{Text: "I was never told."}
		}
		return calling("shell", object{"description": "write it down", "command": "echo 'blue heron' > passphrase.txt"})
	case strings.Contains(s.all(), "SIDE TASK") && s.req.Messages[len(s.req.Messages)-1].Role == llm.RoleTool:
		return scripted.Reply{Text: "It is written down."}
	case strings.HasSuffix(s.said(), "Go on."):
		return calling("subagent_fork", object{"task": "SIDE TASK: write the passphrase to a file.", "label": "write it down"})
	case strings.Contains(s.all(), "It is written down."):
		return scripted.Reply{Text: "Good."}
	case strings.Contains(s.said(), "no subagent was started"):
		return scripted.Reply{Text: "Not yet."}
	case strings.HasSuffix(s.said(), "Fork."):
		return calling("subagent_fork", object{"task": "SIDE TASK", "label": "too early"})
	}
	return scripted.Reply{Text: "Understood."}
}

// TestS2_N10_AForkKnowsWhatWasSaidBefore: a fork of the first turn is refused with what
// to do instead; one of the second knows what the first was told, is asked with the
// same bytes up to there, does its work and tells of it, under each strategy.
func TestS2_N10_AForkKnowsWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"none", "summary", "notesoup"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			c := newCast(t, "", "", map[string]func(scene) scripted.Reply{"boss": forking})
			more := []string{"-c", "compaction.strategy=" + strategy}
			r, o := c.perform(t, append([]string{"run", "You are boss. Remember: " + passphrase + ". Fork."}, more...)...)
			if o.exit != 0 || r.Text != "Not yet." || r.Children.Count != 0 {
				t.Fatalf("exit %d, %+v\n%s", o.exit, r, o.stderr)
			}
			if scenes := c.of("boss"); !strings.Contains(scenes[1].said(), "no turn of this conversation has ended yet") {
				t.Errorf("a fork of nothing: %s", scenes[1].said())
			}
			r, o = c.perform(t, append([]string{"resume", "last", "Go on."}, more...)...)
			if o.exit != 0 || r.Text != "Good." || r.Children.Count != 1 || !exists(c.path("work", "passphrase.txt")) {
				t.Fatalf("exit %d, %+v\n%s", o.exit, r, o.stderr)
			}
			scenes := c.of("boss")
			parent := bytesOf(t, scenes[2].req.Messages) // asked with "Go on."
			at := slices.IndexFunc(scenes, func(s scene) bool {
				return strings.Contains(s.said(), "SIDE TASK:") && s.req.Messages[len(s.req.Messages)-1].Role == llm.RoleUser
			})
			if at < 0 {
				t.Fatal("the fork was not asked")
			}
			fork := bytesOf(t, scenes[at].req.Messages)
			shared := slices.IndexFunc(parent, func(m string) bool { return strings.Contains(m, "Not yet.") }) + 1
			if shared < 4 || len(fork) <= shared || !slices.Equal(fork[:shared], parent[:shared]) {
				t.Errorf("the fork is asked with\n%s\nits parent with\n%s", strings.Join(fork, "\n"), strings.Join(parent[:shared], "\n"))
			}
			if rest := strings.Join(fork[shared:], "\n"); strings.Contains(rest, "Go on.") || !strings.Contains(rest, "You are a subagent") {
				t.Errorf("what follows: %s", rest)
			}
			settled := c.settlements(t, r.Session)
			events, violations, err := c.events(settled[0].ID)
			if err != nil || len(violations) > 0 {
				t.Fatalf("%v, %v", err, violations)
			}
			created, err := session.Decode[session.Created](events[0])
			if err != nil || created.Parent != r.Session || created.Depth != 1 || created.Origin == nil || created.Origin.How != session.HowFork || created.Origin.Used.Total() == 0 {
				t.Errorf("created %+v, %v", created, err)
			}
			if o := c.ok(t, "session", "verify", settled[0].ID); !strings.Contains(o.stdout, " ok, ") {
				t.Errorf("verify: %s", o.stdout)
			}
		})
	}
}

// TestS2_C139_TheLimitsOfATreeBindForks: tokens that were used before the fork count
// once, and the limit ends the fork as it ends any other of the tree.
func TestS2_C139_TheLimitsOfATreeBindForks(t *testing.T) {
	t.Parallel()
	c := newCast(t, "max_total = 1", "[limits]\nmax_steps = 40\n", map[string]func(scene) scripted.Reply{"boss": func(s scene) scripted.Reply {
		switch {
		case strings.Contains(s.all(), "SIDE TASK:"):
			return calling("shell", object{"description": "go on", "command": "true"}) // for ever
		case strings.HasSuffix(s.said(), "Go on."):
			return calling("subagent_fork", object{"task": "SIDE TASK: never end.", "label": "never"}, "subagent_fork", object{"task": "SIDE TASK: another.", "label": "another"})
		}
		return scripted.Reply{Text: "I see."}
	}})
	first, o := c.perform(t, "run", "You are boss.")
	if o.exit != 0 {
		t.Fatalf("exit %d: %s", o.exit, o.stderr)
	}
	limit := first.Usage.Total() * 12
	r, o := c.perform(t, "resume", "last", "Go on.", "-c", "limits.max_tokens="+strconv.Itoa(limit))
	settled := c.settlements(t, r.Session)
	if len(settled) != 1 || settled[0].Reason != session.ReasonLimit || settled[0].Error == nil || settled[0].Error.Code != "LIMIT_TOKENS" {
		t.Fatalf("exit %d, settled %+v", o.exit, settled)
	}
	used := first.Usage.Total() + r.Usage.Total() + settled[0].Usage.Total()
	if used < limit || settled[0].Usage.Total() < limit/3 {
		t.Errorf("the limit of %d was reached with %d, of which the fork used %d", limit, used, settled[0].Usage.Total())
	}
	if boss := c.of("boss"); !slices.ContainsFunc(boss, func(s scene) bool {
		return strings.Contains(s.all(), "there were 1 already, which is all that there may be")
	}) {
		t.Error("a second fork was not refused")
	}
}

// TestL9_S8_ABranchIsNotRemindedOfWhatItsOriginSet: the reminder is due in the session
// that set it, once, and in no branch of it, which may set its own.
func TestL9_S8_ABranchIsNotRemindedOfWhatItsOriginSet(t *testing.T) {
	t.Parallel()
	c := newCast(t, "", useSchedule+"config = { wait = \"3s\" }\n", map[string]func(scene) scripted.Reply{"clerk": func(s scene) scripted.Reply {
		switch said := s.said(); {
		case s.n == 0:
			return calling("schedule_create", object{"title": "look", "prompt": "Look now.", "every_seconds": 86400})
		case strings.Contains(said, `prompt: "Look now."`):
			return scripted.Reply{Text: "I looked."}
		case strings.Contains(said, `prompt: "Look here."`):
			return scripted.Reply{Text: "I looked here."}
		case strings.HasSuffix(said, "What is due?"):
			return calling("schedule_list", object{})
		case strings.HasSuffix(said, "Set one here."):
			return calling("schedule_create", object{"title": "look here", "prompt": "Look here.", "after_seconds": 1})
		case strings.Contains(said, "No reminders."):
			return scripted.Reply{Text: "Nothing is due."}
		}
		return scripted.Reply{Text: "It is set."}
	}})
	origin, o := c.perform(t, "run", "You are clerk.")
	if o.exit != 0 || origin.Text != "It is set." {
		t.Fatalf("exit %d, %+v\n%s", o.exit, origin, o.stderr)
	}
	c.backdate(t, origin.Session)
	branch := strings.TrimSpace(c.ok(t, "session", "fork", "-q", origin.Session).stdout)
	r, o := c.perform(t, "resume", branch, "What is due?")
	if o.exit != 0 || r.Text != "Nothing is due." || r.Turns != 1 {
		t.Errorf("the branch: exit %d, %+v\n%s", o.exit, r, o.stderr)
	}
	r, o = c.perform(t, "resume", branch, "Set one here.")
	if keys := c.reminders(t, branch); o.exit != 0 || r.Text != "I looked here." || len(keys) != 1 || !strings.HasPrefix(keys[0], "schedule:r2:") {
		t.Errorf("the branch was reminded of %v; exit %d, %+v\n%s", keys, o.exit, r, o.stderr)
	}
	for range 2 {
		r, o = c.perform(t, "resume", origin.Session)
	}
	if keys := c.reminders(t, origin.Session); o.exit != 0 || len(keys) != 1 || !strings.HasPrefix(keys[0], "schedule:r1:") {
		t.Errorf("the session that set it was reminded of %v; exit %d, %+v\n%s", keys, o.exit, r, o.stderr)
	}
}
