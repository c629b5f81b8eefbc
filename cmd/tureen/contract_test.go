package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// ending is a way for a run to end.
type ending struct {
	exit   int
	status string
	setUp  func(t *testing.T, u *sandbox)
	args   []string
	last   []string // types of the last events before run.completed
	// during, where not nil, ends the run from outside once it is under way.
	during func(t *testing.T, u *sandbox, p *os.Process)
}

// endings are made anew for each test run: scripts are used up.
func endings() map[string]ending {
	return map[string]ending{
		"an answer":                             {exit: 0, status: "completed", setUp: withModel(answers()), args: known(), last: []string{"turn.completed"}},
		"an answer after the death of a plugin": {exit: 0, status: "completed", setUp: pokes("dies"), args: mine, last: []string{"turn.completed"}},
		"an answer after a flood from a plugin": {exit: 0, status: "completed", setUp: pokes("floods"), args: mine, last: []string{"turn.completed"}},
		"a profile that is wrong":               {exit: 2, status: "error", args: with("noise=1")},
		"a limit":                               {exit: 4, status: "limit", setUp: withModel(twoTurns()), args: known("limits.max_steps=1"), last: []string{"turn.failed"}},
		"an approval that nobody can give": {exit: 5, status: "completed", setUp: func(t *testing.T, u *sandbox) {
			attended(t, u, "", shellCall("touch ran"), scripted.Reply{Text: "So be it."})
		}, args: mine, last: []string{"turn.completed"}},
		"a window that is full": {exit: 6, status: "error", setUp: func(t *testing.T, u *sandbox) {
			withModel(answers())(t, u)
			write(t, u.path("work", "p.toml"), "schema = 1\nextends = \"base\"\n[model]\nmax_output_tokens = 10\n[prompt]\npersona_suffix = \""+strings.Repeat("Be brief. ", 20_000)+"\"\n")
		}, args: mine, last: []string{"turn.failed"}},
		"a plugin that does not start": {exit: 7, status: "error", setUp: func(t *testing.T, u *sandbox) {
			withModel(answers())(t, u)
			write(t, u.path("work", "plugin.sh"), "#!/bin/sh\nexit 3\n")
			_ = os.Chmod(u.path("work", "plugin.sh"), 0o700)
		}, args: plug("./plugin.sh")},
		"a hook that fails":         {exit: 7, status: "error", setUp: faultyProfile("hookfails", ""), args: mine, last: []string{"turn.failed"}},
		"a hook that dies":          {exit: 7, status: "error", setUp: faultyProfile("hookdies", ""), args: mine, last: []string{"turn.failed"}},
		"an endpoint that refuses":  {exit: 8, status: "error", setUp: withEndpoint(status(401, `{}`)), args: known(), last: []string{"turn.failed"}},
		"no such session":           {exit: 9, status: "error", args: []string{"resume", "zzz", asked}},
		"an answer that is cut off": {exit: 10, status: "max_tokens", setUp: withModel(answers(scripted.Reply{Text: "half", Finish: "length"})), args: known(), last: []string{"turn.failed"}},
		"a hook that rejects":       {exit: 11, status: "blocked", setUp: faultyProfile("rejects", ""), args: mine, last: []string{"turn.failed"}},
		"Ctrl-C while a plugin starts": {exit: 130, status: "cancelled", setUp: func(t *testing.T, u *sandbox) {
			withModel(answers())(t, u)
			write(t, u.path("work", "plugin.sh"), "#!/bin/sh\ntouch '"+u.path("work", "begun")+"'\nexec cat\n")
			_ = os.Chmod(u.path("work", "plugin.sh"), 0o700)
		}, args: plug("./plugin.sh"), during: signalling(syscall.SIGINT)},
		"SIGTERM while a plugin is deaf": {exit: 143, status: "cancelled", setUp: pokes("deaf"), args: mine, during: signalling(syscall.SIGTERM), last: []string{"turn.failed"}},
		"a goal that stops short": {exit: 3, status: "completed", setUp: withModel(scripted.NewScript(scripted.Reply{Text: "Hm."}, scripted.Reply{Text: "Hm, hm."}, scripted.Reply{Text: "Hm, hm, hm."})),
			args: []string{"run", "-P", "base", "-c", "model.max_output_tokens=2000", "/goal Make the moon round"}, last: []string{"warning"}},
		"a cancel by another process": {exit: 130, status: "cancelled", setUp: func(t *testing.T, u *sandbox) {
			withModel(scripted.NewScript(scripted.Reply{
				Calls: []scripted.Call{{Name: "shell", Arguments: `{"description":"wait","command":"touch begun; sleep 1000"}`}}}))(t, u)
		},
			args: known(), last: []string{"turn.failed"}, during: func(t *testing.T, u *sandbox, _ *os.Process) {
				waitFor(t, func() bool { return exists(u.path("work", "begun")) })
				u.ok(t, "cancel", "--session", u.lastSession())
			}},
	}
}

