package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// blocking leaves its trace, says so and goes on for ever.
func blocking(id string) object {
	return object{"description": "wait", "command": "echo " + id + " >> effects.txt; touch begun; sleep 1000 & wait", "timeoutMs": 600_000}
}

// prefixOf tells whether a log begins with all events of another.
func prefixOf(before, after []session.Event) bool {
	if len(after) < len(before) {
		return false
	}
	for i, e := range before {
		a, _ := json.Marshal(e)
		b, _ := json.Marshal(after[i])
		if !bytes.Equal(a, b) {
			return false
		}
	}
	return true
}

// However a run ends while a tool blocks, each open call gets a result that says what
// is known of it, and the next process, of the same profile or of another model, goes
// on with a request that a strict server takes. No call is made again by itself.
func TestP1_C033_C038_AnInterruptedToolIsNotRunAgain(t *testing.T) {
	t.Parallel()
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // or, under nohup, what is started here would ignore it
	for name, c := range map[string]struct {
		strike func(*seat)
		code   string // of the result of the call that blocks
		exit   int    // -1 = by a signal
	}{
		"kill":            {func(s *seat) { _ = s.cmd.Process.Kill() }, fold.CodeOutcomeUnknown, -1},
		"Ctrl-C":          {func(s *seat) { s.types("\x03") }, "ABORTED", 130},
		"closed terminal": {func(s *seat) { s.master.Close() }, fold.CodeOutcomeUnknown, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := planned(t, user(t), []scripted.Reply{
				batch(1, "read", reads("a.md"), "shell", blocking("c1-1"), "shell", effect("c1-2")), {Text: "Done."}, {Text: "Done again."}})
			other, err := scripted.Serve(t.Context(), scripted.Options{Model: "other", ContextWindow: 16000, MaxOutputTokens: 1000, Agent: p.plan})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { other.Close() })
			write(t, p.path("work", "other.toml"), strings.NewReplacer(`"scripted"`, `"other"`, "32000", "16000", "2000", "1000").
				Replace(strings.Replace(crashProfile, "[model]\n", fmt.Sprintf("[model]\nbase_url = %q\n", other.BaseURL()), 1)))
			s := sit(t, p.sandbox, "run", "-q", "-P", "crash.toml", p.task)
			waitFor(t, func() bool { return exists(p.path("work", "begun")) })
			c.strike(s)
			<-s.ended
			_ = s.cmd.Wait()
			if exit := s.cmd.ProcessState.ExitCode(); exit != c.exit {
				t.Errorf("exit %d, want %d", exit, c.exit)
			}
			waitFor(t, func() bool { return len(p.processes()) == 0 })
			before := p.log(t)
			id := p.lastSession()
			for i, profile := range []string{"other.toml", "crash.toml"} {
				if o := p.ok(t, "resume", id, "-q", "-P", profile, "go on"); o.stdout != []string{"Done.\n", "Done again.\n"}[i] {
					t.Errorf("%s: %q", profile, o.stdout)
				}
			}
			after := p.log(t)
			if !prefixOf(before, after) {
				t.Errorf("events were changed:%s\nwas%s", kindsOf(after), kindsOf(before))
			}
			codes := map[string]string{}
			for _, e := range find(t, after, session.KindToolResult, func(r session.ToolResult) bool { return r.Message.IsError }) {
				r, _ := session.Decode[session.ToolResult](e)
				codes[r.Message.CallID] = r.Code
			}
			if len(codes) != 2 || codes["c1-1"] != c.code || codes["c1-2"] != fold.CodeNotStarted && codes["c1-2"] != fold.CodeAborted {
				t.Errorf("results that are errors: %v", codes)
			}
			if got, _ := os.ReadFile(p.path("work", "effects.txt")); string(got) != "c1-1\n" {
				t.Errorf("the commands left %q", got)
			}
			p.files = append(p.files, "other.toml")
			f := p.audit(t, id)
			f.Broken = nil // the prompt names the model
			if !f.none() || p.server.Stats().Refused > 0 || other.Stats().Refused > 0 {
				t.Errorf("%s; %+v, %+v", f.String(), p.server.Stats(), other.Stats())
			}
		})
	}
}

