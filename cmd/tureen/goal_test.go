package main_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// A goal is worked at over three kills of the host. After each it rests until the
// person says /goal resume, and in the end it is complete with evidence.
func TestP3_P4_AGoalSurvivesThreeKills(t *testing.T) {
	t.Parallel()
	p := planning(t, &plan{replies: []scripted.Reply{
		batch(1, "shell", effect("c1-0")),
		batch(2, "todo_write", todoItems("in_progress fix it", "pending test it")),
		{Text: "I will fix it next."},
		batch(3, "shell", effect("c3-0")),
		{Text: "And now the tests."},
		batch(4, "todo_write", todoItems("completed fix it", "completed test it"), "shell", effect("c4-1")),
		{Text: "Nearly there."},
		batch(5, "update_goal", object{"action": "complete", "evidence": "effects.txt has c1-0, c3-0 and c4-1"}),
		{Text: "All tests pass; see effects.txt."},
	}})
	id := ""
	for i, point := range []string{
		"kind:tool.result:1:after", // in the midst of round 1
		"kind:turn.ended:1:after",  // between two rounds
		"kind:tool.started:1:after",
	} {
		args := p.run()
		if i > 0 {
			args = p.resume(id, "/goal resume")
		}
		if k := p.crash(t, point, args...); !k.byKill {
			t.Fatalf("%s: not killed: %d %s", point, k.exit, &k.stderr)
		}
		id = p.lastSession()
		if g := p.goal(t); g.Phase != "active" {
			t.Fatalf("%s: the goal is %+v", point, g)
		}
		p.rests(t, id)
	}
	if k := p.crash(t, "", p.resume(id, "/goal resume")...); k.exit != 0 {
		t.Fatalf("ended with %d: %s", k.exit, &k.stderr)
	}
	events, g := p.log(t), p.goal(t)
	if g.Phase != "complete" || g.ID != "g1" || !strings.HasPrefix(g.Evidence, "effects.txt has") {
		t.Errorf("the goal is %+v", g)
	}
	for n := 1; n <= g.RoundsStarted; n++ {
		if got := messages(events, fmt.Sprintf(roundHead, n)); got != 1 {
			t.Errorf("round %d of %d began %d times", n, g.RoundsStarted, got)
		}
	}
	if p.left() != 0 || p.status(t, id) != "completed" {
		t.Errorf("%q, %d replies left", p.status(t, id), p.left())
	}
	if f := p.audit(t, id); !f.none() {
		t.Error(f.String())
	}
	p.rests(t, id)
}

// A round whose message waits when the host is killed is not worked at by the next
// process unless the person says so.
func TestP3_ARoundThatWaitsIsNotResumed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prompt  []string
		overdue int
	}{"without a word": {nil, 1}, "/goal resume": {[]string{"/goal resume"}, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planning(t, &plan{replies: []scripted.Reply{batch(1, "shell", effect("c1-0")), {Text: "Round one is over."}}})
			if k := p.crash(t, "kind:inbox.queued:2:after", p.run()...); !k.byKill {
				t.Fatalf("not killed: %d %s", k.exit, &k.stderr)
			}
			id := p.lastSession()
			p.crash(t, "", p.resume(id, c.prompt...)...)
			events := p.log(t)
			if got := messages(events, "The round of goal g1 above was queued earlier"); got != c.overdue {
				t.Errorf("the model was told %d times that the round is overdue, want %d", got, c.overdue)
			}
			switch g := p.goal(t); {
			case c.overdue > 0 && (g.Phase != "active" || g.RoundsStarted != 1):
				t.Errorf("the goal is %+v", g)
			case c.overdue == 0 && (g.Reason != "no-progress" || messages(events, fmt.Sprintf(roundHead, 2)) != 1):
				t.Errorf("the goal is %+v, round 2 began %d times", g, messages(events, fmt.Sprintf(roundHead, 2)))
			}
		})
	}
}