// pokes is a profile with a faulty plugin whose tool the model calls once.
func pokes(fault string) func(*testing.T, *sandbox) {
	return func(t *testing.T, u *sandbox) {
		faultyProfile(fault, "")(t, u)
		withModel(scripted.NewScript(scripted.Reply{Calls: []scripted.Call{{Name: "poke", Arguments: "{}"}}}, scripted.Reply{Text: "Done."}))(t, u)
	}
}

// signalling sends a signal once the file "begun" is there.
func signalling(s os.Signal) func(*testing.T, *sandbox, *os.Process) {
	return func(t *testing.T, u *sandbox, p *os.Process) {
		waitFor(t, func() bool { return exists(u.path("work", "begun")) })
		_ = p.Signal(s)
	}
}

// TestEveryEndingIsSaid: on every path run.completed is the last event and says
// what the exit code says, which is as help exit-codes has it.
func TestEveryEndingIsSaid(t *testing.T) {
	t.Parallel()
	table := exitTable(t)
	covered := map[int]bool{1: true} // TestOutputThatCannotBeWritten
	for name, e := range endings() {
		covered[e.exit] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := user(t)
			if e.setUp != nil {
				e.setUp(t, u)
			}
			args := append([]string{e.args[0], "-o", "stream-json"}, e.args[1:]...)
			cmd := u.command(args...)
			var stdout, stderr strings.Builder
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() })
			if e.during != nil {
				e.during(t, u, cmd.Process)
			}
			_ = cmd.Wait()
			lines := checkStream(t, stdout.String())
			r := lines[len(lines)-1].Result
			if got := cmd.ProcessState.ExitCode(); got != e.exit || r.ExitCode != e.exit || r.Status != e.status {
				t.Errorf("exit %d, exit_code %d, status %s, want %d and %s\n%s", got, r.ExitCode, r.Status, e.exit, e.status, &stderr)
			}
			if !slices.Contains(table[e.exit], e.status) {
				t.Errorf("help exit-codes has %v for %d", table[e.exit], e.exit)
			}
			names := types(lines)
			names = slices.DeleteFunc(names, func(name string) bool { return name == "plugin.state" }) // they come when they come
			if n := len(names) - 1 - len(e.last); n < 0 || !slices.Equal(names[n:len(names)-1], e.last) {
				t.Errorf("the events end with %v", names)
			}
			if r.Session != "" {
				u.ok(t, "session", "verify", r.Session)
			}
		})
	}
	for code := range table {
		if !covered[code] {
			t.Errorf("exit code %d is not tested", code)
		}
	}
}

// exitTable is help exit-codes: the statuses of each code.
func exitTable(t *testing.T) map[int][]string {
	t.Helper()
	out, err := exec.Command(binary, "help", "exit-codes").Output()
	if err != nil {
		t.Fatal(err)
	}
	table := map[int][]string{}
	for _, m := range regexp.MustCompile(`(?m)^(\d+) +([a-z_, ]+?)  `).FindAllStringSubmatch(string(out), -1) {
		var code int
		_, _ = fmt.Sscan(m[1], &code)
		table[code] = append(table[code], strings.Split(m[2], ", ")...)
	}
	return table
}

