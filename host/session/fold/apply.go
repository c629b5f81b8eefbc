package fold

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// kindReset is the compaction kind that opens a new window.
const kindReset = "reset"

// folds holds, for each kind that changes more than the surface, how: what it
// returns changes the state, after the surface, and cannot fail.
var folds = map[session.Kind]func(*State, session.Event) (func(), error){
	session.KindSessionCreated: with(func(s *State, _ session.Event, p session.Created) { s.Created, s.Directory = p, p.Workspace }),
	session.KindInboxQueued: with(func(s *State, e session.Event, p session.InboxItem) {
		s.Inbox = append(s.Inbox, Item{e.Seq, p})
	}),
	session.KindInboxClaimed:    with(func(s *State, _ session.Event, p session.InboxClaimed) { s.claim(p.Items) }),
	session.KindSessionOpened:   with(applyOpened),
	session.KindSessionArchived: with(func(s *State, _ session.Event, p session.Archived) { s.Archived = p.Archived }),
	session.KindTurnStarted: bare(func(s *State, e session.Event) {
		s.Turn = Turn{Ordinal: e.Turn, Open: true, Last: s.Turn.Last}
	}),
	session.KindTurnEnded: with(func(s *State, _ session.Event, p session.TurnEnded) {
		s.Turn.Open, s.Turn.StepOpen, s.Turn.Calls = false, false, nil
		s.Turn.Last, s.Turn.Error = p.Reason, p.Error
	}),
	session.KindStepStarted: bare(func(s *State, e session.Event) {
		s.Turn.Step, s.Turn.StepOpen, s.Turn.Calls = e.Step, true, nil
		if p := s.Compaction.Postponed; p != nil {
			s.Compaction.Postponed = &Postponed{p.CompactionPostponed, true, p.Begun}
		}
		s.Totals.Steps++
	}),
	session.KindStepEnded: bare(func(s *State, _ session.Event) { s.Turn.StepOpen = false }),
	session.KindMessageUser: spoken(func(p session.Message) *llm.Message { return p.Message }, func(s *State, _ session.Event, p session.Message) {
		if p.Source == session.SourceContext && p.From == "" {
			s.Context = p.Message.Text()
		}
	}),
	session.KindMessageAssistant: spoken(func(p session.Assistant) *llm.Message { return p.Message }, applyAssistant),
	session.KindAttempt: with(func(s *State, _ session.Event, p session.Attempt) {
		s.count(p.Attempt, p.Purpose)
		s.Totals.Usage = s.Totals.Usage.Add(p.Usage)
		s.accept(p.Usage)
		s.refused(p.Counted)
	}),
	session.KindToolStarted: with(func(s *State, _ session.Event, p session.ToolStarted) {
		for i := range s.Turn.Calls {
			if s.Turn.Calls[i].ID == p.CallID {
				s.Turn.Calls[i].Started = true
			}
		}
	}),
	session.KindToolResult: spoken(func(p session.ToolResult) *llm.Message { return p.Message }, func(s *State, e session.Event, p session.ToolResult) {
		if !appends(e) { // a result that was cut answers nothing anew
			return
		}
		s.Turn.Calls = slices.DeleteFunc(s.Turn.Calls, func(c Call) bool { return c.ID == p.Message.CallID })
	}),
	session.KindRequestHeader: with(func(s *State, e session.Event, p session.Header) {
		if h := s.Header; h != nil && (h.Model != p.Model || h.ContextWindow != p.ContextWindow) {
			s.Compaction.Rest = false
		}
		if h := s.Header; h != nil && (h.Provider != p.Provider || h.Model != p.Model || h.ContextWindow != p.ContextWindow) {
			s.Learned = nil
		}
		if h := s.Header; h != nil && (h.Provider != p.Provider || h.Model != p.Model) {
			s.Ratio, s.CutsPrompt, s.Accepted = 0, false, 0
		}
		s.Header, s.HeaderSeq = &p, e.Seq
		s.Anchor, s.Prompt = Anchor{}, Anchor{}
	}),
	session.KindWindowLearned: with(func(s *State, _ session.Event, p session.WindowLearned) { s.Learned = &p }),
	session.KindModelCall: with(func(s *State, _ session.Event, p session.ModelCall) {
		s.Totals.ModelCalls[p.Purpose]++
		s.Totals.Usage = s.Totals.Usage.Add(p.Usage)
	}),
	session.KindCompactionArmed: with(func(s *State, _ session.Event, p session.CompactionArmed) { s.Compaction.Armed = &p }),
	session.KindCompactionPostponed: with(func(s *State, _ session.Event, p session.CompactionPostponed) {
		s.Compaction.Postponed = &Postponed{CompactionPostponed: p}
	}),
	session.KindCompactionAsked: with(func(s *State, _ session.Event, p session.CompactionAsked) { s.Compaction.Asked = &p }),
	session.KindCompactionDropped: with(func(s *State, _ session.Event, p session.CompactionDropped) {
		if p.CallID == "" {
			s.Compaction.Asked = nil
			return
		}
		s.Compaction.Armed = nil
	}),
	session.KindCompactionStarted: with(applyStarted),
	session.KindCompactionEnded:   with(applyEnded),
	session.KindCompactionUndone:  checked(undoes, applyUndone),
	session.KindCompactionRest:    with(func(s *State, _ session.Event, p session.CompactionRest) { s.Compaction.Rest = p.Rest }),
	session.KindUndoAsked:         with(func(s *State, _ session.Event, p session.UndoAsked) { s.Compaction.UndoAsked = &p }),
	session.KindUndoRefused:       bare(func(s *State, _ session.Event) { s.Compaction.UndoAsked = nil }),
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
	session.KindRecord: with(applyRecord),
}

