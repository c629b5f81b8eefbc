package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Limits end a turn with reason limit, resumably (L3). Zero fields do not bind.
// Steps, turns and time count in this process, tokens and cost over the session and
// all its relatives (C139).
// All are looked at before a step; time ends a step that is under way as well.
type Limits struct {
	Steps   int
	Turns   int
	Tokens  int
	Timeout time.Duration
	CostUSD float64
	// Cost prices a usage in USD; required with CostUSD.
	Cost func(llm.Usage) float64
}

type limitError struct{ code, what, found string }

func (e *limitError) Error() string { return fmt.Sprintf("limit %s reached: %s", e.what, e.found) }

func (e *limitError) failure() *session.Failure {
	return &session.Failure{Code: e.code, Message: e.Error(), Hint: "raise " + e.what + " in the profile, or with -c when you resume the session"}
}

// reached returns the limit that forbids another step, nil if none does.
func (l Limits) reached(a *Agent) error {
	usage := a.spent()
	switch {
	case l.Steps > 0 && a.stepCount >= l.Steps:
		return &limitError{"LIMIT_STEPS", "limits.max_steps", fmt.Sprintf("%d steps", a.stepCount)}
	case l.Turns > 0 && a.turnCount > l.Turns:
		return &limitError{"LIMIT_TURNS", "limits.max_turns", fmt.Sprintf("%d turns", l.Turns)}
	case l.Tokens > 0 && usage.Total() >= l.Tokens:
		return &limitError{"LIMIT_TOKENS", "limits.max_tokens", fmt.Sprintf("%d tokens", usage.Total())}
	case l.Timeout > 0 && a.Now().Sub(a.started) >= l.Timeout:
		return l.timeUp()
	case l.CostUSD > 0 && l.Cost != nil && l.Cost(usage) >= l.CostUSD:
		return &limitError{"LIMIT_COST", "limits.max_cost_usd", fmt.Sprintf("%.4f USD", l.Cost(usage))}
	}
	return nil
}

func (l Limits) timeUp() *limitError {
	return &limitError{"LIMIT_TIME", "limits.timeout", l.Timeout.String()}
}

// bound gives the steps of a turn the deadline of the time limit, with the limit as
// its cause.
func (l Limits) bound(ctx context.Context, spent time.Duration) (context.Context, context.CancelFunc) {
	if l.Timeout <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, l.Timeout-spent, l.timeUp())
}
