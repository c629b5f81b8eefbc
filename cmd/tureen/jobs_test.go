package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
)

// jobber is a user whose model starts jobs; each reply is a command for shell or, in
// brackets, a text.
func jobber(t *testing.T, replies ...string) *sandbox {
	t.Helper()
	u := user(t)
	var script struct {
		Replies []object `json:"replies"`
	}
	for _, r := range replies {
		text, isText := strings.CutPrefix(r, "!")
		if isText {
			script.Replies = append(script.Replies, object{"text": text})
			continue
		}
		command, background := strings.CutSuffix(r, " &")
		script.Replies = append(script.Replies, object{"calls": []object{{"name": "shell", "arguments": object{"description": "Do a part", "command": command, "run_in_background": background}}}})
	}
	data, err := json.Marshal(script)
	if err == nil {
		err = os.WriteFile(u.path("work", "jobs.json"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	u.env = append(u.env, "OPENAI_BASE_URL="+serveModel(t, u, "--script", "jobs.json"), "OPENAI_API_KEY=any")
	return u
}

// noticed is what the model was told of jobs, each with the turn and step it came in.
func (s *sandbox) noticed(t *testing.T) (texts []string) {
	t.Helper()
	events, violations, err := s.events(s.lastSession())
	if err != nil || len(violations) > 0 {
		t.Fatalf("%v, %v", err, violations)
	}
	for _, e := range events {
		if m, err := session.Decode[session.Message](e); err == nil && e.Kind == session.KindMessageUser && m.From == "shell" {
			texts = append(texts, fmt.Sprintf("%d.%d %s", e.Turn, e.Step, m.Message.Text()))
		}
	}
	return texts
}

func (s *sandbox) noticedOnce(t *testing.T, want string) {
	t.Helper()
	if got := s.noticed(t); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Errorf("noticed %q, want once %q…", got, want)
	}
}

// TestC097_ARunWaitsForItsJobs: it is not over while a job is still to be told of, and
// the notice opens a turn of its own (L4, L6, L16).
func TestC097_ARunWaitsForItsJobs(t *testing.T) {
	t.Parallel()
	u := jobber(t, "sleep 1; echo built; exit 3 &", "!I wait.", "!It failed.")
	var r host.Result
	if err := json.Unmarshal([]byte(u.ok(t, "run", "-P", "none", "-o", "json", "build it").stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Text != "It failed." || r.Turns != 2 || r.Status != "completed" {
		t.Errorf("%+v", r)
	}
	u.noticedOnce(t, "2.1 Background job job-1 (Do a part) has ended [status: exit code: 3].")
}

func TestC097_AJobEndsWhileTheAgentIsBusy(t *testing.T) {
	t.Parallel()
	u := jobber(t, "touch ended &", "until [ -e ended ]; do sleep 0.02; done; sleep 1", "!Done.")
	u.ok(t, "run", "-P", "none", "-q", "build it")
	events, _, err := u.events(u.lastSession())
	if err != nil {
		t.Fatal(err)
	}
	if got := u.noticed(t); len(got) != 1 || !strings.HasPrefix(got[0], "1.") || !strings.Contains(got[0], "has ended [status: exit code: 0]") {
		t.Errorf("noticed %q in %d events", got, len(events))
	}
}

// TestC097_TheHostDiesWhileAJobRuns: nothing of the job is left, and the next process
// tells of it once, however often the session is resumed.
func TestC097_TheHostDiesWhileAJobRuns(t *testing.T) {
	t.Parallel()
	u := jobber(t, "echo $$ > pid; sleep 1000 & wait &", "touch begun; until [ -e never ]; do sleep 0.02; done", "!I see.", "!Nothing new.", "!Nothing at all.", "!Still nothing.")
	k := u.start(t, "", "run", "-P", "none", "-q", "build it")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		_, err := os.Stat(u.path("work", "begun"))
		if pid, _ := os.ReadFile(u.path("work", "pid")); err == nil && len(pid) > 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the job did not begin")
		}
	}
	if err := k.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	k.wait(t)
	u.ok(t, "resume", "last", "-q", "--continue")
	const told = "The host or the plugin stopped while background job job-1 (Do a part) ran, and its processes were killed."
	if got := u.noticed(t); len(got) != 1 || !strings.Contains(got[0], told) {
		t.Fatalf("noticed %q", got)
	}
	u.ok(t, "resume", "last", "-q", "go on")
	if got := u.noticed(t); len(got) != 1 {
		t.Errorf("noticed again: %q", got)
	}
}

// TestC097_TheFirstStepAfterAKillHearsOfTheJob: the model does not act before it knows.
func TestC097_TheFirstStepAfterAKillHearsOfTheJob(t *testing.T) {
	t.Parallel()
	u := jobber(t, "echo $$ > pid; sleep 1000 &", "until [ -s pid ]; do sleep 0.02; done; touch begun; sleep 1000", "!I see.")
	k := u.start(t, "", "run", "-P", "none", "-q", "build it")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(u.path("work", "begun")); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the job did not begin")
		}
	}
	if err := k.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	k.wait(t)
	u.ok(t, "resume", "last", "-q", "go on")
	events, _, err := u.events(u.lastSession())
	if err != nil {
		t.Fatal(err)
	}
	first := ""
	for _, e := range events {
		if m, err := session.Decode[session.Message](e); err == nil && e.Kind == session.KindMessageUser && m.Message.Text() == "go on" {
			first = fmt.Sprintf("%d.%d ", e.Turn, e.Step)
		}
	}
	u.noticedOnce(t, first+"The host or the plugin stopped while background job job-1 (Do a part) ran")
}

