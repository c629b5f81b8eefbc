package main_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm/scripted"
)

// seat is a terminal at which a run goes on.
type seat struct {
	t      *testing.T
	cmd    *exec.Cmd
	master *os.File
	ended  chan struct{}

	mu   sync.Mutex
	text bytes.Buffer
	at   int // up to where the screen was read
}

func sit(t *testing.T, u *sandbox, args ...string) *seat {
	t.Helper()
	master, slave := terminal(t)
	s := &seat{t: t, master: master, cmd: u.command(args...), ended: make(chan struct{})}
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = slave, slave, slave
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	slave.Close()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		master.Close()
	})
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			s.mu.Lock()
			s.text.Write(b[:n])
			s.mu.Unlock()
			if err != nil { // EIO when the last slave is closed
				close(s.ended)
				return
			}
		}
	}()
	return s
}

// sees waits until a text stands on the screen after what was seen before.
func (s *seat) sees(text string) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		i := strings.Index(s.text.String()[s.at:], text)
		if i >= 0 {
			s.at += i + len(text)
		}
		shown := s.text.String()
		s.mu.Unlock()
		if i >= 0 {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("never saw %q on:\n%s", text, shown)
		}
	}
}

func (s *seat) types(text string) {
	s.t.Helper()
	if _, err := io.WriteString(s.master, text); err != nil {
		s.t.Fatal(err)
	}
}

// leaves waits for the end of the run and returns its exit code and the screen.
func (s *seat) leaves() (int, string) {
	s.t.Helper()
	<-s.ended
	_ = s.cmd.Wait()
	return s.cmd.ProcessState.ExitCode(), strings.ReplaceAll(s.text.String(), "\r\n", "\n")
}

func TestT16_AnApprovalIsAnsweredAtTheTerminal(t *testing.T) {
	t.Parallel()
	const question, again = "1-2, y or n; Enter is n > ", "that is none of the answers"
	for name, c := range map[string]struct {
		typed   []string
		outcome string
		ran     bool
	}{
		"y":                {[]string{"y\n"}, "answered Allow", true},
		"the number":       {[]string{"1\n"}, "answered Allow", true},
		"the label":        {[]string{"allow\n"}, "answered Allow", true},
		"n":                {[]string{"n\n"}, "declined", false},
		"the other number": {[]string{"2\n"}, "answered Deny", false},
		"nothing":          {[]string{"\n"}, "declined", false},
		"the end of input": {[]string{"\x04"}, "declined", false},
		"a word, then y":   {[]string{"sure\n", "yes\n"}, "answered Allow", true},
		"only words":       {[]string{"sure\n", "0\n", "3\n"}, "declined", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := withButler(t, "", shellCall("touch ran"), scripted.Reply{Text: "So be it."})
			s := sit(t, u, mine...)
			s.sees(`"command":"touch ran"`)
			for i, typed := range c.typed {
				if i > 0 {
					s.sees(again)
				}
				s.sees(question)
				s.types(typed)
			}
			exit, screen := s.leaves()
			if exit != 0 || !strings.Contains(screen, "So be it.") || strings.Contains(screen, "error:") {
				t.Errorf("exit %d:\n%s", exit, screen)
			}
			if got := answersOf(t, u); len(got) != 1 || got[0] != c.outcome || exists(u.path("work", "ran")) != c.ran {
				t.Errorf("answered %q, ran: %v", got, !c.ran)
			}
		})
	}
}

func TestT16_ThePolicyAsksAtTheTerminal(t *testing.T) {
	t.Parallel()
	for typed, ran := range map[string]bool{"y\n": true, "2\n": true, "n\n": false, "3\n": false, "\n": false} {
		t.Run(strings.TrimSpace(typed), func(t *testing.T) {
			t.Parallel()
			u := user(t)
			faultyProfile("poke", "[[plugins]]\nuse = \"shell\"\n[[plugins]]\nuse = \"policy\"\nconfig = { ask = [\"shell: touch *\"] }\n")(t, u)
			withModel(scripted.NewScript(shellCall("touch ran"), scripted.Reply{Text: "So be it."}))(t, u)
			s := sit(t, u, mine...)
			s.sees("touch ran")
			s.sees("y or n; Enter is n > ")
			s.types(typed)
			if exit, screen := s.leaves(); exit != 0 || exists(u.path("work", "ran")) != ran {
				t.Errorf("exit %d, ran: %v:\n%s", exit, !ran, screen)
			}
		})
	}
}

