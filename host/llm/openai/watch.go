package openai

import (
	"errors"
	"io"
	"time"
)

// errIdle is the cause of a request that its watch ended.
var errIdle = errors.New("the endpoint sent nothing")

// watch ends a request on which nothing arrives for a while (M19). Any byte
// counts, comments too; time in which nobody waits for a byte does not.
type watch struct {
	idle  time.Duration
	timer *time.Timer
}

// newWatch starts to wait for the head of the answer.
func newWatch(idle time.Duration, end func()) *watch {
	return &watch{idle: idle, timer: time.AfterFunc(idle, end)}
}

// limit shortens the patience for what is read from now on.
func (w *watch) limit(d time.Duration) { w.idle = min(w.idle, d) }

func (w *watch) stop() { w.timer.Stop() }

// body watches the reads of rc.
func (w *watch) body(rc io.ReadCloser) io.ReadCloser {
	w.stop()
	return &watchedBody{rc, w}
}

type watchedBody struct {
	io.ReadCloser
	watch *watch
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.watch.timer.Reset(b.watch.idle)
	n, err := b.ReadCloser.Read(p)
	b.watch.stop()
	return n, err
}
