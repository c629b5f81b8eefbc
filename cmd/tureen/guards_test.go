package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

const guardedRows = `[[plugins]]
use = "guards"
[[plugins]]
use = "instructions"
`

// overheard is a model that remembers what it was asked.
type overheard struct {
	scripted.Agent
	mu       sync.Mutex
	requests []llm.Request
}

func (o *overheard) Reply(req llm.Request) scripted.Reply {
	o.mu.Lock()
	o.requests = append(o.requests, req)
	o.mu.Unlock()
	return o.Agent.Reply(req)
}

func (o *overheard) asked() []llm.Request {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.requests)
}

// guarded is a crew whose profile has both plugins, and a model.
func guarded(t *testing.T, agent scripted.Agent) (*crew, *overheard) {
	t.Helper()
	p := planned(t, user(t), nil)
	if err := os.WriteFile(p.path("work", "guarded.toml"), []byte(crashProfile+guardedRows), 0o600); err != nil {
		t.Fatal(err)
	}
	o := &overheard{Agent: agent}
	server, err := scripted.Serve(t.Context(), scripted.Options{Model: "scripted", ContextWindow: 32000, MaxOutputTokens: 2000, Agent: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	p.env = append(p.env, "OPENAI_BASE_URL="+server.BaseURL())
	p.flags = []string{"-P", "guarded.toml"}
	return p, o
}

// ends runs the task and wants an exit code, and the error's code, "" for none.
func (c *crew) ends(t *testing.T, exit int, code string) host.Result {
	t.Helper()
	o := c.sandbox.run(t, append([]string{"run", "-q", "-o", "json"}, append(c.flags, c.task)...)...)
	var r host.Result
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatalf("%v in %s\n%s", err, o.stdout, o.stderr)
	}
	got := ""
	if r.Error != nil {
		got = r.Error.Code
	}
	if o.exit != exit || got != code {
		t.Errorf("exit %d with %+v, want %d with %q\n%s", o.exit, r.Error, exit, code, o.stderr)
	}
	return r
}

// C133: an announced step is nudged twice and then ends the turn with a name of its
// own; an answer ends it at once.
func TestC133_AnnouncedStepsEndBlocked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		code string
	}{
		{"Now let me read X.", "ANNOUNCED"},
		{"<tool_call>\n{\"name\": \"read\", \"arguments\": {\"file_path\": \"a.md\"}}\n</tool_call>", "ANNOUNCED"},
		{"Executing step 2:", "ANNOUNCED"},
		{"Both files are in order. Let me know if you want more.", ""},
		{"The work is done.\n\nNext steps: run the migration, then tell the team.", ""},
	} {
		p, model := guarded(t, always{Text: c.text})
		exit, requests := 0, 1
		if c.code != "" {
			exit, requests = 11, 3
		}
		p.ends(t, exit, c.code)
		if n := len(model.asked()); n != requests {
			t.Errorf("%q: %d requests, want %d", c.text, n, requests)
		}
	}
}

// Who takes the nudge goes on as if nothing had been.
func TestC133_ANudgeThatHelpsCompletesTheTurn(t *testing.T) {
	t.Parallel()
	p, model := guarded(t, &plan{replies: []scripted.Reply{
		{Text: "Now let me read a.md."}, batch(1, "read", reads("a.md")), {Text: "I'll read b.md next."}, batch(2, "read", reads("b.md")),
		{Text: "Let me also read c.md."}, batch(3, "read", reads("c.md")), {Text: "I read the three files; they say alpha, beta and gamma."},
	}})
	if r := p.ends(t, 0, ""); !strings.HasPrefix(r.Text, "I read the three files") || len(model.asked()) != 7 {
		t.Errorf("%q after %d requests", r.Text, len(model.asked()))
	}
}

// C134: the same call for ever, its arguments spelt differently each time, through
// resets that the results force.
func TestC134_ALoopEndsTheTurnAcrossResets(t *testing.T) {
	t.Parallel()
	spellings := []string{`{"file_path": "big1.md", "limit": 800}`, `{"limit": 800, "file_path": "big1.md"}`, `{"limit":800.0,"file_path":"big1.md"}`}
	n := 0
	p, _ := guarded(t, scripted.AgentFunc(func(llm.Request) scripted.Reply {
		n++
		return scripted.Reply{Calls: []scripted.Call{{Name: "read", Arguments: scripted.Arguments(spellings[n%len(spellings)])}}}
	}))
	r := p.ends(t, 11, "LOOP")
	calls, reminders := 0, 0
	for _, e := range p.log(t) {
		switch e.Kind {
		case session.KindToolStarted:
			calls++
		case session.KindMessageUser:
			if m, _ := session.Decode[session.Message](e); strings.Contains(m.Message.Text(), "in a row") {
				reminders++
			}
		}
	}
	if calls > 6 || reminders != 2 {
		t.Errorf("%d calls and %d reminders, want at most 6 and 2", calls, reminders)
	}
	if len(r.Compactions) == 0 {
		t.Error("there was no reset, so that nothing was survived")
	}
}

