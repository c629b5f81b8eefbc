package fold

import (
	"cmp"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Codes of results that the host wrote in place of a tool (L8, L9).
const (
	CodeOutcomeUnknown = "TOOL_OUTCOME_UNKNOWN"
	CodeNotStarted     = "TOOL_NOT_STARTED"
	CodeAborted        = "ABORTED_BEFORE_DISPATCH"
)

const textAborted = "Error: tool call aborted before dispatch. It had no effect."

// closing says how the events are worded that close what a log left open. The texts
// of calls are what the model reads where a call has no result of its own; they say
// what it may do next.
type closing struct {
	started  string // of a call that was started
	waiting  string // of one that the log does not show started
	question string // why nobody waits for its answer
	batch    string // why a compaction that the batch asked for is not made
	failure  session.Failure
	reason   session.Reason // of the turn's end, "" = cancelled
	unsure   bool           // what the log does not show started may have been
}

var brokeOff = closing{
	started: "Error: this call was started, but the run broke off before a result was stored. Whether it took effect is unknown. " +
		"Repeat it only if it merely reads or can safely be done twice; otherwise look at the actual state first, or ask the user.",
	waiting:  "Error: the run broke off before this call was started, so it had no effect. Make the call again if it is still needed.",
	question: "the run broke off while the person was asked",
	batch:    "the batch was cut short",
	failure:  session.Failure{Code: "INTERRUPTED", Message: "the run broke off in this turn"},
}

// Unanswered returns the result that stands in for a call without one.
func Unanswered(c Call) session.ToolResult { return brokeOff.result(c) }

// Aborted returns the result of a call that a cancel kept from starting (L8).
func Aborted(c Call) session.ToolResult {
	return session.ToolResult{Message: llm.ToolResult(c.ID, textAborted, true), Name: c.Name, Code: CodeAborted}
}

// Repair returns the events that close what a cut log left open: the questions
// that nobody waits for any more, a result for each unanswered call, the step, the
// turn (R1, L9). It is pure; a log that is not cut needs none.
func Repair(s *State) []session.Event {
	return brokeOff.open(s)
}

// Repaired returns the state that Repair's events lead to. s stays as it is.
func (s *State) Repaired() (*State, error) {
	c := s.clone()
	for _, e := range Repair(s) {
		e.Seq = c.Head + 1
		if err := c.Apply(e); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// open closes the questions that nobody waits for any more, and the open turn.
func (c closing) open(s *State) []session.Event {
	var events []session.Event
	for _, q := range s.Questions {
		if !q.Pending {
			events = append(events, c.declined(q))
		}
	}
	return append(events, c.turn(s)...)
}

// result stands in for that of a call.
func (c closing) result(call Call) session.ToolResult {
	code, text := CodeNotStarted, c.waiting
	if call.Started || c.unsure {
		code = CodeOutcomeUnknown
	}
	if call.Started {
		text = c.started
	}
	return session.ToolResult{Message: llm.ToolResult(call.ID, text, true), Name: call.Name, Code: code}
}

func (c closing) declined(q Question) session.Event {
	return session.New(session.KindQuestionAnswered, session.Answer{ID: q.ID, Outcome: session.OutcomeDeclined, Text: c.question})
}

// turn closes the open turn, where there is one.
func (c closing) turn(s *State) []session.Event {
	if !s.Turn.Open {
		return nil
	}
	events, failure := c.step(s), c.failure
	return append(events, session.New(session.KindTurnEnded, session.TurnEnded{
		Reason: cmp.Or(c.reason, session.ReasonCancelled), Repaired: true, Error: &failure}).At(s.Turn.Ordinal, 0))
}

// step closes the open step, where there is one, and answers what it left open.
func (c closing) step(s *State) []session.Event {
	var events []session.Event
	turn, step := s.Turn.Ordinal, s.Turn.Step
	if s.Compaction.Armed != nil && len(s.Turn.Calls) > 0 {
		events = append(events, session.New(session.KindCompactionDropped, session.CompactionDropped{
			CallID: s.Compaction.Armed.CallID, Why: c.batch}).At(turn, step))
	}
	for _, call := range s.Turn.Calls {
		events = append(events, session.New(session.KindToolResult, c.result(call)).At(turn, step).On(session.Op{Kind: session.OpAppend}))
	}
	if s.Turn.StepOpen {
		events = append(events, session.New(session.KindStepEnded, session.StepEnded{Repaired: true}).At(turn, step))
	}
	return events
}
