package shell

import (
	"syscall"
	"time"
)

// group is a process group, by its leader's process id.
type group int

// terminate asks the processes of the group to end, and after the grace kills
// those that did not. It returns when all are gone or killed.
func (g group) terminate() {
	g.signal(syscall.SIGTERM)
	if !g.goneWithin(grace) {
		g.signal(syscall.SIGKILL)
		g.goneWithin(settle)
	}
}

// goneWithin waits for the group's last process to end. Processes that may not
// be signalled count as gone.
func (g group) goneWithin(limit time.Duration) bool {
	deadline := time.Now().Add(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		if !g.alive() {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(pause)
	}
}

func (g group) signal(s syscall.Signal) error { return syscall.Kill(-int(g), s) }