// C025: the whole of a project's rules stands in the first request of every window,
// once and in the same bytes; within a window each request begins with the last one.
func TestC025_InstructionsSurviveResets(t *testing.T) {
	t.Parallel()
	p, model := guarded(t, &plan{replies: []scripted.Reply{
		batch(1, "notes_write", object{"path": "plan.md", "mode": "create", "text": "# Plan\nBegun.\n"}), batch(2, "read", reads("a.md")), batch(3, "empty_brain", object{"note": "go on with step 4"}),
		batch(4, "read", reads("deep/x.md")), batch(5, "read", reads("b.md")), batch(6, "empty_brain", object{"note": "go on with step 7"}),
		batch(7, "read", reads("deep/x.md"), "skill", object{"name": "release"}), {Text: "The plan is done."},
	}})
	rule := "Never run git push. The word is KESTREL.\n" + strings.Repeat("Another rule that is to be kept.\n", 100)
	for path, text := range map[string]string{"work/AGENTS.md": rule, "AGENTS.md": "The user writes British English.\n", "work/deep/AGENTS.md": "Deep files are read only. HERON.\n", "work/deep/x.md": "deep\n",
		"work/.agents/skills/release/SKILL.md": "---\nname: release\ndescription: How a release is made.\n---\nTag it.\n"} {
		if err := os.MkdirAll(p.path(path[:strings.LastIndex("/"+path, "/")]), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p.path(path), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if o := p.ok(t, "run", "-P", "guarded.toml", "/skills"); !strings.Contains(o.stdout, "release: How a release is made.") || len(model.asked()) > 0 {
		t.Errorf("/skills answered %q and asked the model %d times", o.stdout, len(model.asked()))
	}
	r := p.ends(t, 0, "")
	if len(r.Compactions) != 2 {
		t.Fatalf("%d compactions, want 2 resets", len(r.Compactions))
	}
	var told, deeper []string
	requests := model.asked()
	for i, req := range requests {
		if i > 0 && extends(requests[i-1], req) {
			deeper = append(deeper, holding(req, "HERON")...)
			continue
		}
		rules := holding(req, "KESTREL")
		if len(rules) != 1 || !strings.Contains(rules[0], strings.TrimSpace(rule)) || !strings.Contains(rules[0], "British English") {
			t.Fatalf("request %d begins a window with the rules %q", i+1, rules)
		}
		told = append(told, rules...)
		if len(holding(req, "- release: How a release is made.")) != 1 || len(holding(req, "It is 20")) != 1 {
			t.Errorf("request %d begins a window without the skills or the time", i+1)
		}
		if len(holding(req, "HERON")) > 0 {
			t.Errorf("request %d shows rules of a directory that was not reached in its window", i+1)
		}
	}
	if len(told) != 3 || told[1] != told[0] || told[2] != told[0] {
		t.Errorf("%d windows, whose rules are not the same:\n%s", len(told), strings.Join(told, "\n\n"))
	}
	last := requests[len(requests)-1].Messages
	if !slices.ContainsFunc(last, func(m *llm.Message) bool { return m.Role == llm.RoleTool && strings.Contains(m.Text(), "Tag it.") }) {
		t.Error("the skill's instructions are not in the last request")
	}
	if len(deeper) < 2 {
		t.Errorf("the rules of the deeper directory were shown in %d requests, want them in both windows that reached it", len(deeper))
	}
}

// extends tells whether a request begins with all messages of the one before it.
func extends(before, req llm.Request) bool {
	if len(req.Messages) < len(before.Messages) {
		return false
	}
	for i, m := range before.Messages {
		if fmt.Sprintf("%s %q", m.Role, m.Text()) != fmt.Sprintf("%s %q", req.Messages[i].Role, req.Messages[i].Text()) {
			return false
		}
	}
	return true
}

// holding are the user messages of a request with a text in them.
func holding(req llm.Request, text string) (found []string) {
	for _, m := range req.Messages {
		if m.Role == llm.RoleUser && strings.Contains(m.Text(), text) {
			found = append(found, m.Text())
		}
	}
	return found
}
