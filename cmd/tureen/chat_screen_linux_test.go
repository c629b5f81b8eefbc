package main_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// screen is a terminal at which a person sits in front of the program.
type screen struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File // kept open, so that the terminal's settings can be read at the end
	ended  chan struct{}
	// settings are the terminal's before the program was started.
	settings unix.Termios

	mu  sync.Mutex
	raw bytes.Buffer // everything that was written
	vt  *vt.Emulator
}

// atScreen starts the program at a terminal of that size; at the end of the test it
// is gone.
func atScreen(t *testing.T, u *sandbox, columns, rows int, args ...string) *screen {
	t.Helper()
	master, slave, err := pty.Open()
	if err != nil {
		t.Fatalf("no terminals here: %v", err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, master: master, slave: slave, vt: vt.NewEmulator(columns, rows), ended: make(chan struct{})}
	s.settings = s.termios()
	s.cmd = u.command(args...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // it hears of a new size
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.show()
	go func() { _, _ = io.Copy(master, s.vt) }() // what a terminal answers
	go func() {
		_ = s.cmd.Wait()
		close(s.ended)
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", s.all())
		}
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		s.ends()
		slave.Close()
		master.Close()
	})
	return s
}

func (s *screen) show() {
	b := make([]byte, 8192)
	for {
		n, err := s.master.Read(b)
		s.mu.Lock()
		s.raw.Write(b[:n])
		_, _ = s.vt.Write(b[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// text is what stands on the screen.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.vt.String()
}

// all is the scrollback and the screen.
func (s *screen) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, line := range s.vt.Scrollback().Lines() {
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String() + s.vt.String()
}

// written is everything that the program wrote, with its escapes.
func (s *screen) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.raw.String()
}

// patience bounds what a test waits for.
const patience = 30 * time.Second

// until waits until a condition holds; what names it.
func (s *screen) until(what string, holds func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("never came: %s\nthe screen:\n%s", what, s.all())
		}
	}
}

// sees waits until text stands on the screen or in the scrollback.
func (s *screen) sees(texts ...string) {
	s.t.Helper()
	for _, text := range texts {
		s.until(fmt.Sprintf("%q", text), func() bool { return strings.Contains(s.all(), text) })
	}
}

// shows waits until text stands on the screen itself, and hides until it does not.
func (s *screen) shows(text string) {
	s.t.Helper()
	s.until(fmt.Sprintf("%q on the screen", text), func() bool { return strings.Contains(s.text(), text) })
}

func (s *screen) hides(text string) {
	s.t.Helper()
	s.until(fmt.Sprintf("the end of %q", text), func() bool { return !strings.Contains(s.text(), text) })
}

// Keys as a terminal sends them.
const (
	enter, altEnter, escape, tab, ctrlC, ctrlD, ctrlJ = "\r", "\x1b\r", "\x1b", "\t", "\x03", "\x04", "\n"
	up, down                                          = "\x1b[A", "\x1b[B"
)

// types presses keys.
func (s *screen) types(keys ...string) {
	s.t.Helper()
	for _, k := range keys {
		if _, err := io.WriteString(s.master, k); err != nil {
			s.t.Fatal(err)
		}
	}
}

// says types a line, sees it in the input, and sends it.
func (s *screen) says(line string) {
	s.t.Helper()
	s.types(line)
	s.shows(line)
	s.types(enter)
}

// ready waits until the chat takes input and nothing runs.
func (s *screen) ready() {
	s.t.Helper()
	s.until("an idle chat", func() bool {
		text := s.text()
		return strings.Contains(text, "ask for something, or /help") && !strings.ContainsAny(text, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	})
}

// ends waits for the end of the program and returns its exit code.
func (s *screen) ends() int {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		s.t.Fatalf("the program does not end; the screen:\n%s", s.all())
	}
	return s.cmd.ProcessState.ExitCode()
}

// termios are the terminal's settings.
func (s *screen) termios() unix.Termios {
	s.t.Helper()
	settings, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *settings
}

func (s *screen) terminate() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
}

// turns counts those of a session that ended.
func (s *screen) turns(u *sandbox, id string) int {
	s.t.Helper()
	events, _, err := u.events(id)
	if err != nil {
		s.t.Fatal(err)
	}
	n := 0
	for _, e := range events {
		if e.Kind == session.KindTurnEnded {
			n++
		}
	}
	return n
}

// talk is a user whose model is a script on loopback.
type talk struct {
	*sandbox
	server *scripted.Server
	flags  []string
}

// talks serves replies to a user, one a request, in a window of that many tokens.
func talks(t *testing.T, window int, replies ...scripted.Reply) *talk {
	t.Helper()
	return talksTo(t, window, scripted.NewScript(replies...))
}

func talksTo(t *testing.T, window int, agent scripted.Agent) *talk {
	t.Helper()
	u := user(t)
	server, err := scripted.Serve(t.Context(), scripted.Options{Model: "talker", ContextWindow: window, MaxOutputTokens: 1000, Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	u.env = append(u.env, "OPENAI_BASE_URL="+server.BaseURL(), "OPENAI_API_KEY=any", "NO_COLOR=1")
	return &talk{sandbox: u, server: server, flags: []string{"-m", "talker", "-c", "model.max_output_tokens=1000"}}
}

// chat starts a chat at a terminal.
func (u *talk) chat(t *testing.T, columns, rows int, args ...string) *screen {
	t.Helper()
	return atScreen(t, u.sandbox, columns, rows, append(append([]string{"chat"}, u.flags...), args...)...)
}

// asked is the newest request's body.
func (u *talk) asked() string {
	bodies := u.server.Requests()
	if len(bodies) == 0 {
		return ""
	}
	return string(bodies[len(bodies)-1])
}
