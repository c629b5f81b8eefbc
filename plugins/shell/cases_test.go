package shell_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/tool"
)

func TestC092_AGrandchildThatHoldsThePipeHoldsNobody(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.says("shell", args{"command": "sleep 600 & echo $! > pid; echo done", "timeoutMs": 600_000}, "done", "[processes left in the background were stopped]")
	}()
	select { // it would be ten minutes
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("the call does not return")
	}
	c.gone(c.pids("pid", 1)[0])
}

// slowPipeline are two slow commands that print something first.
const slowPipeline = `echo partial; (echo $BASHPID >> pids; sleep 600) | (echo $BASHPID >> pids; sleep 601; cat)`

func TestC092_ASlowPipelineLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	t.Run("as a job", func(t *testing.T) {
		t.Parallel()
		c := jobs(t, `{}`)
		got := c.ok("shell", args{"command": slowPipeline, "timeoutMs": 4000})
		if !strings.HasPrefix(got, "partial\n[still running after 4000ms; moved to background job job-1]\n") {
			t.Error(got)
		}
		lines := c.pids("pids", 2)
		c.ok("job_kill", args{"id": "job-1"})
		for _, pid := range lines {
			c.gone(pid)
		}
	})
	t.Run("killed", func(t *testing.T) {
		t.Parallel()
		b := setup(t, `{"jobs": false}`)
		b.gives(args{"command": slowPipeline, "timeoutMs": 4000}, "partial", "[timed out after 4000ms]", "[killed by signal: SIGTERM]")
		for _, pid := range b.pids("pids", 2) {
			b.gone(pid)
		}
	})
}

// TestC094_NobodyIsAtTheKeyboard: what asks for input gets none, and fails on its own.
func TestC094_NobodyIsAtTheKeyboard(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	commands := map[string]string{ // command → in its result
		"cat":                    "(no output)",
		"read x":                 "[exit code: 1]",
		"read x < /dev/tty":      "[exit code: 1]",
		"sudo -n true || exit 9": "", // with sudo or without
		"python3 -c 'input()'":   "EOFError",
		"sh -i < /dev/null":      "",
		"git init -q . && git -c user.name=a -c user.email=a@b -c core.editor=vi commit --allow-empty":                        "Please supply the message using either -m or -F option.",
		"git init -q . && EDITOR=vi VISUAL=vi git -c user.name=a -c user.email=a@b commit --allow-empty":                      "Please supply the message using either -m or -F option.",
		"git init -q . && GIT_EDITOR='read line < /dev/tty; false' git -c user.name=a -c user.email=a@b commit --allow-empty": "[exit code: 1]",
		"ssh -o BatchMode=no -o StrictHostKeyChecking=ask -p 1 nobody@127.0.0.1 true":                                         "[exit code: ",
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for command, want := range commands {
			r := b.call(t.Context(), args{"command": command, "timeoutMs": 600_000}, nil)
			if r.IsError || !strings.Contains(r.Text, want) {
				t.Errorf("%s: %s", command, r.Text)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("a command waits for input")
	}
}

// TestC096_CancelStopsEverythingTheToolHasStarted: a file that is touched all the
// time is touched no more once the cancelled call has returned.
func TestC096_CancelStopsEverythingTheToolHasStarted(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan tool.Result)
	go func() {
		result <- b.call(ctx, args{"command": "sh -c 'trap \"\" TERM; (while :; do date +%N >> touched; sleep 0.05; done) & sleep 600'; echo never"}, nil)
	}()
	touched := filepath.Join(b.dir, "touched")
	size := func() int64 {
		info, err := os.Stat(touched)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for range 12_000 {
		if size() > 30 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	cancel()
	if r := <-result; r.Text != "Error: tool call aborted" {
		t.Errorf("got %+v", r)
	}
	then := size()
	time.Sleep(500 * time.Millisecond)
	if now := size(); then == 0 || now != then {
		t.Errorf("the file grew from %d to %d bytes after the call was aborted", then, now)
	}
	if out, _ := exec.Command("pgrep", "-f", b.dir).Output(); len(out) > 0 {
		t.Errorf("processes are left: %s", out)
	}
}