// with decodes the payload before it folds it.
func with[T any](apply func(*State, session.Event, T)) func(*State, session.Event) (func(), error) {
	return checked(func(*State, session.Event, T) error { return nil }, apply)
}

// bare folds without the payload.
func bare(apply func(*State, session.Event)) func(*State, session.Event) (func(), error) {
	return func(s *State, e session.Event) (func(), error) { return func() { apply(s, e) }, nil }
}

// spoken is with, for a payload that is nothing without its message.
func spoken[T any](message func(T) *llm.Message, apply func(*State, session.Event, T)) func(*State, session.Event) (func(), error) {
	return checked(func(_ *State, e session.Event, p T) error {
		if message(p) == nil {
			return fmt.Errorf("event %d: the %s payload has no message", e.Seq, e.Kind)
		}
		return nil
	}, apply)
}

// checked is with, for what may not stand in every state.
func checked[T any](check func(*State, session.Event, T) error, apply func(*State, session.Event, T)) func(*State, session.Event) (func(), error) {
	return func(s *State, e session.Event) (func(), error) {
		p, err := session.Decode[T](e)
		if err == nil {
			err = check(s, e, p)
		}
		return func() { apply(s, e, p) }, err
	}
}

// applyOpened ends the rest after an undo where another profile or strategy is in use,
// and forgets a learned window where the person names one.
func applyOpened(s *State, _ session.Event, p session.Opened) {
	if p.Window > 0 {
		s.Learned = nil
	}
	for _, use := range []struct {
		known *string
		now   string
	}{{&s.Profile, p.Profile}, {&s.Strategy, p.Strategy}} {
		if use.now == "" {
			continue
		}
		if *use.known != "" && *use.known != use.now {
			s.Compaction.Rest = false
		}
		*use.known = use.now
	}
}

// applyRecord takes the newest of a key; one with null data stands for none.
func applyRecord(s *State, e session.Event, p session.Record) {
	key := p.Plugin + "/" + p.Kind + "/" + p.Key
	if b := s.Compaction.Before; b != nil && b.Ended == 0 {
		b.record(key, s.Records[key], e.Seq)
	}
	if bytes.Equal(bytes.TrimSpace(p.Data), []byte("null")) || len(p.Data) == 0 {
		delete(s.Records, key)
		return
	}
	s.Records[key] = e.Seq
}

func applyAssistant(s *State, e session.Event, p session.Assistant) {
	s.count(p.Attempt, p.Purpose)
	s.Totals.Usage = s.Totals.Usage.Add(p.Usage)
	s.accept(p.Usage)
	if !appends(e) {
		return
	}
	s.Turn.Calls, s.Compaction.Before = nil, nil
	for _, c := range p.Message.Calls() {
		s.Turn.Calls = append(s.Turn.Calls, Call{ID: c.ID, Name: c.Name})
	}
	s.anchor(p.Usage, llm.Estimate(p.Message))
}

func appends(e session.Event) bool { return e.Op != nil && e.Op.Kind == session.OpAppend }

// claim takes items out of the inbox, which is in the order of seqs. It moves what
// stands before them or what stands behind, whichever is less: who claims item by
// item from either end does not pay for all that wait.
func (s *State) claim(seqs []int64) {
	from, to := len(s.Inbox), 0 // of what is looked at
	claimed := make(map[int64]bool, len(seqs))
	for _, seq := range seqs {
		if i, queued := s.queued(seq); queued {
			claimed[seq], from, to = true, min(from, i), max(to, i+1)
		}
	}
	if len(claimed) == 0 {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(s.Inbox[from:to]), func(it Item) bool { return claimed[it.Seq] })
	if from < len(s.Inbox)-to {
		copy(s.Inbox[len(claimed):], s.Inbox[:from])
		copy(s.Inbox[len(claimed)+from:], kept)
		clear(s.Inbox[:len(claimed)])
		s.Inbox = s.Inbox[len(claimed):]
		return
	}
	s.Inbox = slices.Replace(s.Inbox, from, to, kept...)
}

// queued finds an item of the inbox.
func (s *State) queued(seq int64) (at int, ok bool) {
	return slices.BinarySearchFunc(s.Inbox, seq, func(it Item, seq int64) int { return cmp.Compare(it.Seq, seq) })
}

// child changes a child, which is new where its id is.
func (s *State) child(id string, change func(*session.Child)) {
	i, known := s.childAt(id)
	if !known {
		i = len(s.Children)
		s.Children = append(s.Children, session.Child{ID: id})
		s.childIDs[id] = i
	}
	change(&s.Children[i])
}

// childAt finds a child by a map that is made when it is first needed.
func (s *State) childAt(id string) (at int, ok bool) {
	if len(s.childIDs) != len(s.Children) || s.childIDs == nil {
		s.childIDs = make(map[string]int, len(s.Children))
		for i, c := range s.Children {
			s.childIDs[c.ID] = i
		}
	}
	at, ok = s.childIDs[id]
	return at, ok
}

func (s *State) count(attempt int, purpose llm.Purpose) {
	if attempt > 0 {
		s.Totals.Retries++
		return
	}
	s.Totals.ModelCalls[cmp.Or(purpose, llm.PurposeMain)]++
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
