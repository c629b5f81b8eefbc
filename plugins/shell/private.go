package shell

import (
	"os"
	"sync"
)

// private is a directory for temporary files that nothing but commands under
// read-only uses. It is made when it is first needed.
type private struct {
	once sync.Once
	dir  string // "" where it could not be made
}

func (p *private) path() string {
	p.once.Do(func() {
		dir, err := os.MkdirTemp("", "tureen-shell-")
		if err != nil {
			return // such commands have nowhere to write then
		}
		guard.once.Do(guard.start)
		guard.tell("d", dir)
		p.dir = dir
	})
	return p.dir
}

func (p *private) remove() {
	p.once.Do(func() {})
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}
