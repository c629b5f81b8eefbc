package main_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// typing calls the program at a terminal where a person types; each text is typed
// once its question stands on the screen.
func typing(t *testing.T, u *sandbox, answers [][2]string, args ...string) (int, string) {
	t.Helper()
	master, slave := terminal(t)
	cmd := u.command(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	var screen bytes.Buffer
	b := make([]byte, 4096)
	for at := 0; ; {
		n, err := master.Read(b)
		screen.Write(b[:n])
		if len(answers) > 0 {
			if i := strings.Index(screen.String()[at:], answers[0][0]); i >= 0 {
				at += i + len(answers[0][0])
				if _, err := io.WriteString(master, answers[0][1]+"\n"); err != nil {
					t.Fatal(err)
				}
				answers = answers[1:]
			}
		}
		if err != nil { // EIO when the last slave is closed
			break
		}
	}
	_ = cmd.Wait()
	master.Close()
	if len(answers) > 0 {
		t.Errorf("never asked: %q", answers[0][0])
	}
	return cmd.ProcessState.ExitCode(), screen.String()
}

// terminal makes a pair of ends.
func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0) // so that it can be closed while it is read
	if err != nil {
		t.Fatalf("no terminals here: %v", err)
	}
	master = os.NewFile(uintptr(fd), "/dev/ptmx")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(n)), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// own gives the user a configuration directory that may stay.
func own(u *sandbox) { u.env = append(u.env, "TUREEN_CONFIG_DIR="+u.path("config")) }

func TestInitAsksAtATerminal(t *testing.T) {
	t.Parallel()
	u := user(t)
	own(u)
	exit, screen := typing(t, u, [][2]string{{"preset [openai]:", "deepseek"}, {"model [to be filled in later]:", "deepseek-chat"}}, "init")
	if exit != 0 || !strings.Contains(screen, `tureen run -P deepseek "`) {
		t.Fatalf("exit %d: %s", exit, screen)
	}
	text, err := os.ReadFile(u.path("config", "profiles", "deepseek.toml"))
	if err != nil || !strings.Contains(string(text), `= "deepseek-chat"`) {
		t.Errorf("%v: %s", err, text)
	}
	if exit, screen = typing(t, u, [][2]string{{"preset [openai]:", ""}, {"model [to be filled in later]:", ""}}, "init"); exit != 0 {
		t.Errorf("with the defaults: exit %d: %s", exit, screen)
	}
	u.ok(t, "profile", "check", "openai")
	if exit, screen = typing(t, u, nil, "init", "--preset", "vllm"); exit != 0 {
		t.Errorf("with a preset: exit %d: %s", exit, screen)
	}
}

func TestRunAsksForTrustAtATerminal(t *testing.T) {
	t.Parallel()
	u := user(t)
	own(u)
	kept := u.path("work", ".tureen", "profiles")
	if err := os.MkdirAll(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	team := "schema = 1\n[model]\nprovider = \"scripted\"\n[[plugins]]\nuse = \"files\"\n"
	if err := os.WriteFile(filepath.Join(kept, "team.toml"), []byte(team), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []string{"", "n", "what?"} {
		exit, screen := typing(t, u, [][2]string{{"trust it? [y/N]", answer}}, "run", "-P", "team", "hello")
		if exit != 2 || !strings.Contains(screen, "strategy  none") || !strings.Contains(screen, "plugin    files") {
			t.Errorf("after %q: exit %d: %s", answer, exit, screen)
		}
	}
	if exit, screen := typing(t, u, [][2]string{{"trust it? [y/N]", "y"}}, "run", "-P", "team", "hello"); exit != 0 {
		t.Errorf("after y: exit %d: %s", exit, screen)
	}
	u.ok(t, "run", "-P", "team", "hello again")
}

func TestRmAsksAtATerminal(t *testing.T) {
	t.Parallel()
	u := user(t)
	u.ok(t, "run", "-q", "-P", "demo", "hello")
	if exit, screen := typing(t, u, [][2]string{{"remove 1 session for good? [y/N]", "n"}}, "session", "rm", "last"); exit != 2 || !strings.Contains(screen, "nothing was removed") {
		t.Errorf("after n: exit %d: %s", exit, screen)
	}
	if exit, screen := typing(t, u, [][2]string{{"remove 1 session for good? [y/N]", "yes"}}, "session", "rm", "last"); exit != 0 {
		t.Errorf("after yes: exit %d: %s", exit, screen)
	}
	if o := u.ok(t, "session", "list", "--json"); strings.TrimSpace(o.stdout) != "[]" {
		t.Errorf("left: %s", o.stdout)
	}
}
