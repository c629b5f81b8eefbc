package fold

import "github.com/tureen-host/tureen/host/session"

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
