package fold

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// State is all that the host folds from a log. It is not safe for concurrent
// use. Its size is bounded by the surface, not by the log.
type State struct {
	Head       int64           `json:"head"`
	Created    session.Created `json:"created"`
	Surface    Surface         `json:"surface"`
	Header     *session.Header `json:"header,omitempty"`
	HeaderSeq  int64           `json:"header_seq,omitempty"`
	Turn       Turn            `json:"turn"`
	Inbox      []Item          `json:"inbox,omitempty"`
	Compaction Compaction      `json:"compaction"`
	Context    string          `json:"context,omitempty"` // the newest runtime context on the surface
	Anchor     Anchor          `json:"anchor"`
	Ratio      float64         `json:"ratio,omitempty"` // the endpoint's count of an estimated token; 0 = not learned
	// Prompt is a request's size as the endpoint counted it, and estimated; the zero
	// value is none. CutsPrompt tells that its counts are not to be trusted: they stay
	// the same however much is sent.
	Prompt     Anchor                 `json:"prompt,omitzero"`
	CutsPrompt bool                   `json:"cuts_prompt,omitempty"`
	Accepted   int                    `json:"accepted,omitempty"` // the longest prompt that this model answered, as its endpoint counted
	Learned    *session.WindowLearned `json:"learned,omitempty"`  // of this model and window of the profile
	Totals     Totals                 `json:"totals"`
	Records    map[string]int64       `json:"records,omitempty"`   // "plugin/kind/key" -> seq of the newest
	Directory  string                 `json:"directory"`           // where tools start from
	Questions  []Question             `json:"questions,omitempty"` // without an answer
	Children   []session.Child        `json:"children,omitempty"`  // subagents, oldest first
	Report     json.RawMessage        `json:"report,omitempty"`    // the newest structured result
	Archived   bool                   `json:"archived,omitempty"`  // L18
	Profile    string                 `json:"profile,omitempty"`   // in use when the session was last opened, "" = unknown
	Strategy   string                 `json:"strategy,omitempty"`  // likewise
	Unknown    int                    `json:"unknown,omitempty"`   // events of kinds that this binary does not know
	childIDs   map[string]int         // where a child is in Children
	toolTokens struct {
		header int64
		tokens int
	}
}

// Question is one without an answer. Pending tells that its asker has gone on and
// that a late answer is welcome (T18).
type Question struct {
	session.Question
	Pending bool `json:"pending,omitempty"`
}

// Item is a queued inbox item.
type Item struct {
	Seq int64 `json:"seq"`
	session.InboxItem
}

// Turn is the newest turn and its newest step.
type Turn struct {
	Ordinal  int              `json:"ordinal"`
	Open     bool             `json:"open"`
	Step     int              `json:"step"` // of the newest turn
	StepOpen bool             `json:"step_open"`
	Last     session.Reason   `json:"last,omitempty"` // of the newest closed turn
	Error    *session.Failure `json:"error,omitempty"`
	// Calls are the calls of the open step that have no result yet, in order.
	Calls []Call `json:"calls,omitempty"`
}

// Call is a call that awaits its result.
type Call struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Started bool   `json:"started"`
}

// Compaction is what the log says of compactions.
type Compaction struct {
	Count    int                      `json:"count"`  // applied
	Window   int                      `json:"window"` // ordinal of the window, from 1
	Armed    *session.CompactionArmed `json:"armed,omitempty"`
	Asked    *session.CompactionAsked `json:"asked,omitempty"`
	Marks    []string                 `json:"marks,omitempty"` // shown in this window
	Failures int                      `json:"failures"`        // in a row
	Breaker  bool                     `json:"breaker"`
	LastSeq  int64                    `json:"last_seq"` // of the newest compaction.ended
	// LastStarted is the seq of that compaction's compaction.started, 0 = not known.
	LastStarted int64 `json:"last_started,omitempty"`
	// Before is what an undo would give back, nil where there is nothing any more;
	// see Undoable. Its Ended is 0 inside a compaction.
	Before    *Before            `json:"before,omitempty"`
	Undone    int64              `json:"undone,omitempty"` // compaction.ended of the newest that was undone
	Rest      bool               `json:"rest,omitempty"`   // automatic compaction rests
	UndoAsked *session.UndoAsked `json:"undo_asked,omitempty"`
	Postponed *Postponed         `json:"postponed,omitempty"` // since the newest compaction, nil = none
}