// What is typed before a question stands there does not answer it.
func TestT16_TypingAheadApprovesNothing(t *testing.T) {
	t.Parallel()
	u := user(t)
	u.env = append(u.env, "OPENAI_API_KEY=any")
	attended(t, u, "", shellCall("touch begun; while [ ! -e go ]; do sleep 0.02; done"), shellCall("touch second"), scripted.Reply{Text: "Done."})
	s := sit(t, u, mine...)
	s.sees("Enter is n > ")
	s.types("y\n")
	waitFor(t, func() bool { return exists(u.path("work", "begun")) })
	s.types("y\ny\n") // too early
	write(t, u.path("work", "go"), "")
	s.sees("touch second")
	s.sees("Enter is n > ")
	s.types("n\n")
	if exit, screen := s.leaves(); exit != 0 || exists(u.path("work", "second")) {
		t.Errorf("exit %d:\n%s", exit, screen)
	}
	if got := answersOf(t, u); len(got) != 2 || got[0] != "answered Allow" || got[1] != "declined" {
		t.Errorf("answered %q", got)
	}
}

func TestT16_CtrlCAtAQuestionEndsTheRun(t *testing.T) {
	t.Parallel()
	u := withButler(t, "", shellCall("touch ran"))
	s := sit(t, u, mine...)
	s.sees("Enter is n > ")
	s.types("\x03")
	exit, screen := s.leaves()
	if exit != 130 || !strings.Contains(screen, "resume: tureen resume ") || exists(u.path("work", "ran")) {
		t.Errorf("exit %d:\n%s", exit, screen)
	}
	if got := answersOf(t, u); len(got) != 1 || got[0] != "declined" {
		t.Errorf("answered %q", got)
	}
}

// A question is answered by another process while the run waits at its terminal.
func TestT18_AnotherProcessAnswersAQuestion(t *testing.T) {
	t.Parallel()
	u := user(t)
	faultyProfile(butlerName, "[[plugins]]\nuse = \"ask\"\n")(t, u)
	withModel(scripted.NewScript(askCall(`{"questions":[{"question":"Which port?","options":[{"label":"Eighty"},{"label":"Other"}]},{"question":"Why?"}]}`), scripted.Reply{Text: "Thank you."}))(t, u)
	s := sit(t, u, mine...)
	s.sees("1-2 or your own words; Enter alone declines > ")
	show := u.ok(t, "session", "show", "last").stdout
	if !strings.Contains(show, "open question") || !strings.Contains(show, ": Which port?") {
		t.Errorf("session show:\n%s", show)
	}
	for _, bad := range [][]string{{"last", "--choose", "Third"}, {"last", "--choose", "1", "--choose", "2"}, {"last"}, {"last", "--decline", "no"}} {
		if o := u.run(t, append([]string{"answer"}, bad...)...); o.exit != 2 {
			t.Errorf("answer %v: %+v", bad, o)
		}
	}
	if o := u.run(t, "answer", "last", "q1", "hello"); o.exit != 9 || !strings.Contains(o.stderr, `has no open question "q1"`) || !strings.Contains(o.stderr, "hint: open are q") {
		t.Errorf("an unknown question: %+v", o)
	}
	o := u.ok(t, "answer", "last", "--choose", "other", "8080", "--json")
	var d struct{ Session, Command, State, Owner, Question string }
	if err := json.Unmarshal([]byte(o.stdout), &d); err != nil || d.State != "taken" || d.Command != "answer" || d.Question == "" {
		t.Errorf("%v: %s", err, o.stdout)
	}
	s.sees("your answer; Enter alone declines > ") // the next one
	s.types("because\n")
	if exit, screen := s.leaves(); exit != 0 || !strings.Contains(screen, "Thank you.") {
		t.Errorf("exit %d:\n%s", exit, screen)
	}
	if got := answersOf(t, u); len(got) != 2 || got[0] != "answered Other 8080" || got[1] != "answered because" {
		t.Errorf("answered %q", got)
	}
	if o := u.run(t, "answer", "last", "too late"); o.exit != 9 || !strings.Contains(o.stderr, "has no open question") {
		t.Errorf("nothing is open: %+v", o)
	}
}

