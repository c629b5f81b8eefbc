package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/tureen-host/tureen/host/session"
)

// Chain asks the plugins in order, each only at the points that it declared.
// An error of a plugin whose row says "continue" is logged and passed over.
type Chain struct {
	hooks  map[Point][]Hooks
	logger *slog.Logger
}

// NewChain returns the chain of hooks, asked in that order.
func NewChain(logger *slog.Logger, hooks ...Hooks) *Chain {
	c := &Chain{hooks: map[Point][]Hooks{}, logger: logger}
	for _, h := range hooks {
		for _, p := range h.Points() {
			c.hooks[p] = append(c.hooks[p], h)
		}
	}
	return c
}

// Declared tells whether anybody listens at a point.
func (c *Chain) Declared(p Point) bool { return len(c.hooks[p]) > 0 }

// BeforeStep collects the injections; the first reject ends the asking.
func (c *Chain) BeforeStep(ctx context.Context, at Where, pending []string) (StepDecision, error) {
	var all StepDecision
	err := c.each(BeforeStep, func(h Hooks) (bool, error) {
		d, err := h.BeforeStep(ctx, at, pending)
		all.Inject, all.Reject = append(all.Inject, d.Inject...), d.Reject
		return d.Reject != "", err
	})
	return all, err
}

// BeforeTool asks until one denies.
func (c *Chain) BeforeTool(ctx context.Context, at Where, callID, name string, arguments json.RawMessage) (ToolDecision, error) {
	var decision ToolDecision
	err := c.each(BeforeTool, func(h Hooks) (bool, error) {
		d, err := h.BeforeTool(ctx, at, callID, name, arguments)
		decision = d
		return d.Deny != "", err
	})
	return decision, err
}

// AfterTool lets each plugin see what the one before it made of the outcome.
func (c *Chain) AfterTool(ctx context.Context, at Where, outcome ToolOutcome) (ToolOutcome, []string, error) {
	var contexts []string
	err := c.each(AfterTool, func(h Hooks) (bool, error) {
		d, err := h.AfterTool(ctx, at, outcome)
		if err == nil && d.Replace != nil {
			outcome.Text = *d.Replace
		}
		contexts = append(contexts, d.Contexts...)
		return false, err
	})
	return outcome, contexts, err
}

// TurnStopping collects the messages that keep the turn open.
func (c *Chain) TurnStopping(ctx context.Context, at Where) ([]string, error) {
	var messages []string
	err := c.each(TurnStopping, func(h Hooks) (bool, error) {
		d, err := h.TurnStopping(ctx, at)
		if d.Continue != "" {
			messages = append(messages, d.Continue)
		}
		return false, err
	})
	return messages, err
}

// RequestFailed asks until one wants the step repeated.
func (c *Chain) RequestFailed(ctx context.Context, at Where, failure session.Failure, attempt int) (bool, error) {
	retry := false
	err := c.each(RequestFailed, func(h Hooks) (bool, error) {
		d, err := h.RequestFailed(ctx, at, failure, attempt)
		retry = d.Retry
		return retry, err
	})
	return retry, err
}

// TurnEnded tells everybody.
func (c *Chain) TurnEnded(ctx context.Context, at Where, reason session.Reason) error {
	return c.each(TurnEnded, func(h Hooks) (bool, error) { return false, h.TurnEnded(ctx, at, reason) })
}

// Idle tells everybody.
func (c *Chain) Idle(ctx context.Context, at Where) error {
	return c.each(Idle, func(h Hooks) (bool, error) { return false, h.Idle(ctx, at) })
}

// FailedError is a plugin's failure at a point; it ends the turn (L15).
type FailedError struct {
	Plugin string
	Point  Point
	Err    error
}

func (e *FailedError) Error() string {
	return fmt.Sprintf("hook %s of plugin %q: %v", e.Point, e.Plugin, e.Err)
}
func (e *FailedError) Unwrap() error { return e.Err }

// FailureCode is how the log and the output name it.
func (e *FailedError) FailureCode() string { return "PLUGIN_HOOK_FAILED" }

func (c *Chain) each(p Point, ask func(Hooks) (stop bool, err error)) error {
	for _, h := range slices.Clone(c.hooks[p]) {
		stop, err := ask(h)
		if err != nil {
			if h.OnFailure() == "continue" {
				c.logger.Warn("hook failed, going on", "plugin", h.Name(), "point", string(p), "error", err)
				continue
			}
			return &FailedError{Plugin: h.Name(), Point: p, Err: err}
		}
		if stop {
			return nil
		}
	}
	return nil
}
