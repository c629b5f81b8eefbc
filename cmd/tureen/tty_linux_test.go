package main_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// onTerminal calls the program with a terminal for its three streams and returns
// the exit code and what stood on the screen.
func onTerminal(t *testing.T, u *sandbox, env string, args ...string) (int, string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("no terminals here: %v", err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = u.path("work"), append(u.env[:len(u.env):len(u.env)], env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	var screen bytes.Buffer
	_, _ = io.Copy(&screen, master) // ends with EIO when the last slave is closed
	_ = cmd.Wait()
	master.Close()
	return cmd.ProcessState.ExitCode(), screen.String()
}

func TestColoursOnATerminal(t *testing.T) {
	t.Parallel()
	u := user(t)
	for _, c := range []struct {
		env     string
		args    []string
		colours bool
	}{
		{"", nil, true},
		{"NO_COLOR=1", nil, false},
		{"TERM=dumb", nil, false},
		{"", []string{"--color", "never"}, false},
		{"NO_COLOR=1", []string{"--color", "always"}, true},
	} {
		exit, screen := onTerminal(t, u, c.env, append(c.args, "run", "-P", "nosuch", "hello")...)
		if exit != 2 || !strings.Contains(screen, `no profile "nosuch"`) {
			t.Errorf("%s %v: exit %d, %q", c.env, c.args, exit, screen)
		}
		if strings.Contains(screen, "\x1b[") != c.colours {
			t.Errorf("%s %v: colours are not %v: %q", c.env, c.args, c.colours, screen)
		}
	}
}

// A prompt is never waited for at a terminal.
func TestNoPromptAtATerminal(t *testing.T) {
	t.Parallel()
	u := user(t)
	if exit, screen := onTerminal(t, u, "", "run", "-P", "none"); exit != 2 || !strings.Contains(screen, "the prompt is empty") {
		t.Errorf("exit %d: %s", exit, screen)
	}
	if exit, screen := onTerminal(t, u, ""); exit != 0 || !strings.Contains(screen, "Usage:") {
		t.Errorf("exit %d: %s", exit, screen)
	}
}

// What a model writes cannot steer the terminal; a file gets it as it is.
func TestAnAnswerCannotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	u := user(t)
	write(t, u.path("work", "evil.json"), `{"replies": [{"text": "one\u001b[2J\u001b]0;owned\u0007\u009b31m"}, {"text": "two\u001b[2J"}]}`)
	u.env = append(u.env, "OPENAI_BASE_URL="+serveModel(t, u, "--script", "evil.json"), "OPENAI_API_KEY=any")
	exit, screen := onTerminal(t, u, "NO_COLOR=1", "run", "-P", "none", "title\x1b[2J")
	if exit != 0 || strings.ContainsAny(screen, "\x1b\a\u009b") || !strings.Contains(screen, "one[2J") {
		t.Errorf("exit %d: %q", exit, screen)
	}
	if exit, screen := onTerminal(t, u, "NO_COLOR=1", "session", "show"); exit != 0 || strings.ContainsAny(screen, "\x1b\a\u009b") {
		t.Errorf("exit %d: %q", exit, screen)
	}
	if o := u.ok(t, "resume", "last", "more"); o.stdout != "two\x1b[2J\n" {
		t.Errorf("stdout %q", o.stdout)
	}
}
