package planning_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/planning"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
)

// One process serves several sessions, each with its own list and goal.
func TestSessionsAreApart(t *testing.T) {
	t.Parallel()
	one, two := &book{}, &book{}
	p := plugintest.Run(t, planning.Plugin("1.0.0"), plugintest.Host{Config: json.RawMessage(`{}`), Sessions: []compaction.Session{
		{ID: "one", Workspace: "/w", Access: one}, {ID: "two", Workspace: "/w", Parent: "one", Depth: 1, Access: two},
	}})
	write := func(session string) tool.Result {
		r, err := p.Tools().Call(t.Context(), tool.Call{Session: session, Name: "todo_write",
			Arguments: json.RawMessage(`{"todos":[{"content":"of ` + session + `","status":"pending"}]}`)}, func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	fine(t, write("one"))
	fine(t, write("two"))
	refused(t, write("three"), "SESSION_UNKNOWN", `"three"`)
	for _, session := range []string{"one", "two"} {
		if got, err := p.Commands().Run(t.Context(), session, "todo", ""); err != nil || got != "[pending] of "+session {
			t.Errorf("%s: %q %v", session, got, err)
		}
	}
	if _, err := p.Commands().Run(t.Context(), "one", "nonsense", ""); err == nil {
		t.Error("/nonsense is taken")
	}
}

func TestABadConfigIsRefused(t *testing.T) {
	t.Parallel()
	for _, config := range []string{`{"nudges": -1}`, `{"max_rounds": 0}`, `{"max_rounds": "many"}`} {
		_, err := plugintest.Start(t, planning.Plugin("1.0.0"), plugintest.Host{Config: json.RawMessage(config)})
		if err == nil || !strings.Contains(err.Error(), `plugin "planning"`) {
			t.Errorf("%s: %v", config, err)
		}
	}
}
