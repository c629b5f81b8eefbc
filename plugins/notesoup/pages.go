package notesoup

import (
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

// pages is the budget that the readers of one step share. It is safe for
// concurrent use; the zero value is full.
type pages struct {
	mu   sync.Mutex
	used map[string]spent
}

type spent struct{ turn, step, bytes int }

// take reserves room for a page of a call. done gives back what was not used.
func (p *pages) take(call tool.Call) (bytes int, done func(used int), err error) {
	bytes = notes.MaxResultBytes
	if call.Room >= 0 {
		bytes = min(bytes, max(minPage, call.Room/roomShare*bytesPerToken))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.used == nil {
		p.used = map[string]spent{}
	}
	s := p.used[call.Session]
	if s.turn != call.Turn || s.step != call.Step {
		s = spent{turn: call.Turn, step: call.Step}
	}
	left := batchBytes - s.bytes
	if left < minPage {
		return 0, nil, notes.Refuse(notes.CodeBudget, "repeat the call in the next step", "the pages of this step are used up (%d of %d bytes)", s.bytes, batchBytes)
	}
	bytes = min(bytes, left)
	s.bytes += bytes
	p.used[call.Session] = s
	return bytes, func(used int) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if now := p.used[call.Session]; now.turn == call.Turn && now.step == call.Step {
			now.bytes -= bytes - min(used, bytes)
			p.used[call.Session] = now
		}
	}, nil
}

// drop forgets a session.
func (p *pages) drop(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.used, session)
}
