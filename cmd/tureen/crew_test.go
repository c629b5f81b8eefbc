package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// crew is a user whose runs are killed, and what they work at.
type crew struct {
	*sandbox
	flags []string // of run and resume
	task  string
	files []string // what may be in the working directory, nil = anything
	// Of a plan only, nil otherwise: the model on loopback.
	plan   *plan
	server *scripted.Server
}

func (c *crew) run() []string {
	return append(append([]string{"run", "-q", "-o", "stream-json"}, c.flags...), c.task)
}

func (c *crew) resume(id string, prompt ...string) []string {
	return append(append([]string{"resume", id, "-q", "-o", "stream-json"}, c.flags...), prompt...)
}

// killed is a run that is killed, or ends by itself.
type killed struct {
	cmd    *exec.Cmd
	stderr bytes.Buffer
	byKill bool
	exit   int

	mu     sync.Mutex
	stdout bytes.Buffer
}

func (k *killed) Write(b []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stdout.Write(b)
}

// said is stdout so far.
func (k *killed) said() []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return bytes.Clone(k.stdout.Bytes())
}

// start starts the program with a crash point, "" for none.
func (s *sandbox) start(t testing.TB, point string, args ...string) *killed {
	t.Helper()
	k := &killed{cmd: s.command(args...)}
	if point != "" {
		k.cmd.Env = append(k.cmd.Environ(), "TUREEN_CRASH_AT="+point)
	}
	k.cmd.Stdout, k.cmd.Stderr = k, &k.stderr
	if err := k.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return k
}

// wait waits for its end. It may be called from any goroutine.
func (k *killed) wait(t testing.TB) {
	t.Helper()
	err := k.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Error(err)
	}
	status, _ := k.cmd.ProcessState.Sys().(syscall.WaitStatus)
	k.byKill, k.exit = status.Signaled() && status.Signal() == syscall.SIGKILL, k.cmd.ProcessState.ExitCode()
}

// crash runs the program up to a crash point, "" for none.
func (s *sandbox) crash(t testing.TB, point string, args ...string) *killed {
	t.Helper()
	k := s.start(t, point, args...)
	k.wait(t)
	return k
}

// left is the number of steps of the plan that were not begun.
func (p *crew) left() int {
	if p.plan == nil {
		return 0
	}
	return p.plan.left()
}

// goOn resumes until the session is completed: first with what waits or broke off,
// then, where that was nothing, with a word from the person.
func (p *crew) goOn(t testing.TB, id string) {
	t.Helper()
	words := []string{"--continue", "Continue.", "Continue.", "Continue."}
	if !p.prompted(t, id) {
		words[1] = p.task
	}
	for _, word := range words {
		if k := p.crash(t, "", p.resume(id, word)...); k.exit != 0 {
			t.Errorf("resume %s ended with %d: %s", word, k.exit, &k.stderr)
		}
		if p.left() == 0 && p.status(t, id) == "completed" {
			return
		}
	}
	t.Errorf("the session is %q after four resumes, %d steps of the plan are left", p.status(t, id), p.left())
}

// prompted tells whether the session ever heard of the task.
func (s *sandbox) prompted(t testing.TB, id string) bool {
	t.Helper()
	events, _, err := s.events(id)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(events, func(e session.Event) bool { return e.Kind == session.KindInboxQueued })
}

// status is the reason of the newest turn that ended.
func (s *sandbox) status(t testing.TB, id string) string {
	t.Helper()
	events, _, err := s.events(id)
	if err != nil {
		t.Fatal(err)
	}
	status := ""
	for _, e := range events {
		if p, err := session.Decode[session.TurnEnded](e); err == nil && e.Kind == session.KindTurnEnded {
			status = string(p.Reason)
		}
	}
	return status
}

// settle has the program sweep what might still belong to somebody who is about
// to use it, as if it ran two hours later: the empty directory of a host that was
// killed before it locked it, the files of a session that was never made, the text
// of a note that never got its name. All else has to be gone already.
func (p *crew) settle(t testing.TB, id string) {
	t.Helper()
	fresh, _ := filepath.Glob(p.path("notes", ".meta", "tmp", "*"))
	for _, base := range []string{"tmp", "run"} {
		dirs, _ := filepath.Glob(p.path(base, "tureen-host-*"))
		for _, dir := range dirs {
			if entries, err := os.ReadDir(dir); err == nil && len(entries) == 0 {
				fresh = append(fresh, dir)
			}
		}
	}
	files, _ := filepath.Glob(p.path("data", "sessions", "*.db.*"))
	for _, file := range files {
		if _, err := os.Stat(file[:strings.LastIndex(file, ".")]); err != nil {
			fresh = append(fresh, file)
		}
	}
	if len(fresh) == 0 {
		return
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, path := range fresh {
		if err := os.Chtimes(path, old, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	for _, args := range [][]string{p.resume(id), {"session", "list"}} {
		if k := p.crash(t, "", args...); k.exit != 0 {
			t.Errorf("%s ended with %d: %s", args[0], k.exit, &k.stderr)
		}
	}
}

// audit looks at everything once the session is completed.
func (p *crew) audit(t testing.TB, id string) (f faults) {
	t.Helper()
	p.settle(t, id)
	events, violations, err := p.events(id)
	if err != nil {
		t.Fatal(err)
	}
	f = auditLog(events, violations)
	effects, _ := os.ReadFile(p.path("work", "effects.txt"))
	f.add(auditEffects(effects, events))
	steered := 0
	for _, e := range events {
		if q, err := session.Decode[session.InboxItem](e); err == nil && e.Kind == session.KindInboxQueued && q.Text == steering {
			steered++
		}
	}
	if steered > 1 {
		f.Duplicates = append(f.Duplicates, "the steering was queued "+strconv.Itoa(steered)+" times")
	}
	f.add(p.auditPlace(p.files))
	for _, why := range refused(events) {
		f.Broken = append(f.Broken, "the strict server refused a request: "+why)
	}
	return f
}

// refused are the requests of a log that the endpoint found wrong. (The server's own
// count has those too that a kill cut short.)
func refused(events []session.Event) (why []string) {
	for _, e := range events {
		switch e.Kind {
		case session.KindAttempt:
			if p, _ := session.Decode[session.Attempt](e); p.Code == string(llm.CodeInvalidRequest) {
				why = append(why, fmt.Sprintf("event %d: %s", e.Seq, p.Message))
			}
		case session.KindModelCall:
			if p, _ := session.Decode[session.ModelCall](e); strings.Contains(p.Error, string(llm.CodeInvalidRequest)) {
				why = append(why, fmt.Sprintf("event %d: %s", e.Seq, p.Error))
			}
		}
	}
	return why
}

// plugin finds the process of a plugin by its last argument, 0 where there is none.
func (s *sandbox) plugin(name string) int {
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte(s.dir)) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if bytes.HasSuffix(line, []byte("\x00"+name+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid
		}
	}
	return 0
}
