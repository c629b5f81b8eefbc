package summary

import (
	"errors"
	"fmt"

	"github.com/tureen-host/tureen/compaction"
)

var (
	// ErrEmpty: the model wrote no text.
	ErrEmpty = errors.New("summary: the model wrote no text")
	// ErrCalls: the model called a tool instead.
	ErrCalls = errors.New("summary: the model called a tool instead of writing the summary")
	// ErrTruncated: the answer ran into its output cap.
	ErrTruncated = errors.New("summary: the answer was cut off at its output cap")
	// ErrNotSmaller: the checkpoint would take no less room than what it replaces.
	ErrNotSmaller = errors.New("summary: the checkpoint is not smaller than what it replaces")
	// ErrWindow: the conversation does not fit the model that is to condense it, in
	// parts neither. No call was made about what does not fit.
	ErrWindow = errors.New("summary: the conversation does not fit the model that condenses it")
	// ErrModelWindow: the window of the summary's own model is not known.
	ErrModelWindow = errors.New("summary: the window of compaction.summary.model is not known")
)

var errStages = fmt.Errorf("it would take more than %d parts", maxStages)

// largeError is a message, or a batch of calls with its results, that fits no part.
type largeError struct {
	node         int64
	tokens, room int
}

func (e *largeError) Error() string {
	if e.room <= 0 {
		return "the system prompt, the tools and the instruction leave it no room"
	}
	return fmt.Sprintf("what begins with event %d takes about %d tokens at the least, and there is room for %d at a time", e.node, e.tokens, e.room)
}

// tooLarge names both windows and the key to change.
func (s *Strategy) tooLarge(in compaction.Input, g gauge, why error) error {
	if s.config.Model == "" {
		return fmt.Errorf("%w: its window has %d tokens, as the session's has %d; %w: use a model with a larger window, or name one as compaction.summary.model, with its compaction.summary.context_window",
			ErrWindow, g.window, in.Budget.Window, why)
	}
	return fmt.Errorf("%w: the window of %s has %d tokens, the session's has %d; %w: name a model with a larger window as compaction.summary.model, or correct compaction.summary.context_window",
		ErrWindow, s.config.Model, g.window, in.Budget.Window, why)
}
