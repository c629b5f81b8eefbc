package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// One prompt, six steps, a reset after the third: the work goes on by itself to one
// answer, and nobody is made to have said anything.
func TestK4_C029_TheWorkGoesOnAfterAReset(t *testing.T) {
	t.Parallel()
	for _, strategy := range strategies {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			const task, answer = "Leave six traces, one a step.", "All six traces are left."
			step := func(n int) scripted.Reply { return batch(n, "shell", effect(fmt.Sprintf("c%d-0", n))) }
			p, _ := boxed(t, keeper{&plan{replies: []scripted.Reply{step(1), half(2, "shell", effect("c2-0")), much(3, "shell", effect("c3-0")), step(4), step(5), step(6), {Text: answer}}}, quotes(task)}, "",
				"-c", "compaction.strategy="+strategy)
			p.task = task
			r := p.ends(t, 0, "")
			if got, _ := os.ReadFile(p.path("work", "effects.txt")); string(got) != "c1-0\nc2-0\nc3-0\nc4-0\nc5-0\nc6-0\n" || r.Text != answer || r.Turns != 1 {
				t.Errorf("traces %q, answer %q in %d turns", got, r.Text, r.Turns)
			}
			events := p.log(t)
			boundary := compacted(t, events).Seq
			if done := find(t, events, session.KindToolResult, func(r session.ToolResult) bool { return r.Name == "shell" }); len(done) != 6 || done[2].Seq > boundary || done[3].Seq < boundary {
				t.Errorf("%d commands ran, the reset is event %d", len(done), boundary)
			}
			final := find(t, events, session.KindMessageAssistant, func(a session.Assistant) bool { return len(a.Message.Calls()) == 0 })
			if len(final) != 1 {
				t.Errorf("%d answers without calls, want one", len(final))
			}
			person := find(t, events, session.KindMessageUser, func(m session.Message) bool {
				return m.Source == session.SourceOwner || m.Source == session.SourceSteer
			})
			asked := find(t, events, session.KindQuestionAsked, func(session.Question) bool { return true })
			if len(asked) > 0 || slices.ContainsFunc(person, func(e session.Event) bool {
				m, _ := session.Decode[session.Message](e)
				return m.Message.Text() != task
			}) || len(find(t, events, session.KindInboxQueued, func(i session.InboxItem) bool { return i.Source == session.SourceOwner })) != 1 {
				t.Errorf("%d questions, %d messages of the person who said one thing", len(asked), len(person))
			}
		})
	}
}

// A single message of the person and thirty tool rounds: whichever strategy resets,
// the next request has a message of the user's role, with the task in it.
func TestK4_C031_ARequestAfterAResetHasTheTask(t *testing.T) {
	t.Parallel()
	python, err := filepath.Abs("../../plugins/examples/python/headlines.py")
	if err != nil {
		t.Fatal(err)
	}
	for name, strategy := range map[string]string{"notesoup": "notesoup", "summary": "summary", "prune": "prune", "truncate": "truncate", "headlines": python} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const task = "Count the PELICANS of the bay."
			var replies []scripted.Reply
			for n := 1; n < 30; n++ {
				replies = append(replies, batch(n, "read", reads("a.md")))
			}
			p, model := boxed(t, keeper{&plan{replies: append(replies, half(30), much(31), scripted.Reply{Text: "There are none."})}, quotes(task)}, "", "-c", "compaction.strategy="+strategy)
			p.task = task
			p.ends(t, 0, "")
			compacted(t, p.log(t))
			requests := model.asked()
			next := requests[len(requests)-1]
			if extends(requests[30], next) {
				t.Fatal("the last request stands on what was to be reset")
			}
			if next.Messages[0].Role != llm.RoleSystem || len(holding(next, task)) == 0 {
				t.Errorf("the task is in no message of the user's role: %s", roles(next))
			}
			if err := llm.Validate(next.Messages); err != nil || p.server.Stats().Refused > 0 {
				t.Errorf("%v, %d requests were refused: %s", err, p.server.Stats().Refused, roles(next))
			}
		})
	}
}