// Of answers that come at the same time one counts, and the others are told so.
func TestT18_OneOfSeveralAnswersCounts(t *testing.T) {
	t.Parallel()
	u := user(t)
	faultyProfile(butlerName, "[[plugins]]\nuse = \"ask\"\n")(t, u)
	withModel(scripted.NewScript(askCall(`{"questions":[{"question":"Which way?","options":[{"label":"Left"},{"label":"Right"},{"label":"Back"},{"label":"Up"}]}]}`), scripted.Reply{Text: "Gone."}))(t, u)
	s := sit(t, u, mine...)
	s.sees("Enter alone declines > ")
	exits := make(chan int, 4)
	for _, way := range []string{"Left", "Right", "Back", "Up"} {
		go func() {
			cmd := u.command("answer", "last", "--choose", way)
			_ = cmd.Run()
			exits <- cmd.ProcessState.ExitCode()
		}()
	}
	counts := map[int]int{}
	for range 4 {
		counts[<-exits]++
	}
	if counts[0] != 1 || counts[9] != 3 {
		t.Errorf("exit codes %v, want one 0 and three 9", counts)
	}
	if exit, screen := s.leaves(); exit != 0 || !strings.Contains(screen, "Gone.") {
		t.Errorf("exit %d:\n%s", exit, screen)
	}
	if got := answersOf(t, u); len(got) != 1 {
		t.Errorf("answered %q", got)
	}
}

// In timed mode the run goes on; the answer that comes later is a message to it.
func TestT18_ALateAnswerIsAMessage(t *testing.T) {
	t.Parallel()
	u := user(t)
	faultyProfile("poke", "[[plugins]]\nuse = \"shell\"\n[[plugins]]\nuse = \"ask\"\nconfig = { mode = \"timed\", timeout = \"1s\" }\n")(t, u)
	withModel(scripted.NewScript(askCall(`{"questions":[{"question":"Red or blue?"}]}`),
		shellCall("touch begun; while [ ! -e go ]; do sleep 0.02; done"), scripted.Reply{Text: "Painted."}, scripted.Reply{Text: "Repainted."}))(t, u)
	s := sit(t, u, mine...)
	s.sees("your answer; Enter alone declines > ")
	s.sees("→ no answer yet; later: tureen answer ")
	waitFor(t, func() bool { return exists(u.path("work", "begun")) })
	s.types("y\n") // nobody asks any more
	if o := u.ok(t, "answer", "last", "blue,", "please"); !strings.Contains(o.stdout, `"Red or blue?": taken by pid `) {
		t.Errorf("answer: %s", o.stdout)
	}
	write(t, u.path("work", "go"), "")
	if exit, screen := s.leaves(); exit != 0 || !strings.Contains(screen, "Painted.") {
		t.Errorf("exit %d:\n%s", exit, screen)
	}
	if got := answersOf(t, u); len(got) != 2 || got[0] != "pending" || got[1] != "answered blue, please" {
		t.Errorf("answered %q", got)
	}
	if !heard(t, u, "Red or blue?", "blue, please") {
		t.Error("the agent never heard of the answer")
	}
}

// An answer to a session where nobody works waits in it.
func TestT18_AnAnswerWaitsForTheResume(t *testing.T) {
	t.Parallel()
	u := user(t)
	faultyProfile("poke", "[[plugins]]\nuse = \"ask\"\nconfig = { mode = \"timed\", timeout = \"1s\" }\n")(t, u)
	withModel(scripted.NewScript(askCall(`{"questions":[{"question":"Red or blue?"},{"question":"Now?"}]}`), scripted.Reply{Text: "Later then."}, scripted.Reply{Text: "Blue it is."}))(t, u)
	s := sit(t, u, mine...)
	s.sees("→ no answer yet; later: tureen answer ")
	if exit, screen := s.leaves(); exit != 0 || !strings.Contains(screen, "Later then.") {
		t.Fatalf("exit %d:\n%s", exit, screen)
	}
	if o := u.ok(t, "answer", "last", "blue"); !strings.Contains(o.stdout, "it waits there, tureen resume ") {
		t.Errorf("answer: %s", o.stdout)
	}
	if o := u.ok(t, "resume", "last"); o.stdout != "Blue it is.\n" {
		t.Errorf("resumed: %+v", o)
	}
	if !heard(t, u, "Red or blue?", "blue") {
		t.Error("the agent never heard of the answer")
	}
	if show := u.ok(t, "session", "show", "last", "--last", "0").stdout; strings.Contains(show, "Red or blue?") || !strings.Contains(show, ": Now?") {
		t.Errorf("session show:\n%s", show)
	}
}
