package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/tureen-host/tureen/host/session"
)

// Chain asks the plugins in order, each only at the points that it declared.
// An error of a plugin whose row says "continue" is logged and passed over.
type Chain struct {
	hooks   map[Point][]Hooks
	mu      sync.Mutex
	resting map[Point]map[string]bool // plugins that are not asked at a point
	logger  *slog.Logger
}

// NewChain returns the chain of hooks, asked in that order.
func NewChain(logger *slog.Logger, hooks ...Hooks) *Chain {
	c := &Chain{hooks: map[Point][]Hooks{}, resting: map[Point]map[string]bool{BeforeStep: {}, BeforeTool: {}}, logger: logger}
	for _, h := range hooks {
		for _, p := range h.Points() {
			c.hooks[p] = append(c.hooks[p], h)
		}
	}
	return c
}

// Declared tells whether anybody listens at a point.
func (c *Chain) Declared(p Point) bool { return len(c.at(p)) > 0 }

func (c *Chain) at(p Point) []Hooks {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.resting[p]) == 0 {
		return c.hooks[p]
	}
	return slices.DeleteFunc(slices.Clone(c.hooks[p]), func(h Hooks) bool { return c.resting[p][h.Name()] })
}

func (c *Chain) rest(p Point, plugin string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resting[p][plugin] = true
}

// Rouse asks a plugin again that rests: its process is another one now, or its strategy
// put a compaction off, so that it may have something to say. It may be called from any
// goroutine.
func (c *Chain) Rouse(plugin string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resting := range c.resting {
		delete(resting, plugin)
	}
}

// Message is what a plugin says to the model.
type Message struct{ Plugin, Text string }

// BeforeStep collects the injections; the first reject ends the asking.
func (c *Chain) BeforeStep(ctx context.Context, at Where, pending []Pending) (injected []Message, reject string, err error) {
	err = c.each(BeforeStep, func(h Hooks) (bool, error) {
		d, err := h.BeforeStep(ctx, at, pending)
		if d.Rest && err == nil {
			c.rest(BeforeStep, h.Name())
		}
		for _, text := range d.Inject {
			injected = append(injected, Message{h.Name(), text})
		}
		reject = d.Reject
		return reject != "", err
	})
	return injected, reject, err
}

// BeforeTool asks until one denies. ask puts a question of a plugin to the person.
// The call is bound by what all of them allow. A plugin that fails denies the call,
// also where its row says "continue": nobody else would have judged it.
func (c *Chain) BeforeTool(ctx context.Context, at Where, call ToolCall, ask func(plugin string, q session.Question) (session.Answer, error)) (ToolDecision, error) {
	var all ToolDecision
	var unasked error // the person could not be asked: not the plugin's failure
	err := c.each(BeforeTool, func(h Hooks) (bool, error) {
		d, err := h.BeforeTool(ctx, at, call)
		if err == nil && d.Ask != nil && d.Deny == "" {
			answer, failed := ask(h.Name(), approval(*d.Ask, call))
			if unasked = failed; failed != nil {
				return true, nil
			}
			d, err = decided(ctx, at, call, h, answer)
		}
		if err != nil && h.OnFailure() == "continue" {
			c.logger.Warn("hook failed, the call is denied", "plugin", h.Name(), "error", err)
			d, err = ToolDecision{Deny: fmt.Sprintf("plugin %q has to judge this call and failed, so it was not run; try it once more, and if that does not help go on without it", h.Name())}, nil
		}
		if d.Rest && err == nil && d.Deny == "" {
			c.rest(BeforeTool, h.Name())
		}
		all.Deny, all.Confinement = d.Deny, all.Confinement.With(d.Confinement)
		return d.Deny != "", err
	})
	return all, errors.Join(unasked, err)
}

func approval(q session.Question, call ToolCall) session.Question {
	q.Kind, q.CallID = session.QuestionApproval, call.CallID
	return q
}

// decided asks h once more, with the person's answer.
func decided(ctx context.Context, at Where, call ToolCall, h Hooks, answer session.Answer) (ToolDecision, error) {
	call.Answer = &answer
	d, err := h.BeforeTool(ctx, at, call)
	if err == nil && d.Ask != nil && d.Deny == "" {
		d.Deny = fmt.Sprintf("plugin %q asked twice about the same call; it was not run", h.Name())
	}
	return d, err
}

// AfterTool lets each plugin see what the one before it made of the outcome.
func (c *Chain) AfterTool(ctx context.Context, at Where, outcome ToolOutcome) (_ ToolOutcome, contexts []Message, stop *Stop, err error) {
	err = c.each(AfterTool, func(h Hooks) (bool, error) {
		d, err := h.AfterTool(ctx, at, outcome)
		if err == nil && d.Replace != nil {
			outcome.Text = *d.Replace
		}
		for _, text := range d.Contexts {
			contexts = append(contexts, Message{h.Name(), text})
		}
		stop = cmp.Or(stop, d.Stop)
		return false, err
	})
	return outcome, contexts, stop, err
}

// TurnStopping collects the messages that keep the turn open, until one stops it.
func (c *Chain) TurnStopping(ctx context.Context, at Where) ([]Message, *Stop, error) {
	var messages []Message
	var stop *Stop
	err := c.each(TurnStopping, func(h Hooks) (bool, error) {
		d, err := h.TurnStopping(ctx, at)
		if d.Continue != "" {
			messages = append(messages, Message{h.Name(), d.Continue})
		}
		stop = d.Stop
		return stop != nil, err
	})
	return messages, stop, err
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
func (c *Chain) TurnEnded(ctx context.Context, at Where, ended session.TurnEnded) error {
	return c.each(TurnEnded, func(h Hooks) (bool, error) { return false, h.TurnEnded(ctx, at, ended) })
}

// Idleness is what all plugins say of a session with nothing owed.
type Idleness struct {
	Waits      []string
	FollowUps  []Message // they count only while nobody waits
	Unfinished []string
}

// Idle asks everybody.
func (c *Chain) Idle(ctx context.Context, at Where) (Idleness, error) {
	var all Idleness
	err := c.each(Idle, func(h Hooks) (bool, error) {
		d, err := h.Idle(ctx, at)
		if d.Wait != "" {
			all.Waits = append(all.Waits, d.Wait)
		}
		if d.FollowUp != "" {
			all.FollowUps = append(all.FollowUps, Message{h.Name(), d.FollowUp})
		}
		if d.Unfinished != "" {
			all.Unfinished = append(all.Unfinished, d.Unfinished)
		}
		return false, err
	})
	return all, err
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
	for _, h := range c.at(p) {
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
