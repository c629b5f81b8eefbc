package compaction_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
)

func p[T any](v T) *T { return &v }

func TestC3_C4_N13_ResolveTheLine(t *testing.T) {
	t.Parallel()
	seed := compaction.BudgetConfig{ThresholdRatio: p(0.8), Headroom: p(65536), WarningMargin: p(16384), ReminderMargin: p(24576)}
	cases := []struct {
		name       string
		config     compaction.BudgetConfig
		window     int
		output     int
		resetAt    int
		reserve    int
		warning    int
		reminder   int
		mustReason string // not "": the error's text holds it
	}{
		{name: "the seed's check", config: compaction.BudgetConfig{ThresholdRatio: p(0.7), Headroom: p(32768), WarningMargin: p(16384), ReminderMargin: p(24576)},
			window: 200000, output: 8192, resetAt: 140000, reserve: 60000, warning: 76384, reminder: 84576},
		{name: "the same with auto margins", config: compaction.BudgetConfig{ThresholdRatio: p(0.7), Headroom: p(32768)},
			window: 200000, output: 8192, resetAt: 140000, reserve: 60000, warning: 76384, reminder: 84576},
		{name: "auto 8k", window: 8192, output: 1024, resetAt: 6349, reserve: 1843, warning: 1843 + 761, reminder: 1843 + 1142},
		{name: "auto 32k", window: 32768, output: 4096, resetAt: 25396, reserve: 7372, warning: 7372 + 3047, reminder: 7372 + 4571},
		{name: "auto 64k", window: 65536, output: 8192, resetAt: 50791, reserve: 14745, warning: 14745 + 6094, reminder: 14745 + 9142},
		{name: "auto 128k", window: 131072, output: 8192, resetAt: 104857, reserve: 26215, warning: 26215 + 12582, reminder: 26215 + 18874},
		{name: "auto 200k", window: 200000, output: 8192, resetAt: 160000, reserve: 40000, warning: 56384, reminder: 64576},
		{name: "auto 1M", window: 1048576, output: 256000, resetAt: 727040, reserve: 321536, warning: 337920, reminder: 346112},
		{name: "seed 128k", config: seed, window: 131072, output: 8192, resetAt: 57344, reserve: 73728, warning: 90112, reminder: 98304},
		{name: "seed 200k", config: seed, window: 200000, output: 8192, resetAt: 126272, reserve: 73728, warning: 90112, reminder: 98304},
		{name: "seed 1M", config: seed, window: 1048576, output: 256000, resetAt: 727040, reserve: 321536, warning: 337920, reminder: 346112},
		{name: "seed 64k", config: seed, window: 65536, output: 8192, mustReason: "65536-8192-65536"},
		{name: "seed 32k", config: seed, window: 32768, output: 4096, mustReason: "compaction.headroom_tokens (65536)"},
		{name: "seed 8k", config: seed, window: 8192, output: 1024, mustReason: "model.context_window (8192)"},
		{name: "absolute cap", config: compaction.BudgetConfig{TriggerTokens: p(50000)}, window: 200000, output: 8192,
			resetAt: 50000, reserve: 150000, warning: 150000 + 6000, reminder: 150000 + 9000},
		{name: "a cap above the line does not lift it", config: compaction.BudgetConfig{TriggerTokens: p(190000)}, window: 200000, output: 8192,
			resetAt: 160000, reserve: 40000, warning: 56384, reminder: 64576},
		{name: "decimal, not binary", config: compaction.BudgetConfig{ThresholdRatio: p(0.29), Headroom: p(0), WarningMargin: p(0), ReminderMargin: p(0)},
			window: 100, resetAt: 29, reserve: 71, warning: 71, reminder: 71},
		{name: "output eats the window", window: 8192, output: 8192, mustReason: "model.max_output_tokens (8192)"},
		{name: "reminder below warning", config: compaction.BudgetConfig{WarningMargin: p(9000), ReminderMargin: p(8999)}, window: 200000, output: 8192,
			mustReason: "compaction.reminder_margin_tokens (8999) or compaction.warning_margin_tokens (9000)"},
		{name: "reminder due at once", config: compaction.BudgetConfig{WarningMargin: p(16384), ReminderMargin: p(24576)}, window: 16384, output: 1024,
			mustReason: "before a window has begun"},
		{name: "ratio above 1", config: compaction.BudgetConfig{ThresholdRatio: p(1.01)}, window: 200000, mustReason: "compaction.threshold_ratio (1.01)"},
		{name: "ratio zero", config: compaction.BudgetConfig{ThresholdRatio: p(0.0)}, window: 200000, mustReason: "compaction.threshold_ratio (0)"},
		{name: "negative headroom", config: compaction.BudgetConfig{Headroom: p(-1)}, window: 200000, mustReason: "compaction.headroom_tokens (-1)"},
		{name: "bad numbers fail without a window too", config: compaction.BudgetConfig{TriggerTokens: p(0)}, window: 0, mustReason: "compaction.trigger_tokens (0)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := compaction.Resolve(c.config, c.window, c.output, "profile")
			if c.mustReason != "" {
				var config *compaction.ConfigError
				if !errors.As(err, &config) || config.Code != compaction.CodeBudgetConfig || !strings.Contains(err.Error(), c.mustReason) {
					t.Fatalf("got %+v, %v; want a %s with %q", got, err, compaction.CodeBudgetConfig, c.mustReason)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := compaction.Budget{Window: c.window, MaxOutputTokens: c.output, ResetAt: c.resetAt, Reserve: c.reserve,
				Warning: c.warning, Reminder: c.reminder, Source: "profile"}
			if got != want {
				t.Fatalf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestC3_UnknownWindowIsNoError(t *testing.T) {
	t.Parallel()
	got, err := compaction.Resolve(compaction.BudgetConfig{}, 0, 8192, "probed")
	if err != nil {
		t.Fatal(err)
	}
	if want := (compaction.Budget{MaxOutputTokens: 8192, Source: "unknown"}); got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

func TestC5_RetainIsAShareOfWhatIsNotOutput(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		window, output int
		ratio          float64
		want           int
	}{
		{1048576, 256000, 0.16, 126812},
		{200000, 8192, 0.16, 30689},
		{8192, 1024, 0.16, 1146},
		{0, 8192, 0.16, 0},
		{200000, 8192, 0, 0},
		{100, 0, 0.29, 29},
	} {
		b := compaction.Budget{Window: c.window, MaxOutputTokens: c.output}
		if got := b.Retain(c.ratio); got != c.want {
			t.Errorf("(%d-%d)*%v: got %d, want %d", c.window, c.output, c.ratio, got, c.want)
		}
	}
}
