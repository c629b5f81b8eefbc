package fold

import (
	"slices"

	"github.com/tureen-host/tureen/host/session"
)

// claimRest writes a claim anew for those of its items that are queued, lest they be
// taken up a second time.
func (s *salvage) claimRest(u unit) bool {
	e := u.events[0]
	p, err := session.Decode[session.InboxClaimed](e)
	if e.Kind != session.KindInboxClaimed || err != nil {
		return false
	}
	state := s.checker.state
	p.Items = slices.DeleteFunc(p.Items, func(item int64) bool { return !queued(state, item) })
	if len(p.Items) == 0 {
		return false
	}
	rest := session.New(e.Kind, p).At(e.Turn, e.Step)
	rest.Seq, rest.Time = e.Seq, storable(&e).Time
	if s.stand(rest) != nil {
		return false
	}
	s.flush(nil)
	state.Head = e.Seq
	s.result.SetAside++
	s.result.Bridged++
	s.yield(rest)
	return true
}

// mend writes anew what replaces lost nodes among others, for those that are there:
// a compaction stays in force where some of what it hid is gone.
func (s *salvage) mend(u unit) bool {
	state := s.checker.state
	trial := &Checker{state: state.clone()}
	trial.state.Head = u.events[0].Seq - 1
	out := slices.Clone(u.events)
	for i, e := range u.events {
		if trial.try(e) == nil {
			continue
		}
		mended, ok := retarget(&trial.state.Surface, e)
		if !ok {
			if len(u.events) == 1 || e.Op == nil {
				return false
			}
			mended = session.New(session.KindLost, session.Lost{Why: "what it replaces is lost", Event: storable(&e)})
		}
		mended.Seq, mended.Time, mended.Turn, mended.Step = e.Seq, storable(&e).Time, e.Turn, e.Step
		if trial.try(mended) != nil {
			return false
		}
		out[i] = mended
	}
	if trial.compacting != 0 || sound(trial.state) != nil {
		return false
	}
	s.flush(nil)
	*state = *trial.state
	for i, e := range out {
		if e.Kind == u.events[i].Kind && e.Op == u.events[i].Op {
			s.result.Kept++
		} else {
			s.result.SetAside++
			if e.Kind != session.KindLost {
				s.result.Bridged++
			}
		}
		s.time = e.Time
		s.yield(e)
	}
	return true
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