// Postponed is a compaction that was put off by one step.
type Postponed struct {
	session.CompactionPostponed
	Begun bool `json:"begun,omitempty"` // the step
	Over  bool `json:"over,omitempty"`  // another step has begun: the compaction failed, or rests
}

// Waits tells whether the step is still to come.
func (p *Postponed) Waits() bool { return p != nil && !p.Begun }

// Granted tells whether the newest step is the one.
func (p *Postponed) Granted() bool { return p != nil && p.Begun && !p.Over }

// LastWords tells whether the open step is the one that a compaction was put off by.
func (s *State) LastWords() bool { return s.Turn.StepOpen && s.Compaction.Postponed.Granted() }

// Totals add up over the whole log.
type Totals struct {
	Steps      int                 `json:"steps"`
	ModelCalls map[llm.Purpose]int `json:"model_calls"`
	Retries    int                 `json:"retries"`
	Usage      llm.Usage           `json:"usage"`
}

// New returns the state of an empty log.
func New() *State {
	return &State{
		Compaction: Compaction{Window: 1},
		Totals:     Totals{ModelCalls: map[llm.Purpose]int{}},
		Records:    map[string]int64{},
	}
}

// Apply folds the next event. An error names the event and leaves the state as
// it was, but for Head.
func (s *State) Apply(e session.Event) error {
	if e.Seq != s.Head+1 {
		return fmt.Errorf("event %d follows event %d", e.Seq, s.Head)
	}
	s.Head = e.Seq
	var change func()
	if prepare := folds[e.Kind]; prepare != nil {
		var err error
		if change, err = prepare(s, e); err != nil {
			return err
		}
	}
	if err := s.Surface.Apply(e); err != nil {
		return err
	}
	if e.Op != nil && e.Op.Kind != session.OpAppend && e.Kind != session.KindMessageSystem {
		s.Anchor, s.Prompt = Anchor{}, Anchor{} // the old usage does not speak of this surface (N24)
	}
	switch {
	case change != nil:
		change()
	case !silent[e.Kind]:
		s.Unknown++
	}
	return nil
}

// clone returns a state that can be changed without changing s.
func (s *State) clone() *State {
	c := *s
	c.Surface = *s.Surface.Clone()
	c.Turn.Calls = slices.Clone(s.Turn.Calls)
	c.Inbox, c.Questions, c.Children = slices.Clone(s.Inbox), slices.Clone(s.Questions), slices.Clone(s.Children)
	c.childIDs = nil
	c.Compaction.Marks = slices.Clone(s.Compaction.Marks)
	c.Records, c.Totals.ModelCalls = maps.Clone(s.Records), maps.Clone(s.Totals.ModelCalls)
	return &c
}

// Pending tells whether the inbox holds an item of that queue.
func (s *State) Pending(q session.Queue) bool {
	for _, it := range s.Inbox {
		if it.Queue == q {
			return true
		}
	}
	return false
}

// Standing returns the text of the newest message of its own that a plugin's
// runtime context has on the surface; from is "plugin/id".
func (s *State) Standing(from string) string {
	for i := len(s.Surface.Nodes) - 1; i >= 0; i-- {
		if n := &s.Surface.Nodes[i]; n.Source == session.SourceContext && n.From == from {
			return n.Message.Text()
		}
	}
	return ""
}

// Running lists the subagents that have not settled.
func (s *State) Running() []session.Child {
	var running []session.Child
	for _, c := range s.Children {
		if c.State == session.StateRunning {
			running = append(running, c)
		}
	}
	return running
}

// Shown tells whether a mark was shown in this window.
func (s *State) Shown(mark string) bool {
	for _, id := range s.Compaction.Marks {
		if id == mark {
			return true
		}
	}
	return false
}

var silent = map[session.Kind]bool{
	session.KindCommandRun: true, session.KindToolSpilled: true,
	session.KindNodesDropped: true, session.KindMessageSystem: true, session.KindLost: true,
	session.KindPlugin: true, session.KindCancelAsked: true, session.KindWarning: true,
}
