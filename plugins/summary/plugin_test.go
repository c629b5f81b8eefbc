package summary_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/summary"
)

func TestC6_ConfigReachesTheCall(t *testing.T) {
	t.Parallel()
	plugin := summary.Plugin("1.2.3")
	services, err := plugin.Start(t.Context(), sdk.Init{Config: json.RawMessage(`{"guidance":"Mind the tests.","effort":"off","max_output_tokens":4096}`)})
	if err != nil {
		t.Fatal(err)
	}
	s := compactiontest.New(t, plugin.Name, "You work.")
	s.Budget = compaction.Budget{Window: 200000, MaxOutputTokens: 8192}
	s.Turn()
	s.User(session.SourceOwner, strings.Repeat("please ", 500))
	var asked session.Generate
	s.Model = func(_ context.Context, _ []*llm.Message, g session.Generate) (session.Generated, error) {
		asked = g
		return session.Generated{Message: llm.Text(llm.RoleAssistant, "done"), Stop: llm.StopEnd}, nil
	}
	s.Open(services.Strategy)
	if p := s.Compact(services.Strategy, s.Input(session.TriggerManual)); p.Kind != compaction.KindSummary {
		t.Fatalf("proposal: %+v", p)
	}
	if asked.Effort != "off" || asked.MaxOutputTokens != 4096 || !strings.Contains(asked.Append[0].Text(), "Mind the tests.\n\nWhatever was asked above, ") {
		t.Errorf("asked: effort %q, cap %d", asked.Effort, asked.MaxOutputTokens)
	}
}

func TestConfigSchemaKnowsItsKeys(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.CompileString("summary.json", string(summary.Plugin("").ConfigSchema))
	if err != nil {
		t.Fatal(err)
	}
	for config, fits := range map[string]bool{
		`{}`:                       true,
		`{"retain_ratio":0.2}`:     true,
		`{"retain_ratio":1}`:       false,
		`{"effort":"medium"}`:      false,
		`{"max_output_tokens":10}`: false,
		`{"guidence":"x"}`:         false,
		`{"model":"m"}`:            true,
		`{"context_window":8192}`:  false,
		`{"user_tokens":0}`:        true,
		`{"user_tokens":-1}`:       false,
		`{"prune":false}`:          true,
		`{"prune":"no"}`:           false,

		`{"model":"m","context_window":8192}`: true,
	} {
		var v any
		if err := json.Unmarshal([]byte(config), &v); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); (err == nil) != fits {
			t.Errorf("%s: %v", config, err)
		}
	}
}