// C137: a model that talks and does nothing gets three rounds.
func TestP4_C137_AGoalWithoutProgressStops(t *testing.T) {
	t.Parallel()
	p := planning(t, always{Text: "I am working on it and will be done soon."})
	r := p.ends(t, 3, "UNFINISHED")
	if want := `goal g1 "Make all tests pass" is blocked after round 3: no tool call in 3 rounds; /goal resume goes on`; r.Error == nil || r.Error.Message != want {
		t.Errorf("the run says %+v, want %s", r.Error, want)
	}
	if n := p.warned(t, "UNFINISHED"); n != 1 {
		t.Errorf("%d warnings, want 1", n)
	}
	if g, n := p.goal(t), p.server.Stats().Requests; n != 3 || g.Phase != "blocked" || g.Reason != "no-progress" {
		t.Errorf("%d requests, the goal is %+v", n, g)
	}
	p.rests(t, p.lastSession())
}

// C137: blank answers fail the goal; they do not make it go on for ever.
func TestP4_C137_BlankAnswersFailTheGoal(t *testing.T) {
	t.Parallel()
	p := planning(t, always{Text: "", Finish: "stop"}, "-c", "retry.max_retries=1")
	if k := p.crash(t, "", p.run()...); k.exit == 0 {
		t.Error("a run of blank answers ended well")
	}
	if g, n := p.goal(t), p.server.Stats().Requests; n > 2 || g.Phase != "failed" || g.Reason != string(llm.CodeEmptyResponse) {
		t.Errorf("%d requests, the goal is %+v", n, g)
	}
}

// One answer that is cut off and one turn that a guard ends are not the end of a goal.
func TestP4_AGoalOutlivesATurnCutShort(t *testing.T) {
	t.Parallel()
	same := func(n int) scripted.Reply { return batch(n, "read", reads("missing.md")) }
	p := planning(t, &plan{replies: []scripted.Reply{
		{Text: "This answer is", Finish: "length"},
		same(2), same(3), same(4), // stop_at
		batch(5, "shell", effect("c5-0"), "update_goal", object{"action": "complete", "evidence": "effects.txt has c5-0"}), {Text: "All done."},
	}}, "-P", "cut.toml")
	if err := os.WriteFile(p.path("work", "cut.toml"), []byte(crashProfile+planningRow+"[[plugins]]\nuse = \"guards\"\n[plugins.config]\nstop_at = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := p.ends(t, 0, ""); r.Text != "All done." || r.Turns != 3 || p.left() != 0 {
		t.Errorf("%q after %d turns, %d replies left", r.Text, r.Turns, p.left())
	}
	if n := p.warned(t, "UNFINISHED"); n != 0 {
		t.Errorf("the goal is complete, and %d warnings say otherwise", n)
	}
	if g := p.goal(t); g.Phase != "complete" || g.RoundsStarted != 3 {
		t.Errorf("the goal is %+v", g)
	}
}

// Answers that are cut off again and again end the goal, and the run as they would.
func TestP4_C137_CutOffAnswersStopTheGoal(t *testing.T) {
	t.Parallel()
	p := planning(t, always{Text: "This answer is", Finish: "length"})
	p.ends(t, 10, "MAX_TOKENS")
	if g, n := p.goal(t), p.server.Stats().Requests; n != 3 || g.Phase != "blocked" || g.Detail != "a cut-off answer in 3 rounds" {
		t.Errorf("%d requests, the goal is %+v", n, g)
	}
	if n := p.warned(t, "UNFINISHED"); n != 1 {
		t.Errorf("%d warnings, want 1", n)
	}
}

// warned counts the warnings with a code.
func (p *crew) warned(t *testing.T, code string) (n int) {
	t.Helper()
	for _, e := range p.log(t) {
		if w, err := session.Decode[session.Warning](e); err == nil && e.Kind == session.KindWarning && w.Code == code {
			n++
		}
	}
	return n
}

// C137: the agent has a way to say that it is blocked.
func TestP5_C137_ABlockedGoalSaysWhy(t *testing.T) {
	t.Parallel()
	blocked := object{"action": "blocked", "reason": "device offline"}
	p := planning(t, &plan{replies: []scripted.Reply{
		batch(1, "update_goal", blocked), {Text: "I try another way."},
		batch(2, "shell", effect("c2-0")), {Text: "Still offline."},
		batch(3, "update_goal", blocked), {Text: "I need the device switched on."},
	}})
	if k := p.crash(t, "", p.run()...); k.exit != 3 || p.left() != 0 {
		t.Fatalf("ended with %d, %d replies left: %s", k.exit, p.left(), &k.stderr)
	}
	if g := p.goal(t); g.Phase != "blocked" || g.Detail != "device offline" || g.RoundsStarted != 3 {
		t.Errorf("the goal is %+v", g)
	}
	if n := p.server.Stats().Requests; n != 6 {
		t.Errorf("%d requests, want 6", n)
	}
	// What an earlier run left is not told again, and the agent's own words are printed.
	q := planning(t, &plan{replies: []scripted.Reply{batch(1, "shell", effect("c1-0")), {Text: "One."}, batch(2, "shell", effect("c2-0")), {Text: "Two."},
		batch(3, "update_goal", blocked), {Text: "I need the device switched on."}, {Text: "You are welcome."}}})
	o := q.sandbox.run(t, append([]string{"run", "-q"}, append(q.flags, q.task)...)...)
	if !strings.Contains(o.stdout, "I need the device") || !strings.Contains(o.stderr, "is blocked after round 3, as the agent says: device offline; /goal resume goes on") || o.exit != 3 {
		t.Errorf("ended with %d\nstdout: %s\nstderr: %s", o.exit, o.stdout, o.stderr)
	}
	if k := q.crash(t, "", q.resume(q.lastSession(), "Thank you.")...); k.exit != 0 {
		t.Errorf("a later run ended with %d: %s", k.exit, &k.stderr)
	}
}

// C137: what the person stops stays stopped.
func TestP4_C137_AStopByThePersonIsDurable(t *testing.T) {
	t.Parallel()
	p := planning(t, always(batch(1, "shell", object{"description": "wait", "command": "echo > begun; exec sleep 1000"})))
	k := p.start(t, "", p.run()...)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(p.path("work", "begun")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the command did not begin: %s", &k.stderr)
		}
	}
	if err := k.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if k.wait(t); k.exit != 130 {
		t.Errorf("ended with %d: %s", k.exit, &k.stderr)
	}
	if g := p.goal(t); g.Phase != "paused" || g.Reason != "cancelled" {
		t.Errorf("the goal is %+v", g)
	}
	p.rests(t, p.lastSession())
}

