package compaction

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// CodeBudgetConfig is the code of a *ConfigError (N13).
const CodeBudgetConfig = "BUDGET_CONFIG"

// What an absent budget key stands for. The caps are for big windows, the
// shares scale them down for small ones.
const (
	autoRatio         = 0.8
	autoHeadroom      = 65536
	autoHeadroomShare = 0.1 // of the window
	autoWarning       = 16384
	autoWarningShare  = 0.12 // of ResetAt
	autoReminder      = 24576
	autoReminderShare = 0.18 // of ResetAt
)

// ConfigError says that the budget keys of a profile do not fit each other or
// the window, and which numbers to change.
type ConfigError struct {
	Code   string   // CodeBudgetConfig
	Reason string   // what does not fit, with its numbers
	Change []string // what to change, as "key (value)"
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("%s: %s; change %s", e.Code, e.Reason, strings.Join(e.Change, " or "))
}

// Resolve computes the host's line (C3, C4, N13) in decimal arithmetic: written
// numbers are taken as they stand, absent ones are scaled to the window. maxOutput
// is the output reserve O, 0 where there is none. A window of 0 is unknown: the
// Budget is then zero and there is no error. Every other error is a *ConfigError.
func Resolve(c BudgetConfig, window, maxOutput int, source string) (Budget, error) {
	if err := c.validate(maxOutput); err != nil {
		return Budget{}, err
	}
	if window <= 0 {
		return Budget{MaxOutputTokens: maxOutput, Source: "unknown"}, nil
	}
	ratio := or(c.ThresholdRatio, autoRatio)
	headroom := or(c.Headroom, min(autoHeadroom, share(window, autoHeadroomShare)))
	resetAt := min(share(window, ratio), window-maxOutput-headroom)
	if c.TriggerTokens != nil {
		resetAt = min(resetAt, *c.TriggerTokens)
	}
	if resetAt <= 0 {
		return Budget{}, configError(
			fmt.Sprintf("no tokens are left before the line: min(%d*%s, %d-%d-%d) is %d", window, text(ratio), window, maxOutput, headroom, resetAt),
			key("model.context_window", window), key("model.max_output_tokens", maxOutput),
			key("compaction.headroom_tokens", headroom), key("compaction.threshold_ratio", text(ratio)))
	}
	warning := or(c.WarningMargin, min(autoWarning, share(resetAt, autoWarningShare)))
	reminder := or(c.ReminderMargin, min(autoReminder, share(resetAt, autoReminderShare)))
	if reminder < warning {
		return Budget{}, configError(
			fmt.Sprintf("the reminder would come after the close-out warning: margin %d is below margin %d", reminder, warning),
			key("compaction.reminder_margin_tokens", reminder), key("compaction.warning_margin_tokens", warning))
	}
	if reminder >= resetAt {
		return Budget{}, configError(
			fmt.Sprintf("the reminder would be due before a window has begun: margin %d leaves nothing of the line at %d", reminder, resetAt),
			key("compaction.reminder_margin_tokens", reminder), key("compaction.warning_margin_tokens", warning), key("model.context_window", window))
	}
	reserve := window - resetAt
	return Budget{
		Window: window, MaxOutputTokens: maxOutput, Source: source,
		ResetAt: resetAt, Reserve: reserve, Warning: reserve + warning, Reminder: reserve + reminder,
	}, nil
}

// Retain is the number of newest tokens that a summary leaves as they stand
// (C5): floor((Window - MaxOutputTokens) * ratio), 0 for an unknown window.
func (b Budget) Retain(ratio float64) int {
	if b.Window <= b.MaxOutputTokens || !(ratio > 0) || math.IsInf(ratio, 1) {
		return 0
	}
	return share(b.Window-b.MaxOutputTokens, ratio)
}

func (c BudgetConfig) validate(maxOutput int) error {
	if r := c.ThresholdRatio; r != nil && !(*r > 0 && *r <= 1) {
		return configError("the threshold is not above 0 and at most 1", key("compaction.threshold_ratio", text(*r)))
	}
	if maxOutput < 0 {
		return configError("the output reserve is negative", key("model.max_output_tokens", maxOutput))
	}
	for _, k := range []struct {
		name  string
		value *int
		least int
	}{
		{"compaction.headroom_tokens", c.Headroom, 0},
		{"compaction.warning_margin_tokens", c.WarningMargin, 0},
		{"compaction.reminder_margin_tokens", c.ReminderMargin, 0},
		{"compaction.trigger_tokens", c.TriggerTokens, 1},
	} {
		if k.value != nil && *k.value < k.least {
			return configError(fmt.Sprintf("a number of tokens is below %d", k.least), key(k.name, *k.value))
		}
	}
	return nil
}

// share is floor(n*ratio), exact for the decimal number that ratio is written as.
func share(n int, ratio float64) int {
	r, _ := new(big.Rat).SetString(text(ratio))
	r.Mul(r, new(big.Rat).SetInt64(int64(n)))
	return int(new(big.Int).Quo(r.Num(), r.Denom()).Int64())
}

func text(ratio float64) string { return strconv.FormatFloat(ratio, 'g', -1, 64) }

func key(name string, value any) string { return fmt.Sprintf("%s (%v)", name, value) }

func configError(reason string, change ...string) *ConfigError {
	return &ConfigError{Code: CodeBudgetConfig, Reason: reason, Change: change}
}

func or[T any](p *T, auto T) T {
	if p != nil {
		return *p
	}
	return auto
}
