package fold

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tureen-host/tureen/host/session"
)

// Before is what an undo of the newest compaction gives back. It is kept from the
// compaction to the next answer of the model.
type Before struct {
	Ordinal int              `json:"ordinal"` // of the compaction
	Started int64            `json:"started"` // seq of its compaction.started
	Ended   int64            `json:"ended"`   // seq of its compaction.ended
	Nodes   []Node           `json:"nodes"`   // the surface before it
	Window  int              `json:"window"`
	Marks   []string         `json:"marks,omitempty"`
	Context string           `json:"context,omitempty"`
	Anchor  Anchor           `json:"anchor"`
	Header  int64            `json:"header"`            // seq of the header that Anchor speaks of
	Records map[string]int64 `json:"records,omitempty"` // those that it changed: seq of the one before, 0 = there was none
	// Fresh are the seqs of the first record of each key in Records that had none before.
	Fresh map[string]int64 `json:"fresh,omitempty"`
}

// Again is a record that the append of an undo has to write again.
type Again struct {
	Seq  int64 // of the record event to take it from
	None bool  // there was none before: its name is written with null for data
}

// NoUndo says why the newest compaction cannot be undone.
type NoUndo struct {
	Why string
	// At is where a fork begins with the surface from before the compaction, 0 where
	// there is none.
	At int64
}

func (e *NoUndo) Error() string {
	return session.UndoRefused{Why: e.Why}.Sentence()
}

// Undoable returns what an undo would give back, or a *NoUndo. It must not be changed.
func (s *State) Undoable() (*Before, error) {
	c := &s.Compaction
	why := ""
	switch {
	case c.Count == 0:
		why = "there was no compaction so far"
	case c.Undone == c.LastSeq:
		return nil, &NoUndo{Why: "the newest compaction is undone already"}
	case c.Before == nil || c.Before.Ended == 0:
		why = "the model has answered since the newest compaction"
	case s.Turn.Open:
		why = "a turn is going on"
	default:
		return c.Before, nil
	}
	return nil, &NoUndo{Why: why, At: max(0, c.LastStarted-1)}
}

// Undo returns the event that takes the newest compaction back, and the records
// that belong behind it in the same append; or a *NoUndo.
func (s *State) Undo(from string) (session.Event, []Again, error) {
	b, err := s.Undoable()
	if err != nil {
		return session.Event{}, nil, err
	}
	return session.New(session.KindCompactionUndone, session.CompactionUndone{Ordinal: b.Ordinal, Seq: b.Ended, From: from}), b.again(), nil
}

func (b *Before) again() []Again {
	var again []Again
	for key, seq := range b.Records {
		if seq > 0 {
			again = append(again, Again{Seq: seq})
		} else {
			again = append(again, Again{Seq: b.Fresh[key], None: true})
		}
	}
	slices.SortFunc(again, func(x, y Again) int { return cmp.Compare(x.Seq, y.Seq) })
	return again
}

// record notes that the compaction writes a record; before is the seq of the one
// that it takes the place of.
func (b *Before) record(key string, before, seq int64) {
	if _, known := b.Records[key]; known {
		return
	}
	if b.Records == nil {
		b.Records = map[string]int64{}
	}
	b.Records[key] = before
	if before == 0 {
		if b.Fresh == nil {
			b.Fresh = map[string]int64{}
		}
		b.Fresh[key] = seq
	}
}

func applyStarted(s *State, e session.Event, p session.CompactionStarted) {
	s.Compaction.Before = &Before{Ordinal: p.Ordinal, Started: e.Seq, Nodes: slices.Clone(s.Surface.Nodes), Window: s.Compaction.Window,
		Marks: slices.Clone(s.Compaction.Marks), Context: s.Context, Anchor: s.Anchor, Header: s.HeaderSeq}
}

func applyEnded(s *State, e session.Event, p session.CompactionEnded) {
	c := &s.Compaction
	c.Count++
	if p.Kind == kindReset {
		c.Window++
	}
	c.Armed, c.Marks, c.LastSeq, c.LastStarted, c.Postponed = nil, nil, e.Seq, 0, nil
	if c.Before != nil && c.Before.Ended == 0 {
		c.Before.Ended, c.LastStarted = e.Seq, c.Before.Started
	} else {
		c.Before = nil
	}
	c.Failures++
	if p.Relieved {
		c.Failures = 0
	}
	if p.Trigger == session.TriggerManual {
		c.Asked = nil
	}
	s.Anchor = Anchor{}
	s.keepContext()
}

// undoes tells whether that compaction is one to take back.
func undoes(s *State, e session.Event, p session.CompactionUndone) error {
	if b := s.Compaction.Before; b == nil || b.Ended == 0 || b.Ended != p.Seq || b.Ordinal != p.Ordinal {
		return fmt.Errorf("event %d: takes back compaction %d, ended at event %d; that is not one that can be taken back", e.Seq, p.Ordinal, p.Seq)
	}
	return nil
}

// applyUndone gives back what was before the compaction. Nodes that followed it stay
// behind that, but for system messages, which speak of the other surface.
func applyUndone(s *State, _ session.Event, p session.CompactionUndone) {
	c := &s.Compaction
	b := c.Before
	s.Context, s.Anchor = b.Context, Anchor{}
	nodes := b.Nodes
	for _, n := range s.Surface.Nodes {
		if n.Seq <= b.Ended || n.Kind == session.KindMessageSystem {
			continue
		}
		nodes = append(nodes, n)
		if n.Source == session.SourceContext && n.From == "" {
			s.Context = n.Message.Text()
		}
	}
	s.Surface.restore(nodes)
	if s.HeaderSeq == b.Header {
		s.Anchor = b.Anchor
	}
	for key, seq := range b.Records {
		if seq == 0 {
			delete(s.Records, key)
		} else {
			s.Records[key] = seq
		}
	}
	c.Window, c.Marks, c.Before, c.Undone, c.Rest, c.UndoAsked = b.Window, b.Marks, nil, p.Seq, true, nil
}
