package agent

import (
	"sync"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
)

// Spending adds up what the sessions of a tree have used, so that limits bind them
// together (C139). It is safe for concurrent use.
type Spending struct {
	mu sync.Mutex
	of map[string]llm.Usage // by session
}

// NewSpending makes one of nothing.
func NewSpending() *Spending { return &Spending{of: map[string]llm.Usage{}} }

// Book notes what a session has used since it was made. It takes the place of what
// was noted before.
func (s *Spending) Book(session string, used llm.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of[session] = used
}

// Usage is what all of them have used.
func (s *Spending) Usage() llm.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all llm.Usage
	for _, u := range s.of {
		all = all.Add(u)
	}
	return all
}

// spends are the kinds of events that carry usage.
var spends = map[session.Kind]bool{session.KindMessageAssistant: true, session.KindAttempt: true, session.KindModelCall: true}

// book notes what this session itself has used.
func (a *Agent) book() {
	a.Spending.mu.Lock() // around the look, so that an older one does not come last
	defer a.Spending.mu.Unlock()
	a.rec.view(func(s *fold.State) { a.Spending.of[a.rec.log.ID()] = own(s) })
}

// bookAll notes what this session and the subagents that settled in it have used.
func (a *Agent) bookAll() {
	a.book()
	a.rec.view(func(s *fold.State) {
		for _, c := range children(s) {
			a.Spending.Book(c.ID, c.Usage)
		}
	})
}

// spent is what limits hold against: the usage of the whole tree.
func (a *Agent) spent() llm.Usage {
	a.book()
	return a.Spending.Usage()
}

// Usage is what this session and the subagents that settled in it have used.
func (a *Agent) Usage() llm.Usage {
	var used llm.Usage
	a.rec.view(func(s *fold.State) { used = Used(s) })
	return used
}

// Used is what a session and the subagents that settled in it have used.
func Used(s *fold.State) llm.Usage {
	used := own(s)
	for _, c := range children(s) {
		used = used.Add(c.Usage)
	}
	return used
}

// own is what a session itself has used, without what the one that it was forked from
// had.
func own(s *fold.State) llm.Usage {
	if o := s.Created.Origin; o != nil {
		return s.Totals.Usage.Sub(o.Used)
	}
	return s.Totals.Usage
}

// children are the subagents of a session, without those of the one that it was
// forked from.
func children(s *fold.State) []session.Child {
	if o := s.Created.Origin; o != nil {
		return s.Children[min(max(0, o.Children), len(s.Children)):]
	}
	return s.Children
}
