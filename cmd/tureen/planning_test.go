package main_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// What the messages of the planning plugin begin with.
const (
	roundHead   = "<goal_round>\nGoal g1, round %d of 256. Objective: "
	nudgeHead   = "Your turn is about to end, and the todo list has open items:"
	restateHead = "The todo list and the goal as they stood"
)

const planningRow = `[[plugins]]
use = "planning"
`

// always is a model that makes the same reply each time.
type always scripted.Reply

func (a always) Reply(llm.Request) scripted.Reply { return scripted.Reply(a) }

// planning is a crew whose profile has the planning plugin, and a model.
func planning(t *testing.T, model scripted.Agent, flags ...string) *crew {
	t.Helper()
	u := user(t)
	p := &crew{sandbox: u, flags: append([]string{"-P", "planning.toml"}, flags...), task: "/goal Make all tests pass"}
	if err := os.WriteFile(u.path("work", "planning.toml"), []byte(crashProfile+planningRow), 0o600); err != nil {
		t.Fatal(err)
	}
	p.plan, _ = model.(*plan)
	var err error
	if p.server, err = scripted.Serve(t.Context(), scripted.Options{Model: "scripted", ContextWindow: 32000, MaxOutputTokens: 2000, Agent: model}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.server.Close() })
	u.env = append(u.env, "OPENAI_BASE_URL="+p.server.BaseURL(), "OPENAI_API_KEY=any")
	return p
}

// goalRecord is what the tests look at of a goal.
type goalRecord struct {
	ID            string `json:"id"`
	Phase         string `json:"phase"`
	RoundsStarted int    `json:"rounds_started"`
	Reason        string `json:"reason"`
	Detail        string `json:"detail"`
	Evidence      string `json:"evidence"`
}

// log reads the newest session's events and holds them against the rules.
func (p *crew) log(t *testing.T) []session.Event {
	t.Helper()
	events, violations, err := p.events(p.lastSession())
	if err != nil || len(violations) > 0 {
		t.Fatalf("%v %v", violations, err)
	}
	return events
}

// goal is the newest record of the session's goal.
func (p *crew) goal(t *testing.T) goalRecord {
	t.Helper()
	var goal goalRecord
	for _, e := range p.log(t) {
		if r, err := session.Decode[session.Record](e); err == nil && e.Kind == session.KindRecord && r.Plugin == "planning" && r.Kind == "goal" {
			var entry struct{ Now goalRecord }
			if err := json.Unmarshal(r.Data, &entry); err != nil {
				t.Fatal(err)
			}
			goal = entry.Now
		}
	}
	return goal
}

// messages counts the user messages that begin with a text.
func messages(events []session.Event, head string) (n int) {
	for _, e := range events {
		if m, err := session.Decode[session.Message](e); err == nil && e.Kind == session.KindMessageUser && strings.HasPrefix(m.Message.Text(), head) {
			n++
		}
	}
	return n
}

// rests resumes without a word, and wants nothing to be asked of the model.
func (p *crew) rests(t *testing.T, id string) {
	t.Helper()
	before := p.server.Stats().Requests
	p.crash(t, "", p.resume(id)...)
	if after := p.server.Stats().Requests; after != before {
		t.Errorf("the goal went on by itself after a resume: %d requests", after-before)
	}
}

func todoItems(items ...string) object {
	todos := []object{}
	for _, item := range items {
		status, content, _ := strings.Cut(item, " ")
		todos = append(todos, object{"status": status, "content": content})
	}
	return object{"todos": todos}
}

// Todos that were announced and left open are pointed at once for each list, then the
// turn ends.
func TestP1_OpenTodosGetANudge(t *testing.T) {
	t.Parallel()
	p := planning(t, &plan{replies: []scripted.Reply{
		batch(1, "todo_write", todoItems("completed read it", "in_progress fix it", "pending test it")), {Text: "I will now fix it."}}})
	p.task = "Fix it."
	if k := p.crash(t, "", p.run()...); k.exit != 0 {
		t.Fatalf("ended with %d: %s", k.exit, &k.stderr)
	}
	if n, asked := messages(p.log(t), nudgeHead), p.server.Stats().Requests; n != 1 || asked != 3 {
		t.Errorf("%d reminders in %d requests, want 1 in 3", n, asked)
	}
}