// A signal ends a run that still reads its prompt.
func TestASignalWhileThePromptIsRead(t *testing.T) {
	t.Parallel()
	u := user(t)
	cmd := u.command("run", "-o", "stream-json", "-P", "none", "-")
	var stdout strings.Builder
	cmd.Stdout = &stdout
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if _, err := stdin.Write(make([]byte, 1<<20)); err != nil { // more than a pipe holds: somebody reads
		t.Fatal(err)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	lines := checkStream(t, stdout.String())
	if r := lines[len(lines)-1].Result; cmd.ProcessState.ExitCode() != 143 || r.ExitCode != 143 || r.Status != "cancelled" || r.Session != "" {
		t.Errorf("exit %d, %+v", cmd.ProcessState.ExitCode(), r)
	}
}

// Where the output cannot be written, the run is kept and the exit code says so.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Fatal("needs /dev/full")
	}
	u := user(t)
	withModel(answers())(t, u)
	for _, format := range formats {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var stderr strings.Builder
		cmd := u.command(append(known(), "-o", format)...)
		cmd.Stdout, cmd.Stderr = full, &stderr
		_ = cmd.Run()
		full.Close()
		if got := cmd.ProcessState.ExitCode(); got != 1 || !oneLine("write the output: no space left on device", said(stderr.String(), "error: ")) ||
			!oneLine(`check where the output goes; the answer is kept: tureen session export --format md \S+`, said(stderr.String(), "hint: ")) {
			t.Errorf("%s: exit %d:\n%s", format, got, &stderr)
		}
	}
	u.allCompleted(t, len(formats))
}

// allCompleted wants n sessions, each completed and by the rules.
func (s *sandbox) allCompleted(t *testing.T, n int) {
	t.Helper()
	var list []session.Summary
	if err := json.Unmarshal([]byte(s.ok(t, "session", "list", "--json").stdout), &list); err != nil {
		t.Fatal(err)
	}
	for _, row := range list {
		if row.Status != "completed" {
			t.Errorf("session %s is %s", row.ID, row.Status)
		}
	}
	if len(list) != n {
		t.Errorf("%d sessions, want %d", len(list), n)
	}
	s.ok(t, "session", "verify", "--all")
}

// A reader that has seen enough loses nothing of the log.
func TestHeadLosesNothing(t *testing.T) {
	t.Parallel()
	u := user(t)
	withModel(twoTurns())(t, u)
	cmd := exec.Command("sh", append([]string{"-c", `"$@" -o stream-json | head -1`, "sh", binary}, known()...)...)
	cmd.Dir, cmd.Env = u.path("work"), u.env
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), `"type":"session.started"`) {
		t.Fatalf("%v: %s", err, out)
	}
	u.allCompleted(t, 1)
}

// What is odd and not wrong is taken.
func TestOddInputIsTaken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stdin, args string // args: the prompt, or - for stdin
		want        string // in the log
	}{
		"invalid UTF-8":               {args: asked + " \xff\xfe!", want: asked + " \uFFFD!"},
		"invalid UTF-8, piped in":     {stdin: asked + " \xff!", args: "-", want: asked + " \uFFFD!"},
		"NUL":                         {stdin: asked + "\x00!", args: "-", want: asked + "!"},
		"a megabyte":                  {stdin: asked + strings.Repeat(" x", 1<<19), args: "-", want: asked + " x x"},
		"control characters":          {args: asked + "\x1b[31m\a", want: asked + "\x1b[31m\a"},
		"a prompt that begins with -": {args: "--", want: asked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := user(t)
			withModel(scripted.AgentFunc(func(r llm.Request) scripted.Reply { return scripted.Reply{Text: "ok"} }))(t, u)
			u.env = append(u.env, "OPENAI_API_KEY=any")
			args := []string{"run", "-q", "-P", "none", "-c", "model.name=m", "-c", "model.context_window=2000000", "-c", "model.max_output_tokens=2000", c.args}
			if c.args == "--" {
				args = append(args, asked)
			}
			if name == "a megabyte" { // for a model that can hold it
				bigModel(t, u)
			}
			cmd := u.command(args...)
			cmd.Stdin = strings.NewReader(c.stdin)
			if out, err := cmd.CombinedOutput(); err != nil || string(out) != "ok\n" {
				t.Fatalf("%v: %s", err, out)
			}
			events, violations, err := u.events(u.lastSession())
			if err != nil || len(violations) > 0 {
				t.Fatal(err, violations)
			}
			for _, e := range events {
				if p, _ := session.Decode[session.InboxItem](e); e.Kind == session.KindInboxQueued && !strings.HasPrefix(p.Text, c.want) {
					t.Errorf("the log has %.80q", p.Text)
				}
			}
		})
	}
}

