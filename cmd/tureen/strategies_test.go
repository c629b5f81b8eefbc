package main_test

import (
	"encoding/json"
	"testing"

	"github.com/tureen-host/tureen/host"
)

// Every strategy that ships carries the sample work to its end; without one the
// window is full before it is done, and the exit code says so.
func TestC3_C12_EveryShippedStrategyOnTheDemo(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string]struct {
		kinds string // of the compactions, every one of them
		calls bool   // to the model, for compactions
	}{
		"summary": {"summary", true}, "notesoup": {"reset", false}, "prune": {"trim", false}, "truncate": {"summary", false},
	} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			u := demo(t)
			r, o := runDemo(t, u, "-P", "demo", "-c", "compaction.strategy="+strategy)
			if len(r.Compactions) == 0 || r.ModelCalls.Compaction > 0 != want.calls {
				t.Errorf("%d compactions with %d model calls\n%s", len(r.Compactions), r.ModelCalls.Compaction, o.stderr)
			}
			for _, c := range r.Compactions {
				if c.Strategy != strategy || !matchesAny(c.Kind, want.kinds) || c.TokensAfter >= c.TokensBefore {
					t.Errorf("compaction #%d: %s of %s, %d tokens became %d", c.Ordinal, c.Kind, c.Strategy, c.TokensBefore, c.TokensAfter)
				}
			}
			checkSession(t, u, r)
		})
	}
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		u := demo(t)
		o := u.run(t, "run", "-C", u.path("demo"), "-o", "json", "-P", "demo", "-c", "compaction.strategy=none", demoTask)
		var r host.Result
		if err := json.Unmarshal([]byte(o.stdout), &r); err != nil {
			t.Fatalf("%v in %s", err, o.stdout)
		}
		if o.exit != 6 || r.ExitCode != 6 || r.Error == nil || r.Error.Code != "CONTEXT_WINDOW_EXCEEDED" || len(r.Compactions) != 0 {
			t.Errorf("exit %d, result %d, error %+v, compactions %v", o.exit, r.ExitCode, r.Error, r.Compactions)
		}
	})
}
