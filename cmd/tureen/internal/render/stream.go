package render

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Stream writes a run as JSON lines, one event a line. It is safe for concurrent
// use. Once a line cannot be written, it writes nothing more.
type Stream struct {
	mu  sync.Mutex
	w   io.Writer
	seq int
	err error
}

// NewStream makes a stream onto w.
func NewStream(w io.Writer) *Stream { return &Stream{w: w} }

// Start writes session.started.
func (s *Stream) Start(started SessionStarted) {
	s.write(time.Now(), "session.started", started)
}

// End writes run.completed and returns the first error of the stream.
func (s *Stream) End(r host.Result) error {
	s.write(time.Now(), "run.completed", r)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Delta writes nothing: items are whole.
func (s *Stream) Delta(llm.BlockKind, string) {}

// Progress writes nothing.
func (s *Stream) Progress(string, string) {}

// Event writes what a log event means to a reader of the stream.
func (s *Stream) Event(e session.Event, m session.Meter) {
	if err := s.event(e, m); err != nil {
		s.write(e.Time, "warning", Warning{session.Warning{Code: "EVENT_UNREADABLE", Message: err.Error()}})
	}
}

func (s *Stream) event(e session.Event, m session.Meter) error {
	switch e.Kind {
	case session.KindTurnStarted:
		s.write(e.Time, "turn.started", TurnStarted{e.Turn})
	case session.KindStepStarted:
		s.write(e.Time, "step.started", StepStarted{e.Turn, e.Step})
	case session.KindStepEnded:
		s.write(e.Time, "context.usage", ContextUsage{e.Turn, e.Step, m.Measured, m.Window, m.ResetAt, m.Fixed, m.Source, m.Ordinal})
	case session.KindMessageUser, session.KindMessageAssistant, session.KindToolResult:
		items, err := items(e)
		for _, it := range items {
			s.write(e.Time, "item.completed", ItemCompleted{e.Turn, e.Step, it})
		}
		return err
	case session.KindAttempt:
		p, err := session.Decode[session.Attempt](e)
		s.write(e.Time, "request.failed", RequestFailed{e.Turn, e.Step, p.Attempt, p.Code, p.Message, p.RetryAfter})
		return err
	case session.KindCompactionEnded:
		p, err := session.Decode[session.CompactionEnded](e)
		s.write(e.Time, "compaction.completed", CompactionCompleted{e.Turn, e.Step, host.CompactionOf(p), p.Relieved})
		return err
	case session.KindCompactionFailed:
		p, err := session.Decode[session.CompactionFailed](e)
		s.write(e.Time, "compaction.failed", CompactionFailed{e.Turn, e.Step, p})
		return err
	case session.KindCompactionPostponed:
		p, err := session.Decode[session.CompactionPostponed](e)
		s.write(e.Time, "compaction.postponed", CompactionPostponed{e.Turn, e.Step, p.Strategy, p.Trigger, p.Tokens})
		return err
	case session.KindQuestionAsked, session.KindQuestionAnswered, session.KindCommandRun, session.KindDirectoryChanged,
		session.KindChildSpawned, session.KindChildSettled, session.KindReport:
		name, payload, err := person(e)
		s.write(e.Time, name, payload)
		return err
	case session.KindCompactionUndone, session.KindCompactionRest, session.KindUndoRefused, session.KindSessionArchived:
		name, payload, err := asked(e)
		s.write(e.Time, name, payload)
		return err
	case session.KindPlugin:
		p, err := session.Decode[session.PluginState](e)
		s.write(e.Time, "plugin.state", PluginState{p})
		return err
	case session.KindWarning:
		p, err := session.Decode[session.Warning](e)
		s.write(e.Time, "warning", Warning{p})
		return err
	case session.KindTurnEnded:
		p, err := session.Decode[session.TurnEnded](e)
		name := "turn.failed"
		if p.Reason == session.ReasonCompleted {
			name = "turn.completed"
		}
		s.write(e.Time, name, TurnEnded{e.Turn, p.Reason, p.Error})
		return err
	}
	return nil
}

// person is the line of an event that comes from a person, a subagent or a tool's
// effect.
func person(e session.Event) (name string, payload any, err error) {
	switch e.Kind {
	case session.KindQuestionAsked:
		p, err := session.Decode[session.Question](e)
		return "question.asked", QuestionAsked{e.Turn, e.Step, p}, err
	case session.KindQuestionAnswered:
		p, err := session.Decode[session.Answer](e)
		return "question.answered", QuestionAnswered{e.Turn, e.Step, p}, err
	case session.KindCommandRun:
		p, err := session.Decode[session.CommandRun](e)
		return "command.run", CommandRun{p}, err
	case session.KindDirectoryChanged:
		p, err := session.Decode[session.DirectoryChanged](e)
		return "directory.changed", DirectoryChanged{e.Turn, e.Step, p}, err
	case session.KindChildSpawned:
		p, err := session.Decode[session.ChildSpawned](e)
		return "child.spawned", ChildSpawned{e.Turn, e.Step, p}, err
	case session.KindChildSettled:
		p, err := session.Decode[session.ChildSettled](e)
		return "child.settled", ChildSettled{p}, err
	}
	p, err := session.Decode[session.Report](e)
	if len(p.Data) == 0 {
		p.Data = json.RawMessage("null")
	}
	return "report", Report{e.Turn, e.Step, p}, err
}

// asked is the line of an event that a person asked for.
func asked(e session.Event) (name string, payload any, err error) {
	switch e.Kind {
	case session.KindCompactionUndone:
		p, err := session.Decode[session.CompactionUndone](e)
		return "compaction.undone", CompactionUndone{p.Ordinal, p.From}, err
	case session.KindCompactionRest:
		p, err := session.Decode[session.CompactionRest](e)
		return "compaction.rest", CompactionRest{p}, err
	case session.KindUndoRefused:
		p, err := session.Decode[session.UndoRefused](e)
		return "undo.refused", UndoRefused{p}, err
	}
	p, err := session.Decode[session.Archived](e)
	return "session.archived", SessionArchived{p.Archived, p.From}, err
}

// items are the message, the calls or the result that an event put on the surface.
func items(e session.Event) ([]Item, error) {
	switch e.Kind {
	case session.KindMessageUser:
		p, err := session.Decode[session.Message](e)
		if err != nil || p.Message == nil {
			return nil, err
		}
		return []Item{{Type: "message", Role: string(p.Message.Role), Source: string(p.Source), Text: p.Message.Text()}}, nil
	case session.KindToolResult:
		p, err := session.Decode[session.ToolResult](e)
		if err != nil || p.Message == nil {
			return nil, err
		}
		return []Item{{Type: "tool_result", CallID: p.Message.CallID, Name: p.Name, Text: p.Message.Text(), IsError: p.Message.IsError, Code: p.Code, Millis: p.Millis}}, nil
	}
	p, err := session.Decode[session.Assistant](e)
	if err != nil || p.Message == nil {
		return nil, err
	}
	var out []Item
	if text, reasoning := p.Message.Text(), p.Message.Reasoning(); text != "" || reasoning != "" {
		out = append(out, Item{Type: "message", Role: string(llm.RoleAssistant), Text: text, Reasoning: reasoning, Millis: p.Millis})
	}
	for _, c := range p.Message.Calls() {
		out = append(out, Item{Type: "tool_call", CallID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return out, nil
}

// write adds one line. A payload is a JSON object.
func (s *Stream) write(at time.Time, name string, payload any) {
	body, err := json.Marshal(payload)
	if err != nil {
		panic(fmt.Sprintf("render: payload of %s: %v", name, err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.seq++
	head := fmt.Appendf(nil, `{"v":%d,"seq":%d,"ts":%q,"type":%q,`, StreamVersion, s.seq, at.UTC().Format(time.RFC3339Nano), name)
	_, s.err = s.w.Write(append(append(head, body[1:]...), '\n'))
}
