package fold

import (
	"slices"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// kindReset is the compaction kind that opens a new window.
const kindReset = "reset"

// folds holds, for each kind that changes more than the surface, how.
var folds = map[session.Kind]func(*State, session.Event) error{
	session.KindSessionCreated: with(func(s *State, _ session.Event, p session.Created) { s.Created, s.Directory = p, p.Workspace }),
	session.KindInboxQueued: with(func(s *State, e session.Event, p session.InboxItem) {
		s.Inbox = append(s.Inbox, Item{e.Seq, p})
	}),
	session.KindInboxClaimed: with(func(s *State, _ session.Event, p session.InboxClaimed) {
		s.Inbox = slices.DeleteFunc(s.Inbox, func(it Item) bool { return slices.Contains(p.Items, it.Seq) })
	}),
	session.KindTurnStarted: func(s *State, e session.Event) error {
		s.Turn = Turn{Ordinal: e.Turn, Open: true, Last: s.Turn.Last}
		return nil
	},
	session.KindTurnEnded: with(func(s *State, _ session.Event, p session.TurnEnded) {
		s.Turn.Open, s.Turn.StepOpen, s.Turn.Calls = false, false, nil
		s.Turn.Last, s.Turn.Error = p.Reason, p.Error
	}),
	session.KindStepStarted: func(s *State, e session.Event) error {
		s.Turn.Step, s.Turn.StepOpen, s.Turn.Calls = e.Step, true, nil
		s.Totals.Steps++
		return nil
	},
	session.KindStepEnded: func(s *State, _ session.Event) error {
		s.Turn.StepOpen = false
		return nil
	},
	session.KindMessageSystem: func(*State, session.Event) error { return nil },
	session.KindMessageUser: with(func(s *State, _ session.Event, p session.Message) {
		if p.Source == session.SourceContext && p.From == "" {
			s.Context = p.Message.Text()
		}
	}),
	session.KindMessageAssistant: with(applyAssistant),
	session.KindAttempt: with(func(s *State, _ session.Event, p session.Attempt) {
		s.count(p.Attempt)
		s.Totals.Usage = s.Totals.Usage.Add(p.Usage)
	}),
	session.KindToolStarted: with(func(s *State, _ session.Event, p session.ToolStarted) {
		for i := range s.Turn.Calls {
			if s.Turn.Calls[i].ID == p.CallID {
				s.Turn.Calls[i].Started = true
			}
		}
	}),
	session.KindToolResult: with(func(s *State, _ session.Event, p session.ToolResult) {
		s.Turn.Calls = slices.DeleteFunc(s.Turn.Calls, func(c Call) bool { return c.ID == p.Message.CallID })
	}),
	session.KindRequestHeader: with(func(s *State, e session.Event, p session.Header) {
		s.Header, s.HeaderSeq = &p, e.Seq
		s.Anchor = Anchor{}
	}),
	session.KindModelCall: with(func(s *State, _ session.Event, p session.ModelCall) {
		s.Totals.ModelCalls[p.Purpose]++
		s.Totals.Usage = s.Totals.Usage.Add(p.Usage)
	}),
	session.KindCompactionArmed: with(func(s *State, _ session.Event, p session.CompactionArmed) { s.Compaction.Armed = &p }),
	session.KindCompactionAsked: with(func(s *State, _ session.Event, p session.CompactionAsked) { s.Compaction.Asked = &p }),
	session.KindCompactionDropped: with(func(s *State, _ session.Event, p session.CompactionDropped) {
		if p.CallID == "" {
			s.Compaction.Asked = nil
			return
		}
		s.Compaction.Armed = nil
	}),
	session.KindCompactionEnded: with(func(s *State, e session.Event, p session.CompactionEnded) {
		c := &s.Compaction
		c.Count++
		if p.Kind == kindReset {
			c.Window++
		}
		c.Armed, c.Marks, c.LastSeq = nil, nil, e.Seq
		c.Failures++
		if p.Relieved {
			c.Failures = 0
		}
		if p.Trigger == session.TriggerManual {
			c.Asked = nil
		}
		s.Anchor = Anchor{}
		s.keepContext()
	}),
	session.KindCompactionFailed: with(func(s *State, _ session.Event, p session.CompactionFailed) {
		s.Compaction.Failures++
		if p.Trigger == session.TriggerManual {
			s.Compaction.Asked = nil
		}
		if p.Trigger == session.TriggerRequested {
			s.Compaction.Armed = nil
		}
	}),
	session.KindMarkShown: with(func(s *State, _ session.Event, p session.MarkShown) {
		s.Compaction.Marks = append(s.Compaction.Marks, p.ID)
	}),
	session.KindBreaker: with(func(s *State, _ session.Event, p session.Breaker) {
		s.Compaction.Breaker = p.Open
		if !p.Open {
			s.Compaction.Failures = 0
		}
	}),
	session.KindQuestionAsked: with(func(s *State, _ session.Event, p session.Question) {
		s.Questions = append(s.Questions, Question{Question: p})
	}),
	session.KindQuestionAnswered: with(func(s *State, _ session.Event, p session.Answer) {
		s.Questions = slices.DeleteFunc(s.Questions, func(q Question) bool { return q.ID == p.ID && p.Outcome != session.OutcomePending })
		for i := range s.Questions {
			s.Questions[i].Pending = s.Questions[i].Pending || s.Questions[i].ID == p.ID
		}
	}),
	session.KindDirectoryChanged: with(func(s *State, _ session.Event, p session.DirectoryChanged) { s.Directory = p.To }),
	session.KindChildSpawned: with(func(s *State, _ session.Event, p session.ChildSpawned) {
		s.child(p.ID, func(c *session.Child) { c.Label, c.Depth, c.State = p.Label, p.Depth, session.StateRunning })
	}),
	session.KindChildSettled: with(func(s *State, _ session.Event, p session.ChildSettled) {
		s.child(p.ID, func(c *session.Child) {
			c.State, c.Reason, c.Usage = session.StateSettled, p.Reason, c.Usage.Add(p.Usage)
		})
	}),
	session.KindReport: with(func(s *State, _ session.Event, p session.Report) { s.Report = p.Data }),
	session.KindRecord: with(func(s *State, e session.Event, p session.Record) {
		s.Records[p.Plugin+"/"+p.Kind+"/"+p.Key] = e.Seq
	}),
}

// with decodes the payload before it folds it.
func with[T any](apply func(*State, session.Event, T)) func(*State, session.Event) error {
	return func(s *State, e session.Event) error {
		p, err := session.Decode[T](e)
		if err != nil {
			return err
		}
		apply(s, e, p)
		return nil
	}
}

func applyAssistant(s *State, e session.Event, p session.Assistant) {
	s.count(p.Attempt)
	s.Totals.Usage = s.Totals.Usage.Add(p.Usage)
	s.Turn.Calls = nil
	for _, c := range p.Message.Calls() {
		s.Turn.Calls = append(s.Turn.Calls, Call{ID: c.ID, Name: c.Name})
	}
	s.anchor(p.Usage)
}

// child changes a child, which is new where its id is.
func (s *State) child(id string, change func(*session.Child)) {
	for i := range s.Children {
		if s.Children[i].ID == id {
			change(&s.Children[i])
			return
		}
	}
	c := session.Child{ID: id}
	change(&c)
	s.Children = append(s.Children, c)
}

func (s *State) count(attempt int) {
	if attempt > 0 {
		s.Totals.Retries++
		return
	}
	s.Totals.ModelCalls[llm.PurposeMain]++
}

// keepContext forgets a runtime context that left the surface.
func (s *State) keepContext() {
	for i := len(s.Surface.Nodes) - 1; i >= 0; i-- {
		if n := s.Surface.Nodes[i]; n.Source == session.SourceContext && n.From == "" {
			s.Context = n.Message.Text()
			return
		}
	}
	s.Context = ""
}
