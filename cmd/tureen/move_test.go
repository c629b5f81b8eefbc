package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// stem and a letter are the id of an imported session.
const stem = "01k0000000000000000000000"

// importSession makes a session of a birth and more events.
func importSession(t *testing.T, u *sandbox, created session.Created, more ...session.Event) string {
	t.Helper()
	created.Time = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var lines bytes.Buffer
	for i, e := range append([]session.Event{session.New(session.KindSessionCreated, created)}, more...) {
		e.Seq, e.Time = int64(i+1), created.Time.Add(time.Duration(i)*time.Second)
		if err := json.NewEncoder(&lines).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	file := u.path("work", created.ID+".jsonl")
	if err := os.WriteFile(file, lines.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var moved host.Moved
	if err := json.Unmarshal([]byte(u.ok(t, "session", "import", file, "--json").stdout), &moved); err != nil || moved.Session != created.ID {
		t.Fatalf("import %s: %v, %+v", created.ID, err, moved)
	}
	return moved.Session
}

// TestL18_D3_ASessionMovesWhole takes a session that was reset several times to another
// store: it is the same, byte for byte, and goes on there.
func TestL18_D3_ASessionMovesWhole(t *testing.T) {
	t.Parallel()
	u := demo(t)
	r, _ := runDemo(t, u, "-P", "demo")
	file := u.path("work", "run.jsonl")
	u.ok(t, "session", "export", r.Session, "-o", file)
	exported, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := &sandbox{dir: u.dir, env: append(slices.Clone(u.env), "TUREEN_DATA_DIR=", "XDG_DATA_HOME="+u.path("elsewhere"))}
	if o := other.ok(t, "session", "import", file); o.stdout != r.Session+"\n" {
		t.Errorf("import: %s", o.stdout)
	}
	if o := other.ok(t, "session", "export", r.Session); o.stdout != string(exported) {
		t.Error("exported again it is another")
	}
	other.ok(t, "session", "verify", "--all")
	for _, s := range []*sandbox{u, other} {
		var resumed host.Result
		o := s.ok(t, "resume", r.Session, "Say hello.", "-o", "json")
		if err := json.Unmarshal([]byte(o.stdout), &resumed); err != nil || resumed.Status != "completed" {
			t.Errorf("%v, %+v", err, resumed)
		}
		s.ok(t, "session", "verify", r.Session)
	}
}

// listed is a pattern in which @ is the stem of the ids.
func listed(pattern string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(pattern, "@", stem))
}

func TestS1_SubagentsGoWithTheirParent(t *testing.T) {
	t.Parallel()
	u := user(t)
	importSession(t, u, session.Created{ID: stem + "p", Title: "parent"})
	importSession(t, u, session.Created{ID: stem + "c", Title: "child", Parent: stem + "p", Depth: 1})
	importSession(t, u, session.Created{ID: stem + "g", Title: "grandchild", Parent: stem + "c", Depth: 2})
	importSession(t, u, session.Created{ID: stem + "f", Title: "fork", Origin: &session.Origin{Session: stem + "p", Seq: 1, How: session.HowFork}})
	importSession(t, u, session.Created{ID: stem + "n", Title: "orphan", Parent: "gone", Depth: 1})
	importSession(t, u, session.Created{ID: stem + "x", Title: "ring", Parent: stem + "y", Depth: 1})
	importSession(t, u, session.Created{ID: stem + "y", Title: "ring", Parent: stem + "x", Depth: 1})

	list := u.ok(t, "session", "list").stdout
	if !listed(`(?m)^@p .* parent\n  @c .* child\n    @g .* grandchild$`).MatchString(list) ||
		!listed(`(?m)^@n .* \(subagent of gone\) orphan$`).MatchString(list) || strings.Count(list, "\n") != 8 {
		t.Errorf("list:\n%s", list)
	}
	if o := u.ok(t, "session", "show", stem+"p"); !strings.Contains(o.stdout, stem+"c idle: child\n") || strings.Contains(o.stdout, "grandchild") {
		t.Errorf("show:\n%s", o.stdout)
	}
	if o := u.ok(t, "session", "show", stem+"g"); !listed(`(?m)^subagent of +@c$`).MatchString(o.stdout) {
		t.Errorf("show:\n%s", o.stdout)
	}
	// Archived with it, too.
	u.ok(t, "session", "archive", stem+"p")
	if o := u.ok(t, "session", "list"); strings.Contains(o.stdout, "child") || !strings.Contains(o.stdout, "3 sessions are archived") {
		t.Errorf("list:\n%s", o.stdout)
	}
	if o := u.run(t, "session", "rm", stem+"p"); o.exit != 2 || !strings.Contains(o.stderr, "3 sessions are to be removed") {
		t.Errorf("rm: exit %d, %s", o.exit, o.stderr)
	}
	if o := u.ok(t, "session", "rm", stem+"p", "--yes"); !listed(`^removed @p \(\S+\)\nremoved @c \(\S+\), a subagent of @p\nremoved @g \(\S+\), a subagent of @c\n$`).MatchString(o.stdout) {
		t.Errorf("rm: %s", o.stdout)
	}
	var left []session.Summary
	if err := json.Unmarshal([]byte(u.ok(t, "session", "list", "--json").stdout), &left); err != nil || len(left) != 4 {
		t.Errorf("left: %v, %+v", err, left)
	}
	u.ok(t, "session", "rm", "--all-older-than", "1d", "--yes")
	if o := u.ok(t, "session", "list"); !strings.HasPrefix(o.stdout, "no session so far") {
		t.Errorf("left:\n%s", o.stdout)
	}
}

// TestD2_L18_WhileAnotherProcessWorks looks at a session, and branches and archives it,
// while a run has it.
func TestD2_L18_WhileAnotherProcessWorks(t *testing.T) {
	t.Parallel()
	h := startHeld(t, "none", "begin", "Done.", "Done on the branch.")
	id := h.lastSession()
	for _, args := range [][]string{
		{"list"}, {"show", id}, {"export", id}, {"export", id, "--format", "md"}, {"verify", id}, {"verify", "--all"}, {"search", "begin"}, {"salvage", id},
	} {
		if o := h.ok(t, append([]string{"session"}, args...)...); o.stdout == "" {
			t.Errorf("%v says nothing: %s", args, o.stderr)
		}
	}
	branch := strings.TrimSpace(h.ok(t, "session", "fork", id).stdout)
	h.ok(t, "session", "verify", branch)
	if o := h.ok(t, "session", "archive", id); o.stdout != "session "+id+" is archived by "+h.owner()+"\n" {
		t.Errorf("archive: %s", o.stdout)
	}
	h.release(t)
	if r := h.end(t); r.Status != "blocked" || r.ExitCode != 11 || r.Error == nil || r.Error.Code != "ARCHIVED" || r.ModelCalls.Main != 1 {
		t.Errorf("result %+v, %+v", r, r.Error)
	}
	if o := h.ok(t, "resume", branch, "go on"); o.stdout != "Done.\n" {
		t.Errorf("the branch: %s%s", o.stdout, o.stderr)
	}
	h.ok(t, "session", "verify", "--all")
}

// What stands in a log steers no terminal, however it is looked at.
func TestX1_C085_HostileTextInSessions(t *testing.T) {
	t.Parallel()
	u := user(t)
	evil := "soup \x1b]52;c;aGk=\x07 \x1b[2J \u009b6n \x1bPq\x1b\\ \u202edrow"
	importSession(t, u, session.Created{ID: stem + "v", Title: evil, Profile: evil, Workspace: evil},
		session.New(session.KindMessageUser, session.Message{Message: llm.Text(llm.RoleUser, evil), Source: session.SourceOwner}).On(session.Op{Kind: session.OpAppend}),
		session.New(session.Kind("x\x1b[2J"), evil))
	for _, args := range [][]string{{"list"}, {"show", stem + "v"}, {"search", "soup"}, {"verify", stem + "v"}, {"export", stem + "v", "--format", "md"}} {
		o := u.ok(t, append([]string{"session"}, args...)...)
		if strings.ContainsAny(o.stdout+o.stderr, "\x1b\x07\u009b\u202e") {
			t.Errorf("%v: %q", args, o.stdout+o.stderr)
		}
	}
	if o := u.ok(t, "session", "search", "]52;C;AGK"); !strings.Contains(o.stdout, "]52;c;aGk") {
		t.Errorf("search: %s", o.stdout)
	}
}
