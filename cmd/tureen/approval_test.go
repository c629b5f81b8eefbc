package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// withButler is a user whose shell asks before each command; plugins are rows more.
func withButler(t *testing.T, plugins string, replies ...scripted.Reply) *sandbox {
	t.Helper()
	u := user(t)
	attended(t, u, plugins, replies...)
	return u
}

func attended(t *testing.T, u *sandbox, plugins string, replies ...scripted.Reply) {
	t.Helper()
	faultyProfile(butlerName, "[[plugins]]\nuse = \"shell\"\n"+plugins)(t, u)
	withModel(scripted.NewScript(replies...))(t, u)
}

func shellCall(command string) scripted.Reply {
	arguments, _ := json.Marshal(map[string]string{"description": "try", "command": command})
	return scripted.Reply{Calls: []scripted.Call{{Name: "shell", Arguments: scripted.Arguments(arguments)}}}
}

// answersOf lists what the questions of the last session came to.
func answersOf(t *testing.T, u *sandbox) (outcomes []string) {
	t.Helper()
	events, violations, err := u.events(u.lastSession())
	if err != nil || len(violations) > 0 {
		t.Fatal(err, violations)
	}
	for _, e := range events {
		if a, err := session.Decode[session.Answer](e); err == nil && e.Kind == session.KindQuestionAnswered {
			outcomes = append(outcomes, strings.TrimSpace(fmt.Sprint(a.Outcome, " ", strings.Join(append(a.Choices, a.Text), " "))))
		}
	}
	return outcomes
}

func askCall(arguments string) scripted.Reply {
	return scripted.Reply{Calls: []scripted.Call{{Name: "ask_user", Arguments: scripted.Arguments(arguments)}}}
}

// Without a terminal nobody is waited for: the call is refused and the run says so.
func TestT16_WithoutATerminalTheRunEndsWithFive(t *testing.T) {
	t.Parallel()
	run := shellCall("touch ran")
	u := withButler(t, "", run, run, run, run, scripted.Reply{Text: "It was not to be."}, scripted.Reply{Text: "Nothing asked."})
	o := u.run(t, append([]string{mine[0], "-o", "json"}, mine[1:]...)...)
	var r host.Result
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
		t.Fatal(err, o.stderr)
	}
	if o.exit != 5 || r.ExitCode != 5 || r.Status != "completed" || r.ApprovalsUnavailable != 4 || r.Text != "It was not to be." || exists(u.path("work", "ran")) {
		t.Errorf("exit %d, %+v", o.exit, r)
	}
	want := "the run came to its end, but 4 calls were refused because nobody was there to approve: " +
		strings.Repeat(`{"command":"touch ran","description":"try"} | `, 3) + "and 1 more"
	if r.Error == nil || r.Error.Code != "APPROVAL_UNAVAILABLE" || r.Error.Message != want || !strings.Contains(r.Error.Hint, `approval = "never"`) {
		t.Errorf("error %+v", r.Error)
	}
	if !oneLine("the run came to its end, but 4 calls.*", said(o.stderr, "error: ")) || !strings.Contains(o.stderr, "resume: tureen resume "+r.Session) ||
		!strings.Contains(o.stderr, "question q") || !strings.Contains(o.stderr, "nobody is there to answer") {
		t.Errorf("stderr:\n%s", o.stderr)
	}
	// The counts are of a run: the next one, in which nothing is refused, is well.
	if o := u.run(t, "resume", "last", "and now?"); o.exit != 0 || o.stdout != "Nothing asked.\n" {
		t.Errorf("resumed: %+v", o)
	}
	// As text the answer is printed all the same.
	u = withButler(t, "", run, scripted.Reply{Text: "It was not to be."})
	if o := u.run(t, mine...); o.exit != 5 || o.stdout != "It was not to be.\n" {
		t.Errorf("as text: %+v", o)
	}
}

// heard tells whether a message names the question and the answer to it.
func heard(t *testing.T, u *sandbox, question, answer string) bool {
	t.Helper()
	events, _, err := u.events(u.lastSession())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		m, err := session.Decode[session.Message](e)
		if err == nil && e.Kind == session.KindMessageUser && strings.Contains(m.Message.Text(), question) && strings.HasSuffix(m.Message.Text(), "\n"+answer) {
			return true
		}
	}
	return false
}