// C023: the list stands in the first request after a compaction, from the plugin's
// own records, whichever strategy made it, and does not change in that window.
func TestK4_C023_TodosStandInTheNewWindow(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"notesoup", "summary"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			replies := []scripted.Reply{batch(1, "todo_write", todoItems("completed alpha is read", "in_progress beta is changed", "pending gamma is tested"))}
			for n := 2; n < 20; n++ {
				if n == 11 {
					replies = append(replies, batch(n, "todo_write", todoItems("completed alpha is read", "completed beta is changed", "in_progress gamma is tested")))
				} else {
					replies = append(replies, batch(n, "shell", object{"description": "print much", "command": "seq 1 2000"}))
				}
			}
			replies = append(replies, batch(20, "todo_write", todoItems()), scripted.Reply{Text: "Done."})
			p := planning(t, &plan{replies: replies}, "-c", "compaction.strategy="+strategy)
			p.task = "Work the list off."
			if k := p.crash(t, "", p.run()...); k.exit != 0 || p.left() != 0 {
				t.Fatalf("ended with %d, %d replies left: %s", k.exit, p.left(), &k.stderr)
			}
			said := p.restated(t)
			for i, lines := range map[int][]string{
				0:             {"[completed] alpha is read", "[in_progress] beta is changed", "[pending] gamma is tested"},
				len(said) - 1: {"[completed] alpha is read", "[completed] beta is changed", "[in_progress] gamma is tested"},
			} {
				if !strings.HasPrefix(said[i], restateHead) || !strings.Contains(said[i], strings.Join(lines, "\n")) {
					t.Errorf("restatement %d of %d lacks %q:\n%s", i+1, len(said), lines, said[i])
				}
			}
		})
	}
}

// restated wants one message for each of at least two compactions, in the step that
// follows it, and wants a request to carry it as it is stored.
func (p *crew) restated(t *testing.T) (said []string) {
	t.Helper()
	compactions := 0
	for _, e := range p.log(t) {
		switch e.Kind {
		case session.KindCompactionEnded:
			compactions++
		case session.KindMessageAssistant:
			if len(said) != compactions {
				t.Fatalf("event %d: an answer after %d compactions and %d restatements", e.Seq, compactions, len(said))
			}
		case session.KindMessageUser:
			if m, err := session.Decode[session.Message](e); err == nil && m.From == "planning/todo" {
				said = append(said, m.Message.Text())
			}
		}
	}
	if compactions < 2 {
		t.Fatalf("%d compactions, want at least 2", compactions)
	}
	for i, text := range said {
		quoted, _ := json.Marshal(text)
		if !slices.ContainsFunc(p.server.Requests(), func(body []byte) bool { return strings.Contains(string(body), string(quoted)) }) {
			t.Errorf("no request carries restatement %d as it is stored", i+1)
		}
	}
	return said
}

// Plan mode without anybody to approve: the plan ends the turn, nothing is changed,
// and /plan off lets the agent go on.
func TestP2_PlanModeWaitsForThePerson(t *testing.T) {
	t.Parallel()
	p := planning(t, &plan{replies: []scripted.Reply{
		batch(1, "todo_write", todoItems("pending write it"), "exit_plan_mode", object{"plan": "1. Write it."}),
		batch(2, "todo_write", todoItems("completed write it"), "shell", effect("c2-1")),
		{Text: "Written."},
	}})
	p.task = "/plan"
	if k := p.crash(t, "", p.run()...); k.exit != 0 || p.server.Stats().Requests != 0 {
		t.Fatalf("/plan ended with %d after %d requests: %s", k.exit, p.server.Stats().Requests, &k.stderr)
	}
	id := p.lastSession()
	if k := p.crash(t, "", p.resume(id, "Write it.")...); k.exit != 3 || !strings.Contains(string(k.said()), "the plan waits for the person") {
		t.Fatalf("ended with %d: %s", k.exit, &k.stderr)
	}
	first := string(p.server.Requests()[0])
	for _, text := range []string{"Plan mode is on. Look at whatever", "The person switched plan mode on", "Write it."} {
		if !strings.Contains(first, text) {
			t.Errorf("the first request lacks %q", text)
		}
	}
	if n := p.server.Stats().Requests; n != 1 || p.status(t, id) != "completed" {
		t.Errorf("%d requests, the turn is %q: the plan did not end it", n, p.status(t, id))
	}
	p.crash(t, "", p.resume(id, "/plan off")...)
	if k := p.crash(t, "", p.resume(id, "Go.")...); k.exit != 0 || p.left() != 0 {
		t.Errorf("ended with %d, %d replies left: %s", k.exit, p.left(), &k.stderr)
	}
	if n := messages(p.log(t), "The person switched plan mode off"); n != 1 {
		t.Errorf("the model was told %d times that plan mode is over", n)
	}
}
