package notesoup

import (
	"context"
	"sync"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// Bounds of what readers return.
const (
	batchBytes = 64 << 10 // all pages of one step together
	minPage    = 1000     // below it a page is not worth its call
	// A page fills at most 1/roomShare of the room to the line.
	roomShare     = 4
	bytesPerToken = 3
)

// pages is the budget that the readers of one step share, refusals included. It is
// safe for concurrent use; the zero value is full.
type pages struct {
	wide bool // whatever room is left

	mu   sync.Mutex
	used map[string]*spent
}

type spent struct {
	turn, step int
	bytes      int           // used, and reserved by readers that are at work
	atWork     int           // readers
	done       chan struct{} // closed when the next of them is done
}

// take reserves room for a page of a call. A reader that comes while others hold all
// of it waits for what they do not use. done gives back the rest.
func (p *pages) take(ctx context.Context, call tool.Call) (bytes int, done func(used int), err error) {
	most := notes.MaxResultBytes
	if call.Room >= 0 && !p.wide {
		most = min(most, max(minPage, call.Room/roomShare*bytesPerToken))
	}
	for {
		s, bytes, wait := p.reserve(call, most)
		switch {
		case bytes > 0:
			return bytes, func(used int) { p.giveBack(s, bytes, used) }, nil
		case wait == nil:
			return 0, nil, notes.Refuse(notes.CodeBudget, "repeat the call in the next step", "the pages of this step are used up (%d bytes in all)", batchBytes)
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return 0, nil, notes.Refuse(notes.CodeAborted, "", "cancelled before anything was read")
		}
	}
}

// reserve takes at most so many bytes of the step's. 0 means that there are none; wait,
// where not nil, tells when to ask again.
func (p *pages) reserve(call tool.Call, most int) (s *spent, bytes int, wait <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used == nil {
		p.used = map[string]*spent{}
	}
	s = p.used[call.Session]
	if s == nil || s.turn != call.Turn || s.step != call.Step {
		s = &spent{turn: call.Turn, step: call.Step, done: make(chan struct{})}
		p.used[call.Session] = s
	}
	left := batchBytes - s.bytes
	switch {
	case left >= minPage:
		bytes = min(most, left)
		s.bytes, s.atWork = s.bytes+bytes, s.atWork+1
	case s.atWork > 0:
		wait = s.done
	}
	return s, bytes, wait
}

func (p *pages) giveBack(s *spent, bytes, used int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.bytes, s.atWork = s.bytes-bytes+min(used, bytes), s.atWork-1
	close(s.done)
	s.done = make(chan struct{})
}

// drop forgets a session.
func (p *pages) drop(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.used, session)
}