// TestT9_ARunEndsAlthoughAJobDoesNot: once the model was told, in vain. The next run is
// told what became of the job.
func TestT9_ARunEndsAlthoughAJobDoesNot(t *testing.T) {
	t.Parallel()
	u := jobber(t, "echo $$ > pid; exec sleep 1000 &", "!I wait.", "!Done.", "!I see.")
	u.ok(t, "run", "-P", "none", "-c", `plugins=[{use="shell",config={wait="500ms"}}]`, "-q", "serve it")
	u.noticedOnce(t, "2.1 1 background job still runs and keeps this run open: job-1 (Do a part).")
	pid, err := os.ReadFile(u.path("work", "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
		t.Errorf("the job goes on as process %s", pid)
	}
	u.ok(t, "resume", "last", "-q", "go on")
	if got := u.noticed(t); len(got) != 2 || !strings.HasPrefix(got[1], "3.1 Background job job-1 (Do a part) still ran when the session was closed") {
		t.Errorf("noticed %q", got)
	}
}

// TestT9_NothingSurvivesARun: not even what hides, in a session of its own and with an
// empty environment.
func TestT9_NothingSurvivesARun(t *testing.T) {
	t.Parallel()
	u := jobber(t, "env -i setsid sleep 444 > /dev/null 2>&1 & echo $! > pid", "!Done.")
	u.ok(t, "run", "-P", "none", "-q", "hide it")
	pid, err := os.ReadFile(u.path("work", "pid"))
	if err != nil || len(pid) < 2 {
		t.Fatalf("%q, %v", pid, err)
	}
	if _, err := os.Stat("/proc/" + strings.TrimSpace(string(pid))); err == nil {
		t.Errorf("process %s is still there", pid)
	}
}

// TestT17_TheProgramConfinesACommand: the program itself is what puts a file policy
// into force, wherever it is installed.
func TestT17_TheProgramConfinesACommand(t *testing.T) {
	t.Parallel()
	u := user(t)
	outside, err := os.MkdirTemp("/var/tmp", "outside")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(outside) })
	bounds, err := json.Marshal(object{"files": "workspace-write", "write": []string{u.path("work")}})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "__confined", string(bounds), "/bin/sh", "-c", "echo in > file; cat file; echo x > "+outside+"/file; echo $?")
	cmd.Dir, cmd.Env = u.path("work"), u.env
	out, err := cmd.Output()
	if err != nil || string(out) == "in\n0\n" || !strings.HasPrefix(string(out), "in\n") {
		t.Errorf("%q, %v", out, err)
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("outside there is %v", entries)
	}
}

// TestT17_APolicyHoldsAShellCommand: the whole way, from the profile's policy through
// the host to the command, which a plugin of another process has bound.
func TestT17_APolicyHoldsAShellCommand(t *testing.T) {
	t.Parallel()
	outside, err := os.MkdirTemp("/var/tmp", "outside")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(outside) })
	command := "echo in > file; cat file; cp file " + outside
	u := jobber(t, command, command+" &", "!Done.", "!Done again.")
	u.ok(t, "run", "-P", "none", "-c", `plugins=[{use="shell"},{use="policy"}]`, "-q", "copy it")
	events, _, err := u.events(u.lastSession())
	if err != nil {
		t.Fatal(err)
	}
	const denied = "Permission denied\n[exit code: 1]\n[file policy: access denied under workspace-write]\nDo not try another way."
	found := false
	for _, e := range events {
		if r, err := session.Decode[session.ToolResult](e); err == nil && e.Kind == session.KindToolResult {
			found = found || strings.Contains(fmt.Sprint(r.Message.Text()), denied)
		}
	}
	if !found {
		t.Errorf("no result says %q", denied)
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("outside there is %v", entries)
	}
	if data, err := os.ReadFile(u.path("work", "file")); err != nil || string(data) != "in\n" {
		t.Errorf("inside there is %q, %v", data, err)
	}
}
