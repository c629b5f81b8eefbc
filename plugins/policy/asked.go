package policy

import (
	"slices"

	"github.com/tureen-host/tureen/host/session"
)

// asked is what a question was about. An answer is good for that alone: between
// the two a symlink, a directory or a file may have changed (T16).
type asked struct {
	detail  string
	reasons []reason
	bound   session.Confinement
}

// maxAsked bounds the questions of a session that are open at a time. Where there
// are more, the answer to one of them is refused.
const maxAsked = 256

func shownBy(f finding, open []reason) asked {
	return asked{detail: f.detail, reasons: slices.Clone(open), bound: f.bound}
}

// covers tells whether what is to be allowed now is what was asked about, or less.
func (a asked) covers(f finding, open []reason) bool {
	return a.detail == f.detail && a.bound.Files == f.bound.Files && a.bound.Offline == f.bound.Offline && slices.Equal(a.bound.Writable, f.bound.Writable) &&
		!slices.ContainsFunc(open, func(r reason) bool { return !slices.Contains(a.reasons, r) })
}

// put notes what the question about a call shows.
func (p *Provider) put(id, call string, shown asked) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.sessions[id]
	if at == nil {
		return
	}
	if len(at.asked) >= maxAsked {
		for other := range at.asked {
			delete(at.asked, other)
			break
		}
	}
	at.asked[call] = shown
}

// take returns what the question about a call showed, once.
func (p *Provider) take(id, call string) (asked, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.sessions[id]
	if at == nil {
		return asked{}, false
	}
	shown, ok := at.asked[call]
	delete(at.asked, call)
	return shown, ok
}
