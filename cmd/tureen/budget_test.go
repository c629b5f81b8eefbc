package main_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// checkBudget runs profile check with overrides, without a key and without a network.
func checkBudget(t *testing.T, u *sandbox, profile string, overrides ...string) (exit int, budget, code, message, hint string) {
	t.Helper()
	args := []string{"profile", "check", profile, "--json"}
	for _, o := range overrides {
		args = append(args, "-c", o)
	}
	o := u.run(t, args...)
	var c struct {
		Budget *struct {
			Window    *int `json:"context_window"`
			MaxOutput int  `json:"max_output_tokens"`
			ResetAt   *int `json:"reset_at"`
			Reserve   *int `json:"reserve"`
			Warning   *int `json:"warning"`
			Reminder  *int `json:"reminder"`
		}
		Error *struct{ Code, Message, Hint string }
	}
	if err := json.Unmarshal([]byte(o.stdout), &c); err != nil {
		t.Fatalf("%v: %s%s", err, o.stdout, o.stderr)
	}
	if b := c.Budget; b != nil && b.Window != nil {
		budget = fmt.Sprint(*b.Window, b.MaxOutput, *b.ResetAt, *b.Reserve, *b.Warning, *b.Reminder)
	}
	if c.Error != nil {
		code, message, hint = c.Error.Code, c.Error.Message, c.Error.Hint
	}
	return o.exit, budget, code, message, hint
}

func TestN13_TheBudgetOfAProfileIsPrinted(t *testing.T) {
	t.Parallel()
	u := user(t)
	u.env = append(u.env, "OPENAI_API_KEY=")
	for _, c := range []struct{ overrides, budget string }{
		{"model.context_window=200000 model.max_output_tokens=8192 compaction.threshold_ratio=0.7 compaction.headroom_tokens=32768 compaction.warning_margin_tokens=16384 compaction.reminder_margin_tokens=24576",
			"200000 8192 140000 60000 76384 84576"},
		{"model.context_window=200000 model.max_output_tokens=8192 compaction.threshold_ratio=0.7 compaction.headroom_tokens=32768",
			"200000 8192 140000 60000 76384 84576"},
		{"model.context_window=8192 model.max_output_tokens=1024", "8192 1024 6349 1843 2604 2985"},
		{"model.context_window=32768 model.max_output_tokens=4096", "32768 4096 25396 7372 10419 11943"},
		{"model.context_window=65536 model.max_output_tokens=8192", "65536 8192 50791 14745 20839 23887"},
		{"model.context_window=131072 model.max_output_tokens=8192", "131072 8192 104857 26215 38797 45089"},
		{"model.context_window=1048576 model.max_output_tokens=32768", "1048576 32768 838860 209716 226100 234292"},
	} {
		exit, budget, code, message, _ := checkBudget(t, u, "notesoup", strings.Fields(c.overrides)...)
		if exit != 0 || budget != c.budget {
			t.Errorf("%s: exit %d, got %s, want %s (%s %s)", c.overrides, exit, budget, c.budget, code, message)
		}
	}
}

// TestN13_BadBudgetsNameTheNumbersToChange: numbers that do not fit each other are
// BUDGET_CONFIG; one that no profile may have is told of with its range.
func TestN13_BadBudgetsNameTheNumbersToChange(t *testing.T) {
	t.Parallel()
	u := user(t)
	for _, c := range []struct{ overrides, code, message, hint string }{
		{"compaction.headroom_tokens=60000", "BUDGET_CONFIG", "no tokens are left before the line: min(64000*0.8, 64000-8000-60000) is -4000",
			"change model.context_window (64000) or model.max_output_tokens (8000) or compaction.headroom_tokens (60000) or compaction.threshold_ratio (0.8)"},
		{"model.max_output_tokens=60000", "BUDGET_CONFIG", "no tokens are left before the line: min(64000*0.8, 64000-60000-6400) is -2400",
			"change model.context_window (64000) or model.max_output_tokens (60000) or compaction.headroom_tokens (6400) or compaction.threshold_ratio (0.8)"},
		{"compaction.warning_margin_tokens=9000 compaction.reminder_margin_tokens=8000", "BUDGET_CONFIG", "the reminder would come after the close-out warning: margin 8000 is below margin 9000",
			"change compaction.reminder_margin_tokens (8000) or compaction.warning_margin_tokens (9000)"},
		{"compaction.warning_margin_tokens=9000", "BUDGET_CONFIG", "the reminder would come after the close-out warning: margin 8928 is below margin 9000",
			"change compaction.reminder_margin_tokens (8928) or compaction.warning_margin_tokens (9000)"},
		{"compaction.reminder_margin_tokens=60000", "BUDGET_CONFIG", "the reminder would be due before a window has begun: margin 60000 leaves nothing of the line at 49600",
			"change compaction.reminder_margin_tokens (60000) or compaction.warning_margin_tokens (5952) or model.context_window (64000)"},
		{"compaction.trigger_tokens=4000 compaction.reminder_margin_tokens=4000", "BUDGET_CONFIG", "the reminder would be due before a window has begun: margin 4000 leaves nothing of the line at 4000",
			"change compaction.reminder_margin_tokens (4000) or compaction.warning_margin_tokens (480) or model.context_window (64000)"},
		{"compaction.threshold_ratio=0", "PROFILE", "compaction.threshold_ratio: found number 0; allowed: a part of the window", ""},
		{"compaction.threshold_ratio=1.5", "PROFILE", "compaction.threshold_ratio: found number 1.5; allowed: a part of the window", ""},
		{"compaction.headroom_tokens=-1", "PROFILE", "compaction.headroom_tokens: found number -1; allowed: a whole number from 0", ""},
		{"compaction.warning_margin_tokens=-5", "PROFILE", "compaction.warning_margin_tokens: found number -5; allowed: a whole number from 0", ""},
		{"compaction.reminder_margin_tokens=-5", "PROFILE", "compaction.reminder_margin_tokens: found number -5; allowed: a whole number from 0", ""},
		{"compaction.trigger_tokens=0", "PROFILE", "compaction.trigger_tokens: found number 0; allowed: a whole number from", ""},
		{"model.max_output_tokens=64000", "PROFILE", "model.max_output_tokens: found number 64000, which leaves no room for input in a window of 64000", ""},
	} {
		overrides := append([]string{"model.context_window=64000", "model.max_output_tokens=8000"}, strings.Fields(c.overrides)...)
		exit, budget, code, message, hint := checkBudget(t, u, "notesoup", overrides...)
		if exit != 2 || budget != "" || code != c.code || !strings.Contains(message, c.message) || c.hint != "" && hint != c.hint || hint == "" {
			t.Errorf("%s: exit %d, %q, %s: %s; %s", c.overrides, exit, budget, code, message, hint)
		}
	}
}