// shownThenKilled runs until a result is shown, kills the host after a pause and wants
// everything that was shown in the log as it was shown.
func shownThenKilled(t *testing.T, pause time.Duration) {
	t.Helper()
	echo := func(n int) scripted.Reply {
		return batch(n, "shell", object{"description": "say", "command": fmt.Sprintf("echo KESTREL-%d", n)})
	}
	p := planned(t, user(t), []scripted.Reply{echo(1), echo(2), echo(3), echo(4), {Text: "Done."}})
	k := p.start(t, "", p.run()...)
	shown := func() int { return bytes.Count(k.said(), []byte(`"type":"tool_result"`)) }
	for deadline := time.Now().Add(time.Minute); shown() == 0; time.Sleep(100 * time.Microsecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no result was shown: %s", k.said())
		}
	}
	time.Sleep(pause)
	_ = k.cmd.Process.Kill()
	k.wait(t)
	id := p.lastSession()
	events, violations, err := p.events(id)
	if err != nil || len(violations) > 0 {
		t.Fatalf("%v %v", violations, err)
	}
	stored := find(t, events, session.KindToolResult, func(r session.ToolResult) bool { return strings.HasPrefix(r.Message.Text(), "KESTREL-") })
	if l := lost(k.said(), events); len(l) > 0 || len(stored) < shown() {
		t.Errorf("after %v: %d results were shown, %d are stored; said and not stored: %q", pause, shown(), len(stored), l)
	}
	p.goOn(t, id)
	made := find(t, p.log(t), session.KindToolResult, func(r session.ToolResult) bool { return r.Code == fold.CodeOutcomeUnknown })
	for _, e := range made {
		if r, _ := session.Decode[session.ToolResult](e); bytes.Contains(k.said(), []byte(`"text":"KESTREL-`+strings.TrimPrefix(r.Message.CallID, "c"))) {
			t.Errorf("after %v: event %d says that the outcome of %s is unknown, which was shown", pause, e.Seq, r.Message.CallID)
		}
	}
}

func TestP1_C039_AResultThatWasShownIsStored(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			shownThenKilled(t, time.Duration(i)*700*time.Microsecond)
		})
	}
}

// Ctrl-C, once: what the command has started is gone when the run says that it was
// stopped, what it had printed is told, and the session goes on.
func TestB1_C096_CtrlCStopsAllThatACommandStarted(t *testing.T) {
	t.Parallel()
	tick := object{"description": "tick", "command": "echo begun; sh -c 'trap \"\" INT TERM; while :; do date +%s%N > tick; sleep 0.05; done' & sleep 600", "timeoutMs": 600_000}
	p := planned(t, user(t), []scripted.Reply{batch(1, "shell", tick), {Text: "Done."}})
	p.files = append(p.files, "tick")
	k := p.start(t, "", p.run()...)
	t.Cleanup(func() { _ = k.cmd.Process.Kill() })
	waitFor(t, func() bool { return exists(p.path("work", "tick")) })
	if err := k.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	k.wait(t)
	before, _ := os.ReadFile(p.path("work", "tick"))
	time.Sleep(300 * time.Millisecond)
	if after, _ := os.ReadFile(p.path("work", "tick")); !bytes.Equal(before, after) || k.exit != 130 {
		t.Errorf("exit %d; the file was touched after the run said that it was stopped", k.exit)
	}
	if o := p.ok(t, "resume", "last", "-q", "go on"); o.stdout != "Done.\n" {
		t.Errorf("%q", o.stdout)
	}
	if f := p.audit(t, p.lastSession()); !f.none() {
		t.Error(f.String())
	}
}

// Through the whole program, whose own input stays open: a command that asks for input
// gets none, and one that leaves something behind holds nobody up.
func TestB1_C092_C094_NoCommandHangs(t *testing.T) {
	t.Parallel()
	var calls []any
	commands := []string{"cat", "read x; echo read $?", "sleep 600 & echo done", "git init -q . && git -c user.name=a -c user.email=a@b -c core.editor=vi commit --allow-empty"}
	for _, c := range commands {
		calls = append(calls, "shell", object{"description": "try", "command": c, "timeoutMs": 600_000})
	}
	p := planned(t, user(t), []scripted.Reply{batch(1, calls...), {Text: "Done."}})
	cmd := p.command("run", "-q", "-P", "crash.toml", p.task)
	in, err := cmd.StdinPipe() // stays open
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() }) // it would be ten
	said, _ := io.ReadAll(out)
	if err := cmd.Wait(); err != nil || string(said) != "Done.\n" || !stop.Stop() {
		t.Fatalf("%v, %q", err, said)
	}
	var results []string
	for _, e := range find(t, p.log(t), session.KindToolResult, func(session.ToolResult) bool { return true }) {
		r, _ := session.Decode[session.ToolResult](e)
		results = append(results, r.Message.Text())
	}
	for i, want := range []string{"(no output)", "read 1", "done\n", "[exit code: "} {
		if len(results) != len(commands) || !strings.Contains(results[i], want) {
			t.Errorf("%s: %q, want %q", commands[i], results, want)
		}
	}
}

