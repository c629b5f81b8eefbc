package notesoup

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
)

//go:embed prompts/lastwords.md
var lastWordsText string

// lastWords tells whether a reset that nobody asked for is put off by one step: in
// a window in which nothing was saved.
func (s *Strategy) lastWords(in compaction.Input, saved []string) bool {
	forced := in.Trigger == session.TriggerPressure || in.Trigger == session.TriggerStopping
	return s.config.LastWords && in.MayPostpone && forced && len(saved) == 0
}

// postpone is the proposal that grants the step.
func (s *Strategy) postpone(in compaction.Input) compaction.Proposal {
	s.mu.Lock()
	s.granted[in.Session] = true
	s.mu.Unlock()
	return compaction.Proposal{Revision: in.Revision, Kind: compaction.KindReset, Postpone: true,
		Steer: []string{strings.TrimSpace(lastWordsText)}, Continue: in.Trigger == session.TriggerStopping}
}

// Closing tells whether a session is in the step of its last words. The log says
// so; it is read only where a step was granted, and once after a start.
func (s *Strategy) Closing(ctx context.Context, id string, log session.Access) (bool, error) {
	if !s.config.LastWords {
		return false, nil
	}
	s.mu.Lock()
	granted, known := s.granted[id]
	s.mu.Unlock()
	if known && !granted {
		return false, nil
	}
	now, err := closing(ctx, log)
	if err != nil {
		return false, fmt.Errorf("notesoup: find in the log whether the window is closing: %w", err)
	}
	s.mu.Lock()
	s.granted[id] = now
	s.mu.Unlock()
	return now, nil
}

// closing tells whether the newest step is the one that a compaction was put off by.
func closing(ctx context.Context, log session.Access) (bool, error) {
	first := true
	kinds := []session.Kind{session.KindCompactionPostponed, session.KindStepStarted, session.KindCompactionStarted}
	for e, err := range log.Events(ctx, session.Query{Kinds: kinds, Reverse: true, Limit: 2}) {
		switch {
		case err != nil:
			return false, err
		case !first:
			return e.Kind == session.KindCompactionPostponed, nil
		case e.Kind != session.KindStepStarted:
			return false, nil
		}
		first = false
	}
	return false, nil
}
