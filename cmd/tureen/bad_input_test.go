package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
)

// asked is the prompt that must not be lost.
const asked = "remember the blue door"

// What must be in the store after a bad input.
const (
	nothing   = ""          // no session was made
	thePrompt = "prompt"    // each session has the prompt
	begun     = "begun"     // each session is whole
	unchanged = "unchanged" // the session of before is as it was
)

// badInput is a mistake or a misfortune, and what the program must say of it: one
// line of what happened, one line of what to do, the same in every format.
type badInput struct {
	name  string
	files map[string]string // in the working directory; a script is executable
	setUp func(t *testing.T, u *sandbox)
	shell string // what runs the program: a command line with "$@" in it
	stdin string
	args  []string
	exit  int
	code  string
	what  string // regular expressions of the whole line
	do    string
	store string
	plain bool // the verb has no -o
}

// task is a run with some flags and the prompt.
func task(flags ...string) []string {
	return append(append([]string{"run", "-P", "none"}, flags...), asked)
}

// with is a task with one value of the profile changed.
func with(overrides ...string) []string {
	var flags []string
	for _, o := range overrides {
		flags = append(flags, "-c", o)
	}
	return task(flags...)
}

// mine is a task under p.toml.
var mine = []string{"run", "-P", "./p.toml", asked}

// plug is a task with one plugin more, of a path.
func plug(path string) []string { return with(`plugins=[{use="` + path + `"}]`) }

func profileText(text string) map[string]string {
	return map[string]string{"p.toml": "schema = 1\nextends = \"base\"\n" + text}
}

func script(text string) map[string]string {
	return map[string]string{"plugin.sh": "#!/bin/sh\n" + text + "\n"}
}

var formats = []string{"stream-json", "json", "text"}

// TestBadInput is the contract of errors. Each row is tried in one format: which, goes
// round, so that every kind of row meets all of them.
func TestBadInput(t *testing.T) {
	t.Parallel()
	for _, rows := range [][]badInput{badCommands, badPrompts, badProfiles, badPlugins, badEndpoints, badStores} {
		for i, c := range rows {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.test(t, formats[i%len(formats)])
			})
		}
	}
}

func (c badInput) test(t *testing.T, format string) {
	u := user(t)
	for name, text := range c.files {
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if err := os.WriteFile(u.path("work", name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if c.setUp != nil {
		c.setUp(t, u)
	}
	before := stored(t, u)
	args := c.args
	if c.plain {
		format = ""
	} else {
		args = append([]string{args[0], "-o", format}, args[1:]...)
	}
	c.check(t, format, c.call(t, u, args))
	c.checkStore(t, u, before)
}

func (c badInput) call(t *testing.T, u *sandbox, args []string) outcome {
	t.Helper()
	cmd := u.command(args...)
	if c.shell != "" {
		cmd = exec.Command("sh", append([]string{"-c", c.shell, "sh", binary}, args...)...)
		cmd.Dir, cmd.Env = u.path("work"), u.env
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(c.stdin), &stdout, &stderr
	_ = cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal("the program did not start")
	}
	return outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

func (c badInput) check(t *testing.T, format string, o outcome) {
	t.Helper()
	if o.exit != c.exit {
		t.Errorf("%s: exit code %d, want %d", format, o.exit, c.exit)
	}
	what, do := said(o.stderr, "error: "), said(o.stderr, "hint: ")
	if !oneLine(c.what, what) || !oneLine(c.do, do) {
		t.Errorf("%s: stderr does not say what and what to do:\n%s", format, o.stderr)
	}
	t.Logf("%d %s\nerror: %s\nhint: %s", o.exit, c.code, strings.Join(what, "|"), strings.Join(do, "|"))
	switch format {
	case "text":
		if o.stdout != "" {
			t.Errorf("stdout has %q", o.stdout)
		}
	case "json":
		var r host.Result
		dec := json.NewDecoder(strings.NewReader(o.stdout))
		if err := dec.Decode(&r); err != nil || dec.More() {
			t.Fatalf("no JSON object (%v): %s", err, o.stdout)
		}
		c.checkResult(t, r, what, do)
	case "stream-json":
		lines := checkStream(t, o.stdout)
		c.checkResult(t, lines[len(lines)-1].Result, what, do)
	}
}

// checkResult wants in the object what stderr said.
func (c badInput) checkResult(t *testing.T, r host.Result, what, do []string) {
	t.Helper()
	switch {
	case r.Error == nil || r.ExitCode != c.exit || r.Error.Code != c.code || r.Status == "" || r.Status == "completed":
		t.Errorf("the result is %+v with error %+v, want exit code %d and code %s", r, r.Error, c.exit, c.code)
	case len(what) == 1 && len(do) == 1 && (firstLine(r.Error.Message) != what[0] || r.Error.Hint != do[0]):
		t.Errorf("the result says %q and %q, stderr %q and %q", r.Error.Message, r.Error.Hint, what[0], do[0])
	}
	if (r.Session == "") != (c.store == nothing) && c.store != unchanged {
		t.Errorf("the result names session %q", r.Session)
	}
}

// said returns what follows a label on the lines that begin with it.
func said(stderr, label string) []string {
	var found []string
	for text := range strings.Lines(stderr) {
		if rest, ok := strings.CutPrefix(text, label); ok {
			found = append(found, strings.TrimRight(rest, "\n"))
		}
	}
	return found
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func oneLine(pattern string, lines []string) bool {
	return len(lines) == 1 && regexp.MustCompile("^(?:"+pattern+")$").MatchString(lines[0])
}

// stored is the bytes of each session file.
func stored(t *testing.T, u *sandbox) map[string]string {
	t.Helper()
	files, _ := filepath.Glob(u.path("data", "sessions", "*.db"))
	found := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		found[f] = string(text)
	}
	return found
}

func (c badInput) checkStore(t *testing.T, u *sandbox, before map[string]string) {
	t.Helper()
	after := stored(t, u)
	switch {
	case c.store == nothing && len(after) != 0:
		t.Errorf("%d sessions are left", len(after))
	case c.store == unchanged && fmt.Sprint(before) != fmt.Sprint(after):
		t.Error("the sessions of before have changed")
	case (c.store == thePrompt || c.store == begun) && len(after) == 0:
		t.Error("no session is left")
	}
	if c.store == unchanged {
		return
	}
	for file := range after {
		events, violations, err := u.events(strings.TrimSuffix(filepath.Base(file), ".db"))
		if err != nil || len(violations) > 0 {
			t.Errorf("%s: %v %v", file, err, violations)
		}
		has := false
		for _, e := range events {
			p, _ := session.Decode[session.InboxItem](e)
			has = has || e.Kind == session.KindInboxQueued && strings.Contains(p.Text, asked)
		}
		if !has && c.store == thePrompt {
			t.Errorf("%s has lost the prompt: %d events", file, len(events))
		}
	}
}
