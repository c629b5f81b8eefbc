package main_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// hurt has the events of a session from one on, up to another, not read any more.
func hurt(t *testing.T, u *sandbox, id string, from, to int) {
	t.Helper()
	db, err := sql.Open("sqlite", u.path("data", "sessions", id+".db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("UPDATE events SET time = time + 1 WHERE seq BETWEEN ? AND ?", from, to); err != nil {
		t.Fatal(err)
	}
}

func saidBy(kind session.Kind, role llm.Role, text string) session.Event {
	e := session.New(kind, session.Message{Message: llm.Text(role, text), Source: session.SourceOwner})
	if kind == session.KindMessageAssistant {
		e = session.New(kind, session.Assistant{Message: llm.Text(role, text)})
	}
	return e.At(1, 1).On(session.Op{Kind: session.OpAppend})
}

// aCall is a turn that broke off in a call: events 2 to 9 of a session, of which event 8
// tells that the call was started.
func aCall() []session.Event {
	answer := llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: "c1", Name: "notes_write", Arguments: "{}"}}}}
	return []session.Event{
		session.New(session.KindTurnStarted, session.TurnStarted{}).At(1, 0),
		session.New(session.KindStepStarted, session.StepStarted{}).At(1, 1),
		saidBy(session.KindMessageSystem, llm.RoleSystem, "system"),
		saidBy(session.KindMessageUser, llm.RoleUser, "early soup"),
		saidBy(session.KindMessageUser, llm.RoleUser, "late soup"),
		session.New(session.KindMessageAssistant, session.Assistant{Message: &answer}).At(1, 1).On(session.Op{Kind: session.OpAppend}),
		session.New(session.KindToolStarted, session.ToolStarted{CallID: "c1"}).At(1, 1),
		session.New(session.KindWarning, session.Warning{Code: "last", Message: "last"}).At(1, 1),
	}
}

// TestD1_X1_ALostTailIsNotToldToBeWithoutEffect: where the end of a session is lost in the
// middle of a call, what is salvaged does not say that the call had no effect.
func TestD1_X1_ALostTailIsNotToldToBeWithoutEffect(t *testing.T) {
	t.Parallel()
	u := user(t)
	id := importSession(t, u, session.Created{ID: stem + "t", Title: "soup"}, aCall()...)
	hurt(t, u, id, 8, 9)
	var made struct {
		Session string
		Closed  int
	}
	if err := json.Unmarshal([]byte(u.ok(t, "session", "salvage", id, "--json").stdout), &made); err != nil || made.Closed != 3 {
		t.Fatalf("%v: %+v", err, made)
	}
	u.ok(t, "session", "verify", made.Session)
	log := u.ok(t, "session", "export", made.Session).stdout
	if !strings.Contains(log, "what became of this call is not known") || !strings.Contains(log, "TOOL_OUTCOME_UNKNOWN") || strings.Contains(log, "TOOL_NOT_STARTED") {
		t.Errorf("the log:\n%s", log)
	}
	var shown session.Summary
	if err := json.Unmarshal([]byte(u.ok(t, "session", "show", made.Session, "--json").stdout), &shown); err != nil || shown.Status != string(session.ReasonError) {
		t.Errorf("%v: status %q", err, shown.Status)
	}
	// It is the newest session, whenever the damaged one was made.
	if o := u.ok(t, "session", "show", "last"); !strings.Contains(o.stdout, made.Session) {
		t.Errorf("last:\n%s", o.stdout)
	}
}

