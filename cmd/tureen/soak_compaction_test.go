//go:build soak

package main_test

import "testing"

// TestSoak_C9_R1_ACrashAroundACompaction is TestC9_R1_ACrashAroundACompaction from the
// step before to the answer behind.
func TestSoak_C9_R1_ACrashAroundACompaction(t *testing.T) {
	t.Parallel()
	crashAround(t, []crashPoint{
		{"kind:message.assistant:2:before", true, false},
		{"kind:tool.result:5:before", true, false},                                          // all of the step before is done, the last of it not stored
		{"kind:model.call:1:before", true, false}, {"kind:model.call:1:after", true, false}, // of a strategy that asks the model
		{"kind:step.started:3:before", false, true}, {"kind:step.started:3:after", false, true},
		{"kind:message.assistant:3:before", false, true},
	})
}

// TestSoak_ConformanceOfShippedStrategiesAsProcesses is the whole of
// TestConformanceOfAShippedStrategyAsAProcess.
func TestSoak_ConformanceOfShippedStrategiesAsProcesses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"summary", "prune", "truncate"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conform(t, name)
		})
	}
}
