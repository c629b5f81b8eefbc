package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
)

// held is a run whose first tool call is under way until release; then the model
// goes on with what the other replies say.
type held struct {
	*sandbox
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

func startHeld(t *testing.T, profile, prompt string, replies ...string) *held {
	t.Helper()
	h := &held{sandbox: user(t)}
	script := `{"replies": [{"calls": [{"name": "shell", "arguments": {"description": "wait", "command": "touch begun; while [ ! -e go ]; do sleep 0.02; done"}}]}`
	for _, text := range replies {
		script += fmt.Sprintf(`, {"text": %q}`, text)
	}
	if err := os.WriteFile(h.path("work", "held.json"), []byte(script+"]}"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "OPENAI_BASE_URL="+serveModel(t, h.sandbox, "--script", "held.json"), "OPENAI_API_KEY=any")
	h.cmd = h.command("run", "-P", profile, "-o", "json", prompt)
	h.cmd.Stdout, h.cmd.Stderr = &h.stdout, &h.stderr
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.cmd.Process.Kill() })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(h.path("work", "begun")); err == nil {
			return h
		}
		if time.Now().After(deadline) {
			t.Fatalf("the command did not begin: %s", h.stderr.String())
		}
	}
}

func (h *held) release(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(h.path("work", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

// end waits for the run and returns its result.
func (h *held) end(t *testing.T) host.Result {
	t.Helper()
	_ = h.cmd.Wait()
	var r host.Result
	if err := json.Unmarshal(h.stdout.Bytes(), &r); err != nil {
		t.Fatalf("%v in %q; %s", err, h.stdout.String(), h.stderr.String())
	}
	if exit := h.cmd.ProcessState.ExitCode(); exit != r.ExitCode {
		t.Errorf("exit %d, the result says %d", exit, r.ExitCode)
	}
	return r
}

func (h *held) owner() string {
	name, _ := os.Hostname()
	return fmt.Sprintf("pid %d on %s", h.cmd.Process.Pid, name)
}

// said finds a user message, "" for none: source, turn and step.
func (h *held) said(t *testing.T, id, text string) string {
	t.Helper()
	events, violations, err := h.events(id)
	if err != nil || len(violations) > 0 {
		t.Fatalf("%v, %v", err, violations)
	}
	for _, e := range events {
		if m, err := session.Decode[session.Message](e); err == nil && e.Kind == session.KindMessageUser && m.Message.Text() == text {
			return fmt.Sprintf("%s %d.%d", m.Source, e.Turn, e.Step)
		}
	}
	return ""
}

func TestL4_WordsOfAnotherProcessReachTheRun(t *testing.T) {
	t.Parallel()
	h := startHeld(t, "none", "begin", "First done.", "Second done.", "Third done.")
	if o := h.ok(t, "steer", "mind the gap"); o.stdout != "taken by "+h.owner()+": the agent reads it at its next step\n" {
		t.Errorf("steer: %q", o.stdout)
	}
	var d struct{ Session, Command, State, Owner string }
	o := h.ok(t, "prompt", "--session", "last", "--json", "another task")
	if err := json.Unmarshal([]byte(o.stdout), &d); err != nil || d.Command != "prompt" || d.State != "taken" || d.Owner != h.owner() {
		t.Errorf("prompt: %v, %s", err, o.stdout)
	}
	if o := h.ok(t, "prompt", "--no-wait", "a third"); !strings.HasPrefix(o.stdout, "left for "+h.owner()) {
		t.Errorf("prompt --no-wait: %q", o.stdout)
	}
	if o := h.run(t, "session", "rm", "last", "--yes"); o.exit != 9 || !strings.Contains(o.stderr, "is in use by "+h.owner()) {
		t.Errorf("rm: exit %d, %s", o.exit, o.stderr)
	}
	h.release(t)
	r := h.end(t)
	if r.Status != "completed" || r.Turns != 3 || r.ModelCalls.Main != 4 {
		t.Errorf("result %+v", r)
	}
	for text, where := range map[string]string{"begin": "owner 1.1", "mind the gap": "steer 1.2", "another task": "owner 2.1", "a third": "owner 3.1"} {
		if got := h.said(t, r.Session, text); got != where {
			t.Errorf("%q was said as %q, want %q", text, got, where)
		}
	}
}

func TestL7_CancelOfAnotherProcessKeepsTheInbox(t *testing.T) {
	t.Parallel()
	h := startHeld(t, "none", "begin", "Later done.")
	h.ok(t, "prompt", "later")
	if o := h.ok(t, "cancel"); !strings.HasPrefix(o.stdout, "taken by "+h.owner()) {
		t.Errorf("cancel: %q", o.stdout)
	}
	r := h.end(t)
	if r.Status != "cancelled" || r.ExitCode != 130 || r.Error != nil || !strings.Contains(h.stderr.String(), "resume: tureen resume "+r.Session) {
		t.Errorf("result %+v, %s", r, h.stderr.String())
	}
	if got := h.said(t, r.Session, "later"); got != "" {
		t.Errorf("what waits was claimed: %s", got)
	}
	if o := h.ok(t, "resume", r.Session); o.stdout != "Later done.\n" {
		t.Errorf("resumed: %q", o.stdout)
	}
	if got := h.said(t, r.Session, "later"); got != "owner 2.1" {
		t.Errorf("later was said as %q", got)
	}
}

func TestC11_AnotherProcessIsAskedToCompact(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A line of a long request that a summary makes much shorter.\n", 60)
	h := startHeld(t, "summary", long, "A checkpoint.", "Done.")
	if o := h.run(t, "compact", "-c", "compaction.strategy=none"); o.exit != 2 || !strings.Contains(o.stderr, h.owner()) {
		t.Errorf("with -c: exit %d, %s", o.exit, o.stderr)
	}
	o := h.ok(t, "compact", "--session", "last", "--instructions", "keep the numbers", "-o", "json")
	var asked host.Result
	if err := json.Unmarshal([]byte(o.stdout), &asked); err != nil || asked.Status != "completed" || asked.Session == "" ||
		o.stderr != "taken by "+h.owner()+": it compacts at its next step\n" {
		t.Errorf("%v, %s, %s", err, o.stdout, o.stderr)
	}
	h.release(t)
	r := h.end(t)
	if r.Session != asked.Session || r.Text != "Done." || len(r.Compactions) != 1 || r.Compactions[0].Trigger != session.TriggerManual {
		t.Errorf("result %+v, %s", r, h.stderr.String())
	}
	events, _, err := h.events(r.Session)
	if err != nil {
		t.Fatal(err)
	}
	kinds := func(k session.Kind) int {
		return slices.IndexFunc(events, func(e session.Event) bool { return e.Kind == k })
	}
	if kinds(session.KindCompactionAsked) < 0 || kinds(session.KindCompactionAsked) > kinds(session.KindCompactionEnded) {
		t.Error("the compaction came before it was asked for")
	}
}