// C137: the limits of a run bound a goal too, and the next process does not take
// up where they ended it.
func TestP4_C137_LimitsAreHard(t *testing.T) {
	t.Parallel()
	p := planning(t, always(batch(1, "shell", effect("c"))), "-c", "limits.max_steps=4")
	if k := p.crash(t, "", p.run()...); k.exit == 0 {
		t.Error("the run ended well")
	}
	if g, n := p.goal(t), p.server.Stats().Requests; n != 4 || g.Phase != "active" {
		t.Errorf("%d requests, the goal is %+v", n, g)
	}
	p.rests(t, p.lastSession())
}

// C138: no round follows an error.
func TestP4_C138_AnErrorFailsTheGoal(t *testing.T) {
	t.Parallel()
	for status, c := range map[int]struct {
		code     llm.Code
		requests int
	}{401: {llm.CodeAuth, 1}, 500: {llm.CodeServer, 3}} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			p := planning(t, always{Error: &scripted.Failure{Status: status, Message: "no, not today"}}, "-c", "retry.max_retries=2")
			if k := p.crash(t, "", p.run()...); k.exit == 0 {
				t.Error("the run ended well")
			}
			if n := p.server.Stats().Requests; n != c.requests {
				t.Errorf("%d requests, want %d", n, c.requests)
			}
			if g := p.goal(t); g.Phase != "failed" || g.Reason != string(c.code) || !strings.Contains(g.Detail, "not today") {
				t.Errorf("the goal is %+v", g)
			}
			p.rests(t, p.lastSession())
		})
	}
}
