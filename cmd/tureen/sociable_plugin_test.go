package main_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// sociableName makes this test binary a plugin that does with one call of its tool
// mingle whatever reaches beyond a session: it asks the person, spawns a subagent,
// moves the working directory and reports. /wave is its command.
const sociableName = "sociable"

func serveSociable() {
	s := &sociable{}
	sdk.Serve(sdk.Plugin{Name: sociableName, Version: "1.0.0", Roles: []sdk.Role{sdk.RoleTools, sdk.RoleCommands},
		Capabilities: []sdk.Capability{sdk.CapUserAsk, sdk.CapSessionSpawn, sdk.CapSessionRead},
		Start: func(_ context.Context, init sdk.Init) (sdk.Services, error) {
			s.host = init.Host
			return sdk.Services{Tools: s, Commands: s}, nil
		}})
}

// mingling is a model that calls mingle twice, but for the subagent's.
func mingling() scripted.Agent {
	return scripted.AgentFunc(func(r llm.Request) scripted.Reply {
		calls := 0
		for _, m := range r.Messages {
			if m.Role == llm.RoleTool {
				calls++
			}
			if strings.Contains(m.Text(), "Say ok.") {
				return scripted.Reply{Text: "ok"}
			}
		}
		if calls == 2 {
			return scripted.Reply{Text: "ok"}
		}
		return scripted.Reply{Calls: []scripted.Call{{Name: "mingle", Arguments: "{}"}}}
	})
}

type sociable struct{ host sdk.Host }

func (*sociable) Name() string { return sociableName }

func (*sociable) Tools(context.Context, string) ([]tool.Spec, error) {
	return []tool.Spec{{Name: "mingle", Description: "meets everybody", Schema: json.RawMessage(`{"type":"object"}`)}}, nil
}

func (s *sociable) Call(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	access := s.host.Session(call.Session)
	answer, err := access.Ask(ctx, session.Question{Text: "Who are you?", CallID: call.ID}, 0)
	if err != nil {
		return tool.Result{}, err
	}
	if _, err := access.Spawn(ctx, session.Spawn{Task: "Say ok.", Label: "a helper"}); err != nil {
		return tool.Result{}, err
	}
	result := tool.Result{Text: string(answer.Outcome), Effects: []tool.Effect{tool.EffectReport}, Note: `{"met": 2}`}
	if call.Step > 1 {
		return result, nil
	}
	dir, err := filepath.EvalSymlinks(os.TempDir())
	return tool.Result{Text: result.Text, Effects: []tool.Effect{tool.EffectChangeDirectory}, Note: dir}, err
}

func (*sociable) Commands(context.Context, string) ([]command.Command, error) {
	return []command.Command{{Name: "wave", Usage: "TO", Description: "waves"}}, nil
}

func (*sociable) Run(_ context.Context, _, _, arguments string) (string, error) {
	return "waved " + arguments, nil
}
