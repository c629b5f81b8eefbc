package cli

import (
	"sync/atomic"
	"time"
)

// leaving bounds the last words of a process that does not wait: its output may
// have no reader.
const leaving = 2 * time.Second

// running is the report of the run under way, nil where there is none.
var running atomic.Pointer[report]

// Leave says the last words of the run under way, unless it said them itself, and
// returns the exit code. The caller ends the process; nothing is written after
// the words.
func Leave(s Signal) int {
	if ui := chatting.Load(); ui != nil {
		restored := make(chan struct{})
		go func() { ui.Restore(); close(restored) }()
		select {
		case <-restored:
		case <-time.After(leaving):
		}
	}
	r := running.Load()
	if r == nil {
		return s.ExitCode()
	}
	code := make(chan int, 1)
	go func() {
		r.mu.Lock() // for good
		code <- r.finish(faultOf(s), s)
	}()
	select {
	case c := <-code:
		return c
	case <-time.After(leaving):
		return s.ExitCode()
	}
}
