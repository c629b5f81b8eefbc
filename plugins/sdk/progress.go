package sdk

import "sync"

const progressLimit = 64 << 10 // bytes of one progress text

// progress sends texts until end; it may be used from any goroutine.
type progress struct {
	mu    sync.Mutex
	send  func(string) error
	ended bool
}

func newProgress(send func(string) error) *progress { return &progress{send: send} }

func (p *progress) say(text string) {
	if len(text) > progressLimit {
		text = text[:progressLimit]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended = p.send(valid(text)) != nil
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}
