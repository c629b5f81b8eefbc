package main_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// steers finds what moves a terminal, but for the clearing of a line of progress.
var steers = regexp.MustCompile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069]|\r+[^\r\n]")

// Whatever untrusted text says, nothing of it steers the terminal: of a tool, a call, a
// plugin's log, a note, a model, an endpoint, a prompt that became a title.
func TestX1_C085_UntrustedTextNeverSteersTheTerminal(t *testing.T) {
	t.Parallel()
	u := user(t)
	faulty(t, u, printerName)
	write(t, u.path("work", "p.toml"), "schema = 1\nextends = \"base\"\n[model]\nname = \"m\"\ncontext_window = 32000\nmax_output_tokens = 2000\n[retry]\nmax_retries = 0\n"+
		"[compaction]\nstrategy = \"notesoup\"\n[[plugins]]\nuse = \"./printer\"\n[[plugins]]\nuse = \"notesoup\"\n")
	calls := batch(1, "print", object{"what": "steers"}, "notes_write", object{"path": "MAP.md", "mode": "create", "text": "# " + moving + "\n" + moving}, moving, object{"a": moving})
	answered := 0
	withModel(scripted.AgentFunc(func(llm.Request) scripted.Reply {
		switch answered++; answered {
		case 1:
			return calls
		case 2:
			return scripted.Reply{Text: moving, Reasoning: moving}
		}
		return scripted.Reply{Error: &scripted.Failure{Status: 400, Message: moving}}
	}))(t, u)
	for _, c := range []struct {
		exit int
		args []string
		want string // is shown
	}{
		{0, []string{"run", "-v", "-P", "./p.toml", moving}, "good]52;c;"},
		{8, []string{"resume", "last", "again"}, "good]52;c;"},
		{8, []string{"resume", "last", "again", "-o", "stream-json"}, `\u009b31m`},
		{0, []string{"session", "list"}, "good"},
		{0, []string{"session", "list", "--json"}, `good\u001b]52`},
		{0, []string{"session", "show"}, "good"},
		{0, []string{"session", "show", "--json", "--last", "100"}, `\u009b31m`},
		{0, []string{"session", "search", "good"}, "good"},
		{0, []string{"session", "search", "good", "--json"}, `\u202edenrut`},
		{0, []string{"session", "export", "--format", "md"}, "good]52"},
		{0, []string{"context", "show"}, "good"},
		{0, []string{"context", "show", "--json"}, "good"},
		{0, []string{"context", "preview", "--full"}, "reset by notesoup"},
		{0, []string{"context", "preview", "--json"}, `"kind": "reset"`},
		{0, []string{"notes", "show"}, "MAP.md"},
		{0, []string{"notes", "show", "MAP"}, "good"},
	} {
		exit, screen := onTerminal(t, u, "NO_COLOR=1", c.args...)
		screen = strings.ReplaceAll(screen, "\r\x1b[K", "")
		if at := steers.FindStringIndex(screen); at != nil {
			t.Errorf("%v steers the terminal: %q", c.args, screen[max(0, at[0]-80):min(len(screen), at[1]+80)])
		}
		if exit != c.exit || !strings.Contains(screen, c.want) {
			t.Errorf("%v: exit %d, no %q in %q", c.args, exit, c.want, screen)
		}
	}
	events, violations, err := u.events(u.lastSession())
	kept := find(t, events, session.KindToolResult, func(r session.ToolResult) bool { return r.Name == "print" && r.Message.Text() == moving })
	if err != nil || len(violations) > 0 || len(kept) != 1 {
		t.Errorf("the log does not keep what was said: %d results, %v, %v", len(kept), err, violations)
	}
}