// What another process says while a compaction is under way is in the log before it
// is acknowledged, stands once behind the boundary and is answered.
func TestK4_C027_WordsDuringACompactionAreAnswered(t *testing.T) {
	t.Parallel()
	const words = "PELICAN-9 is on the pier."
	for _, verb := range []string{"prompt", "steer"} {
		t.Run(verb, func(t *testing.T) {
			t.Parallel()
			g := newGate(t)
			replies := []scripted.Reply{half(1), much(2), {Text: "The files are read."}}
			if verb == "prompt" {
				replies = append(replies, scripted.Reply{Text: "I see the pelican."})
			}
			p, model := boxed(t, keeper{&plan{replies: replies}, g.condense}, "", "-c", "compaction.strategy=summary")
			k := p.start(t, "", p.run()...)
			t.Cleanup(func() { _ = k.cmd.Process.Kill() })
			g.reached(t)
			var d struct{ State string }
			if o := p.ok(t, verb, "--json", words); json.Unmarshal([]byte(o.stdout), &d) != nil || d.State != "taken" {
				t.Errorf("%s: %s", verb, o.stdout)
			}
			queued := func(i session.InboxItem) bool { return i.Text == words }
			if n := len(find(t, p.log(t), session.KindInboxQueued, queued)); n != 1 {
				t.Errorf("%d times in the log when it was acknowledged, want once", n)
			}
			g.release()
			if k.wait(t); k.exit != 0 {
				t.Fatalf("ended with %d: %s", k.exit, &k.stderr)
			}
			events := p.log(t)
			said := find(t, events, session.KindMessageUser, says(words))
			if len(said) != 1 || said[0].Seq < compacted(t, events).Seq {
				t.Fatalf("said %d times, want once behind the boundary", len(said))
			}
			if answers := find(t, events, session.KindMessageAssistant, func(session.Assistant) bool { return true }); answers[len(answers)-1].Seq < said[0].Seq {
				t.Error("nothing answers it")
			}
			requests := model.asked()
			if n := len(holding(requests[len(requests)-1], words)); n != 1 || p.status(t, p.lastSession()) != "completed" {
				t.Errorf("the last request has it %d times", n)
			}
		})
	}
}

// A job that ends while a compaction is under way is told of once, with its exit code,
// in the next request, and ends the wait of a run that has nothing else to do.
func TestB1_C097_AJobThatEndsDuringAResetIsToldOfOnce(t *testing.T) {
	t.Parallel()
	const job, told = "while [ ! -e go ]; do sleep 0.02; done; touch ended; exit 3", "has ended [status: exit code: 3]"
	begin := batch(1, "shell", object{"description": "a job", "command": job, "run_in_background": true})
	for name, replies := range map[string][]scripted.Reply{
		"in a turn": {begin, half(2), much(3), {Text: "It failed."}},
		"idle":      {begin, half(2), {Text: "I wait."}, {Text: "It failed."}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGate(t)
			p, model := boxed(t, keeper{&plan{replies: replies}, g.condense}, "", "-c", "compaction.strategy=summary")
			k := p.start(t, "", p.run()...)
			t.Cleanup(func() { _ = k.cmd.Process.Kill() })
			if name == "idle" {
				waitFor(t, func() bool { return p.lastSession() != "" && p.status(t, p.lastSession()) == "completed" })
				p.ok(t, "compact")
			}
			g.reached(t)
			write(t, p.path("work", "go"), "")
			waitFor(t, func() bool { return exists(p.path("work", "ended")) })
			time.Sleep(200 * time.Millisecond) // for the plugin to see it, before the boundary
			g.release()
			if k.wait(t); k.exit != 0 {
				t.Fatalf("ended with %d: %s", k.exit, &k.stderr)
			}
			events := p.log(t)
			notes := find(t, events, session.KindMessageUser, says(told))
			if len(notes) != 1 || notes[0].Seq < compacted(t, events).Seq {
				t.Fatalf("told of %d times, want once behind the boundary", len(notes))
			}
			requests := model.asked()
			last := requests[len(requests)-1]
			if n := len(holding(last, told)); n != 1 || p.status(t, p.lastSession()) != "completed" {
				t.Errorf("the last request tells of it %d times:%s", n, roles(last))
			}
			if answers := find(t, events, session.KindMessageAssistant, answering("It failed.")); len(answers) != 1 || answers[0].Seq < notes[0].Seq {
				t.Errorf("%d answers to it", len(answers))
			}
		})
	}
}
