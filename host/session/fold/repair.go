package fold

import (
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Codes of results that the host wrote in place of a tool (L8, L9).
const (
	CodeOutcomeUnknown = "TOOL_OUTCOME_UNKNOWN"
	CodeNotStarted     = "TOOL_NOT_STARTED"
	CodeAborted        = "ABORTED_BEFORE_DISPATCH"
)

// What the model reads where a call has no result of its own. The texts say
// what it may do next.
const (
	textOutcomeUnknown = "Error: this call was started, but the run broke off before a result was stored. Whether it took effect is unknown. " +
		"Repeat it only if it merely reads or can safely be done twice; otherwise look at the actual state first, or ask the user."
	textNotStarted = "Error: the run broke off before this call was started, so it had no effect. Make the call again if it is still needed."
	textAborted    = "Error: tool call aborted before dispatch. It had no effect."
)

// Unanswered returns the result that stands in for a call without one.
func Unanswered(c Call) session.ToolResult {
	code, text := CodeNotStarted, textNotStarted
	if c.Started {
		code, text = CodeOutcomeUnknown, textOutcomeUnknown
	}
	return session.ToolResult{Message: llm.ToolResult(c.ID, text, true), Name: c.Name, Code: code}
}

// Aborted returns the result of a call that a cancel kept from starting (L8).
func Aborted(c Call) session.ToolResult {
	return session.ToolResult{Message: llm.ToolResult(c.ID, textAborted, true), Name: c.Name, Code: CodeAborted}
}

// Repair returns the events that close what a cut log left open: the questions
// that nobody waits for any more, a result for each unanswered call, the step, the
// turn (R1, L9). It is pure; a log that is not cut needs none.
func Repair(s *State) []session.Event {
	var events []session.Event
	for _, q := range s.Questions {
		if !q.Pending {
			events = append(events, session.New(session.KindQuestionAnswered, session.Answer{ID: q.ID, Outcome: session.OutcomeDeclined,
				Text: "the run broke off while the person was asked"}))
		}
	}
	if !s.Turn.Open {
		return events
	}
	turn, step := s.Turn.Ordinal, s.Turn.Step
	if s.Compaction.Armed != nil && len(s.Turn.Calls) > 0 {
		events = append(events, session.New(session.KindCompactionDropped, session.CompactionDropped{
			CallID: s.Compaction.Armed.CallID, Why: "the batch was cut short"}).At(turn, step))
	}
	for _, c := range s.Turn.Calls {
		events = append(events, session.New(session.KindToolResult, Unanswered(c)).At(turn, step).On(session.Op{Kind: session.OpAppend}))
	}
	if s.Turn.StepOpen {
		events = append(events, session.New(session.KindStepEnded, session.StepEnded{Repaired: true}).At(turn, step))
	}
	return append(events, session.New(session.KindTurnEnded, session.TurnEnded{
		Reason:   session.ReasonCancelled,
		Repaired: true,
		Error:    &session.Failure{Code: "INTERRUPTED", Message: "the run broke off in this turn"},
	}).At(turn, 0))
}