// A job that ends while the model thinks: the notice comes behind its answer and the
// agent goes on by itself.
func TestB1_C097_AJobThatEndsDuringAModelCallIsToldOfOnce(t *testing.T) {
	t.Parallel()
	job := object{"description": "a job", "command": "while [ ! -e begun ]; do sleep 0.01; done; touch out.md; exit 3", "run_in_background": true}
	p := planned(t, user(t), []scripted.Reply{batch(1, "shell", job), {Text: "I wait.", DelayMS: 700}, {Text: "It failed."}})
	p.plan.began = func(n int) {
		if n == 1 {
			_ = os.WriteFile(p.path("work", "begun"), nil, 0o600)
		}
	}
	if r := p.ends(t, 0, ""); r.Text != "It failed." {
		t.Errorf("%+v", r)
	}
	events := p.log(t)
	const told = "has ended [status: exit code: 3]"
	notes := find(t, events, session.KindMessageUser, says(told))
	waits := find(t, events, session.KindMessageAssistant, answering("I wait."))
	queued := find(t, events, session.KindInboxQueued, func(i session.InboxItem) bool { return strings.Contains(i.Text, told) })
	if len(notes) != 1 || len(queued) != 1 || len(waits) != 1 || notes[0].Seq < waits[0].Seq {
		t.Errorf("told of %d times:%s", len(notes), kindsOf(events))
	}
}

// rounds is a model that reads so often and then says its number of rounds, in any
// number of sessions at once.
func rounds(n int) scripted.Agent {
	return scripted.AgentFunc(func(r llm.Request) scripted.Reply {
		done := 0
		for _, m := range r.Messages {
			if m.Role == llm.RoleTool {
				done++
			}
		}
		if done < n {
			return *callOf("read", reads("a.md"))
		}
		return scripted.Reply{Text: fmt.Sprintf("%d rounds.", done)}
	})
}

