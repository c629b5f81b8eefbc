package main_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// butlerName makes this test binary a plugin that asks before each shell command,
// asks the person what a tool wants to know, has the command /echo, and waits for the
// file pot.
const butlerName = "butler"

// butlerProfile writes a profile with the butler before the shell, and returns its
// path.
func butlerProfile(t *testing.T, u *sandbox) string {
	t.Helper()
	faulty(t, u, butlerName)
	path := u.path("work", "butler.toml")
	write(t, path, `schema = 1
extends = "base"
[compaction]
strategy = "notesoup"
[model]
name = "talker"
max_output_tokens = 1000
[[plugins]]
use = "shell"
[[plugins]]
use = "./butler"
`)
	return path
}

func serveButler() {
	b := &butler{}
	sdk.Serve(sdk.Plugin{Name: butlerName, Version: "1.0.0", Roles: []sdk.Role{sdk.RoleHooks, sdk.RoleTools, sdk.RoleCommands},
		Capabilities: []sdk.Capability{sdk.CapUserAsk}, HookPoints: []hook.Point{hook.BeforeTool, hook.Idle},
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			b.host = init.Host
			return sdk.Services{Hooks: b, Tools: b, Commands: b, Sessions: pots{b}}, nil
		}})
}

type butler struct {
	hook.Passive
	host      sdk.Host
	workspace string
}

// pots keeps the working directory of the session.
type pots struct{ *butler }

func (p pots) Open(_ context.Context, s compaction.Session) error {
	p.workspace = s.Workspace
	return nil
}
func (pots) Close(context.Context, string) {}

// Idle waits while the file pot is there.
func (b *butler) Idle(context.Context, hook.Where) (hook.IdleDecision, error) {
	if _, err := os.Stat(filepath.Join(b.workspace, "pot")); err != nil {
		return hook.IdleDecision{}, nil
	}
	return hook.IdleDecision{Wait: "the pot"}, nil
}

func (*butler) Name() string         { return butlerName }
func (*butler) Points() []hook.Point { return []hook.Point{hook.BeforeTool, hook.Idle} }

func (*butler) BeforeTool(_ context.Context, _ hook.Where, call hook.ToolCall) (hook.ToolDecision, error) {
	if call.Name != "shell" {
		return hook.ToolDecision{}, nil
	}
	if call.Answer == nil {
		return hook.ToolDecision{Ask: &session.Question{Kind: session.QuestionApproval, Text: "May shell run this?", Detail: string(call.Arguments),
			Options: []session.Option{{Label: "Allow"}, {Label: "Deny", Description: "the agent is told so"}}}}, nil
	}
	if !call.Answer.Chose("Allow") {
		return hook.ToolDecision{Deny: "the person said no"}, nil
	}
	return hook.ToolDecision{}, nil
}

func (*butler) Tools(context.Context, string) ([]tool.Spec, error) {
	return []tool.Spec{{Name: "enquire", Description: "asks the person", Timeout: time.Minute,
		Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"options":{"type":"array","items":{"type":"string"}},"multiple":{"type":"boolean"}}}`)}}, nil
}

func (b *butler) Call(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	var in struct {
		Text     string
		Options  []string
		Multiple bool
	}
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return tool.Result{}, err
	}
	q := session.Question{CallID: call.ID, Text: in.Text, Multiple: in.Multiple}
	for _, o := range in.Options {
		q.Options = append(q.Options, session.Option{Label: o})
	}
	answer, err := b.host.Session(call.Session).Ask(ctx, q, 0)
	return tool.Result{Text: fmt.Sprintf("%s: %s %s", answer.Outcome, strings.Join(answer.Choices, "+"), answer.Text)}, err
}

func (*butler) Commands(context.Context, string) ([]command.Command, error) {
	return []command.Command{{Name: "echo", Usage: "TEXT", Description: "says it again"}}, nil
}

func (*butler) Run(_ context.Context, _, _, arguments string) (string, error) {
	if arguments == "" {
		return "", errors.New("nothing to say; give /echo a text")
	}
	return "echo: " + arguments, nil
}
