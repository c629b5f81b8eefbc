package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host"
)

// slow is a model that has a command run for very long, so that a signal comes first.
const slow = `{"replies": [
	{"calls": [{"name": "shell", "arguments": {"description": "wait", "command": "touch begun; sleep 1000 & wait"}}]},
	{"text": "Done."}]}`

// slowRun is a run whose command is under way; stdout carries its events.
type slowRun struct {
	user   *sandbox
	signal func(os.Signal)
	lines  *bufio.Reader // of stdout, behind the tool call
	read   string        // of stdout, so far
	stderr *bytes.Buffer
	wait   func() int // the exit code
}

func startSlowRun(t *testing.T, script string) *slowRun {
	t.Helper()
	u := user(t)
	if err := os.WriteFile(u.path("work", "slow.json"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	u.env = append(u.env, "OPENAI_BASE_URL="+serveModel(t, u, "--script", "slow.json"), "OPENAI_API_KEY=any")
	cmd := u.command("run", "-P", "none", "-o", "stream-json", "wait for it")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewReader(stdout)
	read := ""
	for {
		line, err := lines.ReadString('\n')
		read += line
		if err != nil {
			t.Fatalf("no tool call: %v\n%s", err, stderr.String())
		}
		if strings.Contains(line, `"type":"tool_call"`) {
			break
		}
	}
	for { // until the command is there to be ended
		if _, err := os.Stat(u.path("work", "begun")); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return &slowRun{u, func(s os.Signal) { _ = cmd.Process.Signal(s) }, lines, read, &stderr, func() int {
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}}
}

// last reads stdout to its end and returns the last line as a result.
func (r *slowRun) last(t *testing.T) host.Result {
	t.Helper()
	rest, err := io.ReadAll(r.lines)
	if err != nil {
		t.Fatal(err)
	}
	r.read += string(rest)
	lines := checkStream(t, r.read)
	return lines[len(lines)-1].Result
}

// One signal ends the step cleanly: the closing event, the way to go on, and a
// session that resumes.
func TestSignalsEndTheStep(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		signal syscall.Signal
		exit   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}} {
		t.Run(c.signal.String(), func(t *testing.T) {
			t.Parallel()
			run := startSlowRun(t, slow)
			run.signal(c.signal)
			r := run.last(t)
			if exit := run.wait(); exit != c.exit || r.ExitCode != c.exit || r.Status != "cancelled" {
				t.Errorf("exit %d, result %+v", exit, r)
			}
			if want := "resume: tureen resume " + r.Session + " --continue\n"; !strings.HasSuffix(run.stderr.String(), want) {
				t.Errorf("stderr ends without %q:\n%s", want, run.stderr)
			}
			run.user.ok(t, "session", "verify", r.Session)
			if o := run.user.ok(t, "resume", r.Session, "go on"); o.stdout != "Done.\n" {
				t.Errorf("resumed: %q", o.stdout)
			}
			run.user.ok(t, "session", "verify", r.Session)
		})
	}
}

// The second signal does not wait for anything: the result comes at once and last,
// with the way to go on, and the plugins go all the same.
func TestTheSecondSignalLeavesAtOnce(t *testing.T) {
	t.Parallel()
	run := startSlowRun(t, slow)
	run.signal(syscall.SIGINT)
	run.signal(syscall.SIGTERM) // another one: two that are alike may count as one
	r := run.last(t)
	if exit := run.wait(); exit != r.ExitCode || exit != 130 && exit != 143 || r.Status != "cancelled" || r.Error != nil {
		t.Errorf("exit %d, result %+v", exit, r)
	}
	if want := "resume: tureen resume " + r.Session + " --continue\n"; !strings.HasSuffix(run.stderr.String(), want) || strings.Count(run.stderr.String(), want) != 1 {
		t.Errorf("stderr ends without one %q:\n%s", want, run.stderr)
	}
	run.user.ok(t, "resume", "last") // repairs what was cut, and sweeps what was left
	run.user.ok(t, "session", "verify")
}

// A reader that goes away loses nothing of the log.
func TestAClosedPipeLosesNothing(t *testing.T) {
	t.Parallel()
	u := user(t)
	if err := os.WriteFile(u.path("work", "two.json"), []byte(`{"replies": [{"calls": [{"name": "glob", "arguments": {"pattern": "*"}}]}, {"text": "Done."}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	u.env = append(u.env, "OPENAI_BASE_URL="+serveModel(t, u, "--script", "two.json"), "OPENAI_API_KEY=any")
	cmd := u.command("run", "-q", "-P", "none", "-o", "stream-json", "hello")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stdout.Close()
	_ = cmd.Wait()
	if exit := cmd.ProcessState.ExitCode(); exit != 0 {
		t.Errorf("exit %d", exit)
	}
	var list []struct{ Status string }
	if err := json.Unmarshal([]byte(u.ok(t, "session", "list", "--json").stdout), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Status != "completed" {
		t.Errorf("sessions: %+v", list)
	}
}

// A session has one owner; who else wants it is told who has it.
func TestOneOwner(t *testing.T) {
	t.Parallel()
	run := startSlowRun(t, slow)
	o := run.user.run(t, "resume", "last", "me too")
	if o.exit != 9 || !strings.Contains(o.stderr, "is in use by pid ") || !strings.Contains(o.stderr, "hint: wait until") {
		t.Errorf("exit %d: %s", o.exit, o.stderr)
	}
	run.user.ok(t, "session", "show") // reading locks nobody out
	run.user.ok(t, "session", "verify")
	run.signal(syscall.SIGINT)
	if exit := run.wait(); exit != 130 {
		t.Errorf("exit %d", exit)
	}
}