// Eight hosts with sessions of their own in one store, fifty rounds each.
func TestD2_C104_EightHostsShareAStore(t *testing.T) {
	t.Parallel()
	const hosts, times = 8, 50
	p, _ := boxed(t, rounds(times), "")
	var all sync.WaitGroup
	ids := make([]string, hosts)
	for i := range hosts {
		all.Go(func() {
			k := p.crash(t, "", "run", "-q", "-P", "case.toml", "-o", "json", fmt.Sprintf("Read, host %d.", i))
			var r host.Result
			if err := json.Unmarshal(k.said(), &r); err != nil || k.exit != 0 || r.Status != "completed" || r.Text != "50 rounds." {
				t.Errorf("host %d: exit %d, %v in %s\n%s", i, k.exit, err, k.said(), &k.stderr)
			}
			ids[i] = r.Session
		})
	}
	all.Wait()
	for i, id := range ids {
		events, violations, err := p.events(id)
		if err != nil || len(violations) > 0 {
			t.Fatalf("host %d: %v %v", i, violations, err)
		}
		results := find(t, events, session.KindToolResult, func(r session.ToolResult) bool { return !r.Message.IsError })
		if said := find(t, events, session.KindMessageUser, says(fmt.Sprintf("Read, host %d.", i))); len(results) != times || len(said) != 1 {
			t.Errorf("host %d: %d results, its prompt stands %d times", i, len(results), len(said))
		}
	}
	var list []session.Summary
	if err := json.Unmarshal([]byte(p.ok(t, "session", "list", "--json").stdout), &list); err != nil || len(list) != hosts {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

// Several processes open one session at once, each with a prompt: who gets it works,
// the others say who has it and leave nothing; no event is lost.
func TestD2_C105_SeveralOpenersOfASession(t *testing.T) {
	t.Parallel()
	const openers = 5
	p, _ := boxed(t, scripted.AgentFunc(func(llm.Request) scripted.Reply { return scripted.Reply{Text: "Heard.", DelayMS: 200} }), "")
	p.ends(t, 0, "")
	id := p.lastSession()
	ran := make([]*killed, openers)
	var all sync.WaitGroup
	for i := range ran {
		all.Go(func() { ran[i] = p.crash(t, "", "resume", id, "-q", fmt.Sprintf("Words of opener %d.", i)) })
	}
	all.Wait()
	events := p.log(t)
	worked := 0
	for i, k := range ran {
		heard := len(find(t, events, session.KindMessageUser, says(fmt.Sprintf("Words of opener %d.", i))))
		switch {
		case k.exit == 0 && heard == 1:
			worked++
		case k.exit != 9 || heard != 0 || !strings.Contains(k.stderr.String(), "is in use by pid "):
			t.Errorf("opener %d: exit %d, heard %d times: %s", i, k.exit, heard, &k.stderr)
		}
	}
	if answers := find(t, events, session.KindMessageAssistant, answering("Heard.")); worked == 0 || len(answers) != worked+1 {
		t.Errorf("%d of %d worked, %d answers", worked, openers, len(answers))
	}
}

// onSmallDisk is a shell script that runs with the user's data on a file system of its
// own, as a root of its own. Where the kernel lends none there is no test, which CI
// does not let pass.
func onSmallDisk(t *testing.T, p *crew, script string) string {
	t.Helper()
	if err := exec.Command("unshare", "-Urm", "true").Run(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("needs a mount namespace (unshare -Urm true): ", err)
		}
		t.Skip("needs a mount namespace: ", err)
	}
	cmd := exec.Command("unshare", "-Urm", "sh", "-c", "set -e; mkdir -p \"$TUREEN_DATA_DIR\"; mount -t tmpfs -o size=8m none \"$TUREEN_DATA_DIR\"; "+script)
	cmd.Dir, cmd.Env = p.path("work"), p.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	return string(out)
}

// The disk fills up while a run stores long results, at several moments of it. The run
// ends and says so; with room again the session is whole and goes on to its end.
func TestD1_C100_AFullDiskLosesNothing(t *testing.T) {
	t.Parallel()
	for _, left := range []int{7_300_000, 7_800_000} {
		t.Run(fmt.Sprint(left), func(t *testing.T) {
			t.Parallel()
			var replies []scripted.Reply
			for n := 1; n <= 12; n++ {
				replies = append(replies, batch(n, "shell", object{"description": "print", "command": fmt.Sprintf("echo c%d-0 >> effects.txt; head -c 60000 /dev/zero | tr '\\0' 'x'", n)}))
			}
			p := planned(t, user(t), append(replies, scripted.Reply{Text: "The plan is done."}))
			out := onSmallDisk(t, p, fmt.Sprintf(`
head -c %d /dev/zero > "$TUREEN_DATA_DIR/filler"
set +e
tureen run -q -o stream-json -P crash.toml "Work the plan off." > out.md; echo "exit $?"
rm "$TUREEN_DATA_DIR/filler"
tureen session verify
for i in 1 2 3; do tureen resume last -q -P crash.toml --continue > begun && break; done; echo "resumed $?"
tureen session export last -o "$HOME/../log.jsonl"; tureen session verify`, left))
			if !strings.Contains(out, "exit 9") || !strings.Contains(out, "no space left on device") || !strings.Contains(out, "resumed 0") || strings.Count(out, " ok, ") != 2 {
				t.Errorf("%s", out)
			}
			data, err := os.ReadFile(p.path("log.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			var events []session.Event
			for e, err := range session.ReadLines(bytes.NewReader(data)) {
				if err != nil {
					t.Fatal(err)
				}
				events = append(events, e)
			}
			c := fold.NewChecker()
			for _, e := range events {
				c.Event(e)
			}
			said, _ := os.ReadFile(p.path("work", "out.md"))
			opened := find(t, events, session.KindSessionOpened, func(session.Opened) bool { return true })
			for i, e := range events { // lost looks at the newest process; here it is the first that spoke
				if len(opened) > 1 && e.Seq == opened[1].Seq {
					events = events[:i]
					break
				}
			}
			if l := lost(said, events); len(l) > 0 || len(c.Violations()) > 0 || p.left() != 0 {
				t.Errorf("said and not stored: %q; %v; %d steps are left", l, c.Violations(), p.left())
			}
		})
	}
}
