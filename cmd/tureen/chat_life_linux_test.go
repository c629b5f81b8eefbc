package main_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

func TestChat_NarrowAndResized(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000, slowly(8), sleeps(2, "2"), scripted.Reply{Text: "Done."})
	s := u.chat(t, 20, 12, "-P", "notesoup", "tell")
	s.shows("answering")
	s.sees("The end.")
	s.until("the input", func() bool { return strings.Contains(s.text(), "› ask for somethin…") })
	for line := range strings.Lines(s.all()) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 20 {
			t.Errorf("a row of %d columns: %q", n, line)
		}
	}
	s.says("wait")
	s.shows("1 tool")
	s.resize(90, 30)
	s.shows("notesoup")
	s.shows(" shell echo begun; sleep 2")
	s.resize(40, 8)
	s.sees("Done.")
	s.until("the input", func() bool { return strings.Contains(s.text(), "ask for something, or /help") })
	if n := strings.Count(s.text(), "ask for something"); n != 1 {
		t.Errorf("the input stands there %d times:\n%s", n, s.text())
	}
	s.says("/context")
	s.sees("tool declarations")
}

func TestChat_LeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*screen){
		"Ctrl-D":  func(s *screen) { s.types(ctrlD) },
		"SIGTERM": func(s *screen) { s.terminate() },
	} {
		u := talks(t, 32000, scripted.Reply{Text: "Hello."})
		s := u.chat(t, 80, 24, "-P", "notesoup", "hello")
		before := s.settings
		s.sees("Hello.")
		s.ready()
		if s.termios() == before {
			t.Error("the terminal was never raw: this test shows nothing")
		}
		id := s.id()
		leave(s)
		code := s.ends()
		if want := map[string]int{"Ctrl-D": 0, "SIGTERM": 143}[name]; code != want {
			t.Errorf("%s: exit %d", name, code)
		}
		s.sees("resume: tureen chat --resume " + id)
		if after := s.termios(); after != before {
			t.Errorf("%s: the terminal is %+v, was %+v", name, after, before)
		}
		for set, reset := range map[string]string{"\x1b[?2004h": "\x1b[?2004l", "\x1b[?25l": "\x1b[?25h"} {
			w := s.written()
			if strings.LastIndex(w, set) > strings.LastIndex(w, reset) {
				t.Errorf("%s: %q is still on", name, set)
			}
		}
		if o := u.ok(t, "session", "verify", id); !strings.Contains(o.stdout, " ok, ") {
			t.Error(o.stdout)
		}
	}
}

func TestChat_KilledAndResumed(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000, scripted.Reply{Text: "First answer."}, slowly(200), scripted.Reply{Text: "I am back."})
	s := u.chat(t, 80, 24, "-P", "notesoup", "first question")
	s.sees("First answer.")
	s.ready()
	id := s.id()
	s.says("second question")
	s.sees("Once there was")
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.ends()
	s = u.chat(t, 80, 24, "--resume", id[:20])
	s.sees("session "+id, "› second question")
	s.ready()
	s.types(up)
	s.hides("ask for something")
	s.types(escape)
	s.ready()
	s.says("are you there?")
	s.sees("I am back.")
	if !strings.Contains(u.asked(), "First answer.") {
		t.Error("the session does not go on")
	}
	s.types(ctrlD)
	s.ends()
	if o := u.ok(t, "session", "verify", id); !strings.Contains(o.stdout, " ok, ") {
		t.Error(o.stdout)
	}
}

func TestChat_AnotherModelGoesOn(t *testing.T) {
	t.Parallel()
	u := demo(t)
	u.env = append(u.env, "NO_COLOR=1")
	s := atScreen(t, u, 80, 24, "chat", "-P", "demo", "-C", u.path("demo"), "hello")
	s.ready()
	id := s.id()
	s.says("/model other-rules")
	s.sees("the session goes on with model other-rules")
	s.shows("other-rules · notesoup")
	s.says("hello again")
	s.until("a second turn", func() bool { return s.turns(u, id) == 2 })
	s.ready()
	s.says("/model two words")
	s.sees("/model takes one name")
	s.types(ctrlD)
	s.ends()
	events, _, err := u.events(id)
	if err != nil {
		t.Fatal(err)
	}
	var models []string
	for _, e := range events {
		if h, err := session.Decode[session.Header](e); err == nil && e.Kind == session.KindRequestHeader {
			models = append(models, h.Model)
		}
	}
	if strings.Join(models, " ") != "scripted-rules other-rules" {
		t.Errorf("models %v", models)
	}
}

// The demonstration in a chat: its resets are lines, and the report comes.
func TestChat_CompactionsAreLines(t *testing.T) {
	t.Parallel()
	u := demo(t)
	s := atScreen(t, u, 100, 40, "chat", "-P", "demo", "-C", u.path("demo"), demoTask)
	s.sees("↻ reset #1 notesoup ", "↻ reset #2 notesoup ")
	s.ready()
	for file, fact := range findings(t, u) {
		if !strings.Contains(strings.ReplaceAll(s.all(), "\n", " "), strings.Fields(fact)[0]) {
			t.Errorf("the report lacks the finding of %s", file)
		}
	}
	if w := s.written(); !strings.Contains(w, "\x1b[36m") {
		t.Error("no colours on a terminal")
	}
	s.says("/notes")
	s.sees("ADDRESS")
	s.says("/compact keep it short")
	s.sees("↻ reset #")
	s.types(ctrlD)
	s.ends()
}

func TestChat_ASessionWithoutAWordIsNotKept(t *testing.T) {
	t.Parallel()
	u := talks(t, 32000)
	s := u.chat(t, 80, 24, "-P", "notesoup")
	s.ready()
	if strings.Contains(s.written(), "\x1b[36m") {
		t.Error("colours under NO_COLOR")
	}
	s.says("/help")
	s.types(ctrlD)
	if code := s.ends(); code != 0 {
		t.Errorf("exit %d", code)
	}
	if o := u.ok(t, "session", "list", "--json"); strings.TrimSpace(o.stdout) != "[]" {
		t.Errorf("left: %s", o.stdout)
	}
}

func TestChat_NeedsATerminal(t *testing.T) {
	t.Parallel()
	u := user(t)
	if o := u.run(t, "chat", "-P", "demo", "hello"); o.exit != 2 || !strings.Contains(o.stderr, "tureen run") || o.stdout != "" {
		t.Errorf("without a terminal: %+v", o)
	}
	if exit, screen := onTerminal(t, u, "TERM=dumb", "chat", "-P", "demo"); exit != 2 || !strings.Contains(screen, "tureen run") || strings.Contains(screen, "\x1b") {
		t.Errorf("on a dumb terminal: exit %d, %q", exit, screen)
	}
	if exit, screen := onTerminal(t, u, "NO_COLOR=1", "chat", "-P", "nosuch"); exit != 2 || !strings.Contains(screen, `no profile "nosuch"`) {
		t.Errorf("without a profile: exit %d, %q", exit, screen)
	}
	if exit, screen := onTerminal(t, u, "NO_COLOR=1", "chat", "--resume", "01zz"); exit != 9 || !strings.Contains(screen, `no session`) {
		t.Errorf("without a session: exit %d, %q", exit, screen)
	}
	if left, _ := filepath.Glob(u.path("data", "sessions", "*")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// resize gives the terminal another size.
func (s *screen) resize(columns, rows int) {
	s.t.Helper()
	s.mu.Lock()
	s.vt.Resize(columns, rows)
	s.mu.Unlock()
	if err := pty.Setsize(s.master, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		s.t.Fatal(err)
	}
}
