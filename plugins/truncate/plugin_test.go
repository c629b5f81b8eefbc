package truncate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
	"github.com/tureen-host/tureen/plugins/truncate"
)

// What the profile sets decides, over the wire, how much goes and how much stays.
func TestConfigReachesTheStrategy(t *testing.T) {
	t.Parallel()
	left := map[string]int{}
	for _, config := range []string{`{}`, `{"target":0.2}`, `{"target":0.2,"retain_ratio":0.6}`} {
		s := compactiontest.New(t, "truncate", "You work.")
		s.Budget = compaction.Budget{Window: 32_000, MaxOutputTokens: 2000, ResetAt: 24_000, Reserve: 8000}
		strategy := plugintest.Run(t, truncate.Plugin("1.2.3"), plugintest.Host{Config: json.RawMessage(config), Sessions: []compaction.Session{s.Opened()}}).Strategy()
		s.Open(strategy)
		s.Turn()
		s.User(session.SourceOwner, "Read the files.")
		for i := range 26 {
			s.Exchange(fmt.Sprint("c", i), "read", "{}", strings.Repeat("word ", 600))
		}
		if p := s.Compact(strategy, s.Input(session.TriggerPressure)); p.IsZero() {
			t.Fatalf("%s: nothing is proposed", config)
		}
		m, err := s.Meter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		left[config] = m.Measured
	}
	a, b, c := left[`{}`], left[`{"target":0.2}`], left[`{"target":0.2,"retain_ratio":0.6}`]
	if a > 16_800 || a < 15_000 || b >= a || c <= a || c < 18_000 {
		t.Errorf("%d, %d and %d tokens are left; want less than 16800, less than that, and at least the newest 18000", a, b, c)
	}
}

func TestConfigSchemaKnowsItsKeys(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.CompileString("truncate.json", string(truncate.Plugin("").ConfigSchema))
	if err != nil {
		t.Fatal(err)
	}
	for config, fits := range map[string]bool{
		`{}`:                              true,
		`{"target":0.5,"retain_ratio":0}`: true,
		`{"target":1}`:                    false,
		`{"target":-0.1}`:                 false,
		`{"retain_ratio":1}`:              false,
		`{"retain_ratio":"0.2"}`:          false,
		`{"low_water":0.5}`:               false,
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
