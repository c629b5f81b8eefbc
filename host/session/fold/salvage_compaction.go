package fold

import (
	"slices"

	"github.com/tureen-host/tureen/host/session"
)

const (
	whyHalf     = "it belongs to a compaction that is not whole"
	maxGathered = 1024 // records that stand side by side and may belong to a compaction
)

// gathered are events that belong, or may belong, to one compaction.
type gathered struct {
	events []session.Event
	headed bool // the first is its compaction.started
	torn   bool // events are missing right before
	half   bool // its beginning was seen, and events are missing since
}

// gather keeps together what is one compaction.
func (s *salvage) gather(e session.Event) {
	g := &s.compaction
	switch {
	case e.Kind == session.KindCompactionStarted:
		s.scatter()
		*g = gathered{events: []session.Event{e}, headed: true}
	case e.Kind == session.KindCompactionEnded:
		whole, events := g.headed, append(g.events, e)
		*g = gathered{}
		if whole {
			s.place(unit{events: events})
		} else {
			s.asideAll(events)
		}
	case g.headed && inCompaction[e.Kind] || !g.headed && edits(e):
		if g.events = append(g.events, e); !g.headed && len(g.events) > maxGathered {
			s.scatter()
		}
	default:
		s.scatter()
		g.torn, g.half = false, false
		s.place(unit{events: []session.Event{e}})
	}
}

// edits tells whether an event looks like one from the middle of a compaction.
func edits(e session.Event) bool {
	return e.Kind == session.KindRecord || e.Op != nil && e.Op.Kind != session.OpAppend && inCompaction[e.Kind]
}

// scatter ends what has no end.
func (s *salvage) scatter() {
	g := s.compaction
	s.compaction = gathered{torn: g.torn, half: g.half}
	if g.headed || g.half {
		s.asideAll(g.events)
		return
	}
	for _, e := range g.events {
		if g.torn && e.Kind != session.KindRecord && e.Kind != session.KindMessageSystem {
			s.asideAll([]session.Event{e})
		} else {
			s.place(unit{events: []session.Event{e}})
		}
	}
}

// tear has events be missing here.
func (s *salvage) tear() {
	g := &s.compaction
	half := g.headed || g.half
	g.torn = true
	s.scatter()
	s.compaction = gathered{torn: true, half: half}
}

func (s *salvage) asideAll(events []session.Event) {
	if len(events) > 0 {
		s.place(unit{events, whyHalf})
	}
}

// mend writes anew, for what is there, an event that names something lost: a
// compaction stays in force where some of what it hid is gone, and an inbox item
// that was taken up with a lost one is not taken up again.
func mend(s *State, e session.Event) (session.Event, bool) {
	if e.Kind != session.KindInboxClaimed {
		return retarget(&s.Surface, e)
	}
	p, err := session.Decode[session.InboxClaimed](e)
	p.Items = slices.DeleteFunc(p.Items, func(item int64) bool { return !queued(s, item) })
	e.Data = session.New(e.Kind, p).Data
	return e, err == nil && len(p.Items) > 0
}

func queued(s *State, item int64) bool {
	return slices.ContainsFunc(s.Inbox, func(it Item) bool { return it.Seq == item })
}

// retarget names nodes that are there in place of lost ones. Where the first node of
// a span is lost, it begins behind node 0; where the last one is, it ends with what
// is older.
func retarget(s *Surface, e session.Event) (session.Event, bool) {
	if e.Op == nil || len(s.Nodes) == 0 || !inCompaction[e.Kind] {
		return e, false
	}
	first, last := s.Nodes[0], len(s.Nodes)-1
	if e.Kind == session.KindMessageSystem {
		return e.On(session.Op{Kind: session.OpReplace, From: first.Seq, To: first.Seq}), e.Op.Kind == session.OpReplace && first.Kind == e.Kind
	}
	if e.Op.Kind != session.OpReplace && e.Op.Kind != session.OpDrop || e.Op.From == e.Op.To {
		return e, false
	}
	from, to := s.Index(e.Op.From), s.Index(e.Op.To)
	if from < 0 {
		from = min(1, last)
	}
	for to < 0 && last >= from {
		if s.Nodes[last].Seq < e.Op.To {
			to = last
		}
		last--
	}
	if to < from || from == 0 {
		return e, false
	}
	return e.On(session.Op{Kind: e.Op.Kind, From: s.Nodes[from].Seq, To: s.Nodes[to].Seq}), true
}