// TestD1_WhatReadsBehindDamageIsFound by search, show and export.
func TestD1_WhatReadsBehindDamageIsFound(t *testing.T) {
	t.Parallel()
	u := user(t)
	id := importSession(t, u, session.Created{ID: stem + "s", Title: "x"}, aCall()...)
	hurt(t, u, id, 6, 6)
	verify := "hint: tureen session verify " + id

	o := u.ok(t, "session", "search", "SOUP", "--json")
	var hits struct {
		Hits   []struct{ Seq int64 }
		Unread []struct{ Session, Error string }
	}
	if err := json.Unmarshal([]byte(o.stdout), &hits); err != nil || len(hits.Hits) != 1 || hits.Hits[0].Seq != 5 || len(hits.Unread) != 1 || !strings.Contains(hits.Unread[0].Error, "event 6") {
		t.Errorf("search: %v, %s", err, o.stdout)
	}
	if !strings.Contains(o.stderr, "was passed over: event 6: ") || !strings.Contains(o.stderr, verify) {
		t.Errorf("search: %s", o.stderr)
	}
	if o := u.run(t, "session", "search", "nowhere"); o.exit != 9 {
		t.Errorf("search: exit %d, %s", o.exit, o.stderr)
	}

	o = u.ok(t, "session", "show", id, "--last", "5")
	for _, want := range []string{"\n5 ", "\n6 ", "(damaged)", "\n9 "} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("show lacks %q:\n%s", want, o.stdout)
		}
	}
	if !strings.Contains(o.stderr, verify) || strings.Contains(o.stdout, "late soup") {
		t.Errorf("show: %s%s", o.stdout, o.stderr)
	}
	if o := u.ok(t, "session", "show", id, "--last", "2"); strings.Contains(o.stdout, "(damaged)") {
		t.Errorf("show --last 2:\n%s", o.stdout)
	}

	for _, format := range []string{"jsonl", "md"} {
		o = u.run(t, "session", "export", id, "--format", format)
		if o.exit != 9 || !strings.Contains(o.stderr, verify) || strings.Contains(o.stderr, "output") || !strings.HasSuffix(o.stdout, "\n") || !strings.Contains(o.stdout, "early soup") {
			t.Errorf("export %s: exit %d, %q, %s", format, o.exit, o.stdout, o.stderr)
		}
	}
	if o := u.run(t, "session", "export", id, "-o", u.path("work", "x")); o.exit != 9 || !strings.Contains(o.stderr, verify) {
		t.Errorf("export -o: exit %d, %s", o.exit, o.stderr)
	}
	if o := u.run(t, "session", "fork", id); o.exit != 9 || !strings.Contains(o.stderr, verify) || strings.Count(o.stderr, stem[:20]) != strings.Count(o.stderr, id) {
		t.Errorf("fork: exit %d, %s", o.exit, o.stderr)
	}
	if o := u.run(t, "session", "verify", id); o.exit != 9 || strings.Count(o.stdout, "event 6") != 1 {
		t.Errorf("verify: exit %d, %s", o.exit, o.stdout)
	}
}

// TestX1_AnImportKeepsTheRules.
func TestX1_AnImportKeepsTheRules(t *testing.T) {
	t.Parallel()
	u := user(t)
	id := importSession(t, u, session.Created{ID: stem + "j", Title: "x"}, aCall()...)
	lines := strings.SplitAfter(strings.TrimSuffix(u.ok(t, "session", "export", id).stdout, "\n"), "\n")
	u.ok(t, "session", "rm", id, "--yes")
	file := u.path("work", "bad.jsonl")
	twice := strings.Replace(lines[7], `"seq":8`, `"seq":10`, 1)
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")+"\n"+twice), 0o600); err != nil {
		t.Fatal(err)
	}
	o := u.run(t, "session", "import", file)
	if o.exit != 9 || !strings.Contains(o.stderr, "line 10: event 10 breaks the rule") || !strings.Contains(o.stderr, "second time") || !strings.Contains(o.stderr, "hint: nothing was imported") {
		t.Errorf("exit %d, %s", o.exit, o.stderr)
	}
	if o := u.ok(t, "session", "list"); !strings.HasPrefix(o.stdout, "no session so far") {
		t.Errorf("list: %s", o.stdout)
	}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	var moved host.Moved
	o = u.ok(t, "session", "import", file, "--json")
	if err := json.Unmarshal([]byte(o.stdout), &moved); err != nil || !moved.Open {
		t.Errorf("%v: %+v", err, moved)
	}
	if o := u.ok(t, "session", "import", file); !strings.Contains(o.stderr, "its last turn is open") {
		t.Errorf("%s", o.stderr)
	}
	for _, word := range []string{"json", "jsonl", "md"} {
		if o := u.run(t, "session", "export", id, "-o", word); o.exit != 2 || !strings.Contains(o.stderr, fmt.Sprintf("-o ./%s", word)) {
			t.Errorf("-o %s: exit %d, %s", word, o.exit, o.stderr)
		}
	}
}