func bigModel(t *testing.T, u *sandbox) {
	server, err := scripted.Serve(t.Context(), scripted.Options{Model: "m", ContextWindow: 2_000_000, MaxOutputTokens: 2000, Agent: answers()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	u.env = append(u.env, "OPENAI_BASE_URL="+server.BaseURL())
}

// A profile that an editor saved with a byte order mark is one.
func TestAProfileMayBeginWithAByteOrderMark(t *testing.T) {
	t.Parallel()
	u := user(t)
	withModel(answers())(t, u)
	write(t, u.path("work", "p.toml"), "\uFEFFschema = 1\nextends = \"base\"\n[model]\nmax_output_tokens = 2000\n")
	u.ok(t, mine...)
}

// Every type of event is emitted, and each line of it fits the schema.
func TestEveryTypeOfEventIsEmitted(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	stream := func(u *sandbox, args ...string) {
		o := u.run(t, append(args, "-o", "stream-json")...)
		for _, l := range checkStream(t, o.stdout) {
			seen[l.Type] = true
		}
	}
	u := demo(t)
	stream(u, "run", "-C", u.path("demo"), "-P", "demo", demoTask)
	p := closing(t)
	stream(p.sandbox, append(append([]string{"run", "-q"}, p.flags...), p.task)...)
	pokes("dies")(t, u)
	stream(u, mine...)
	busy := scripted.Reply{Error: &scripted.Failure{Status: 503, Message: "busy"}}
	withModel(scripted.NewScript(busy, scripted.Reply{Text: "ok"}))(t, u)
	stream(u, known()...)
	faulty(t, u, "sour")
	withModel(scripted.NewScript(scripted.Reply{Text: "ok"}, callGlob, scripted.Reply{Text: "ok"}))(t, u)
	stream(u, known("compaction.strategy=./sour", "compaction.trigger_tokens=1000")...)
	stream(u, known("limits.max_steps=1")...)
	withEndpoint(status(401, `{}`))(t, u)
	stream(u, with("model.name=m", "compaction.strategy=./sour")...) // the window is unknown
	withModel(answers())(t, u)
	stream(u, known("plugins=[]")...)
	faultyProfile(sociableName, "")(t, u)
	withModel(mingling())(t, u)
	stream(u, "run", "-P", "./p.toml", "/wave to all")
	stream(u, mine...)
	u, _ = talkative(t, "notesoup")
	u.ok(t, "run", "-q", "-P", "./p.toml", strings.Repeat("A line of a long request.\n", 300))
	u.ok(t, "compact", "-q", "last")
	for _, m := range []session.Mail{{Command: session.CommandUndo}, {Command: session.CommandUndo}, {Command: session.CommandCompact}, {Command: session.CommandArchive, Text: `{"archived":true}`}} {
		u.leave(t, u.lastSession(), m)
		stream(u, "resume", "last")
	}
	var schema struct {
		Defs map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(u.ok(t, "schema").stdout), &schema); err != nil {
		t.Fatal(err)
	}
	for name := range schema.Defs {
		if !seen[name] && name != "result" {
			t.Errorf("no run has emitted %s", name)
		}
	}
}
