package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
)

// plan is a model that makes a list of replies, each once, whatever crashes in
// between. A reply is made again only where the request that follows shows that
// it was lost: everything that it answered is there, and nothing of it.
type plan struct {
	replies []scripted.Reply
	began   func(n int) // called when reply n (from 0) is first made, may be nil

	mu    sync.Mutex
	made  int      // replies made
	asked []string // the messages that the newest one answered
}

// summaryAsk is how the instruction of strategy summary begins.
var summaryAsk = sync.OnceValue(func() string {
	text, err := os.ReadFile("../../compaction/summary/prompts/instruction.md")
	if err != nil {
		panic(err)
	}
	return strings.TrimSpace(string(text))
})

// Reply implements scripted.Agent.
func (p *plan) Reply(req llm.Request) scripted.Reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last := req.Messages[len(req.Messages)-1]; strings.HasPrefix(last.Text(), summaryAsk()) {
		return scripted.Reply{Text: "The plan is being worked off; nothing else is to be remembered."}
	}
	shown := make([]string, len(req.Messages))
	for i, m := range req.Messages {
		b, _ := json.Marshal(m)
		shown[i] = string(b)
	}
	if p.made > 0 && p.lost(req, shown) {
		return p.replies[p.made-1]
	}
	for p.made < len(p.replies) {
		r := p.replies[p.made]
		p.made++
		if !offered(req, r) {
			continue
		}
		p.asked = shown
		if p.began != nil {
			p.began(p.made - 1)
		}
		return r
	}
	return scripted.Reply{Text: "Nothing is left to do."}
}

// lost tells whether the newest reply did not reach the log.
func (p *plan) lost(req llm.Request, shown []string) bool {
	r := p.replies[p.made-1]
	if r.Error != nil || len(r.Calls) == 0 || len(shown) < len(p.asked) || !slices.Equal(shown[:len(p.asked)], p.asked) {
		return false
	}
	for _, m := range req.Messages {
		for _, c := range m.Calls() {
			if c.ID == r.Calls[0].ID {
				return false
			}
		}
	}
	return true
}

// left is the number of replies that were never made.
func (p *plan) left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.replies) - p.made
}

func offered(req llm.Request, r scripted.Reply) bool {
	for _, c := range r.Calls {
		if !slices.ContainsFunc(req.Tools, func(t llm.Tool) bool { return t.Name == c.Name }) {
			return false
		}
	}
	return true
}

// batch is a reply with calls, each a tool's name and its arguments; the ids are
// those of the reply: c3-0, c3-1.
func batch(n int, calls ...any) scripted.Reply {
	r := scripted.Reply{Text: fmt.Sprintf("Step %d of the plan.", n)}
	for i := 0; i < len(calls); i += 2 {
		args, err := json.Marshal(calls[i+1])
		if err != nil {
			panic(err)
		}
		r.Calls = append(r.Calls, scripted.Call{ID: fmt.Sprintf("c%d-%d", n, i/2), Name: calls[i].(string), Arguments: scripted.Arguments(args)})
	}
	return r
}

type object = map[string]any

// effect is a command that leaves its call's id in effects.txt.
func effect(id string) object {
	return object{"description": "leave a trace", "command": "echo " + id + " >> effects.txt"}
}

func reads(file string) object { return object{"file_path": file} }

// richPlan has what a long session has: parallel and exclusive calls, notes, a
// reset that the agent asks for, one under pressure, a failed request, errors.
// steerAt is the reply during which somebody steers.
func richPlan() (replies []scripted.Reply, steerAt int) {
	slow := batch(4, "shell", effect("c4-0"))
	slow.DelayMS = 250 // a mail is looked for every 150 ms
	return []scripted.Reply{
		batch(1, "read", reads("a.md"), "read", reads("b.md"), "read", reads("c.md")),
		batch(2, "shell", effect("c2-0"), "read", reads("a.md"), "write", object{"file_path": "out.md", "content": "one\n"}, "shell", effect("c2-3")),
		batch(3, "notes_write", object{"path": "plan.md", "mode": "create", "text": "# Plan\nStep 3 is done.\n"}),
		slow,
		batch(5, "read", reads("missing.md"), "shell", effect("c5-1")),
		batch(6, "empty_brain", object{"note": "go on with step 7"}),
		batch(7, "shell", effect("c7-0"), "edit", object{"file_path": "out.md", "old_string": "one", "new_string": "two"}),
		batch(8, "read", reads("big1.md")),
		batch(9, "read", reads("big2.md"), "write", scrawl),
		{Error: &scripted.Failure{Status: 503, Message: "busy"}},
		batch(10, "shell", effect("c10-0")),
		{Text: "The plan is done."},
	}, 3
}

// scrawl is a long file to write.
var scrawl = object{"file_path": "log.md", "content": strings.Repeat("What was read so far.\n", 300)}

const crashProfile = `schema  = 1
extends = "base"
[model]
name              = "scripted"
context_window    = 32000
max_output_tokens = 2000
[compaction]
strategy = "notesoup"
[compaction.notesoup]
carry = "request"
[[plugins]]
use = "files"
[[plugins]]
use = "search"
[[plugins]]
use = "shell"
[[plugins]]
use = "notesoup"
`

// planned is a crew whose working directory holds what a plan reads.
func planned(t testing.TB, u *sandbox, replies []scripted.Reply) *crew {
	t.Helper()
	long := func(name string, bytes int) string {
		var b strings.Builder
		for i := 0; b.Len() < bytes; i++ {
			fmt.Fprintf(&b, "Line %d of %s says what a line of a long file says.\n", i, name)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"a.md": "alpha\n", "b.md": "beta\n", "c.md": "gamma\n", "big1.md": long("big1.md", 45_000), "big2.md": long("big2.md", 25_000), "crash.toml": crashProfile,
	} {
		if err := os.WriteFile(u.path("work", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &crew{sandbox: u, flags: []string{"-P", "crash.toml"}, task: "Work the plan off.", files: planFiles, plan: &plan{replies: replies}}
	var err error
	if p.server, err = scripted.Serve(t.Context(), scripted.Options{Model: "scripted", ContextWindow: 32000, MaxOutputTokens: 2000, Agent: p.plan}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.server.Close() })
	u.env = append(u.env, "OPENAI_BASE_URL="+p.server.BaseURL(), "OPENAI_API_KEY=any")
	return p
}

// planFiles are the only files that a run may leave in the working directory.
var planFiles = []string{"a.md", "b.md", "begun", "big1.md", "big2.md", "c.md", "crash.toml", "effects.txt", "log.md", "out.md"}
