package policy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/policy"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// desk is the plugin over the wire with a session "s" and its subagent "child".
type desk struct {
	t      *testing.T
	dir    string // the workspace: neither it nor what is beside it is for temporary files
	beside string
	plugin *plugintest.Plugin
	hooks  hook.Hooks
}

type args = map[string]any

func open(t *testing.T, config string) *desk {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "policy")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	if base, err = filepath.EvalSymlinks(base); err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, dir: filepath.Join(base, "ws"), beside: filepath.Join(base, "beside")}
	for _, dir := range []string{d.dir, d.beside, filepath.Join(d.dir, "sub")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.plugin = plugintest.Run(t, policy.Plugin("1.0.0"), plugintest.Host{
		Config: json.RawMessage(strings.ReplaceAll(config, "BESIDE", d.beside)),
		Sessions: []compaction.Session{
			{ID: "s", Workspace: d.dir, Directory: d.dir},
			{ID: "other", Workspace: d.dir, Directory: d.dir},
			{ID: "child", Workspace: d.dir, Directory: d.dir, Parent: "s", Depth: 1},
		},
	})
	d.hooks = d.plugin.Hooks(d.plugin.Info.HookPoints, "end_turn")
	return d
}

func (d *desk) decideIn(id, name string, a args, answer *session.Answer) hook.ToolDecision {
	d.t.Helper()
	raw, err := json.Marshal(a)
	if err != nil {
		d.t.Fatal(err)
	}
	out, err := d.hooks.BeforeTool(d.t.Context(), hook.Where{Session: id, Turn: 1, Step: 1}, hook.ToolCall{CallID: "c", Name: name, Arguments: raw, Answer: answer})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func (d *desk) decide(name string, a args) hook.ToolDecision {
	d.t.Helper()
	return d.decideIn("s", name, a, nil)
}

func (d *desk) run(line string) hook.ToolDecision {
	d.t.Helper()
	return d.decide("shell", args{"description": "x", "command": line})
}

// answer puts the call and answers what is asked about it.
func (d *desk) answer(name string, a args, choice string) hook.ToolDecision {
	d.t.Helper()
	if out := d.decide(name, a); out.Ask == nil {
		return out
	}
	return d.decideIn("s", name, a, &session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{choice}})
}

// verdict is a decision in one word.
func verdict(out hook.ToolDecision) string {
	switch {
	case out.Deny != "":
		return "deny"
	case out.Ask != nil:
		return "ask"
	}
	return "allow"
}

func (d *desk) want(line, verdictWanted string) hook.ToolDecision {
	d.t.Helper()
	out := d.run(line)
	if got := verdict(out); got != verdictWanted {
		d.t.Errorf("%q: %s, not %s: %+v", line, got, verdictWanted, out)
	}
	return out
}

func shellCall(line string) args { return args{"description": "x", "command": line} }

func holds(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q: %s", what, part, text)
		}
	}
}
