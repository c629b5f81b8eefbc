package shell

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/tool"
)

// tail keeps the last bytes that were written to it. It is safe for concurrent use.
type tail struct {
	keep int

	mu      sync.Mutex
	buf     []byte // at most twice keep
	written int64
}

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written += int64(len(p))
	if len(p) >= t.keep {
		t.buf = append(t.buf[:0], p[len(p)-t.keep:]...)
		return len(p), nil
	}
	if len(t.buf)+len(p) > 2*t.keep {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-t.keep:]...)
	}
	t.buf = append(t.buf, p...)
	return len(p), nil
}

// end returns the kept text, clean and without the line feeds at its end, and
// how many bytes before it were dropped.
func (t *tail) end() (text string, dropped int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.buf[max(0, len(t.buf)-t.keep):]
	if int64(len(kept)) < t.written { // do not begin inside a character
		for range utf8.UTFMax - 1 {
			if len(kept) == 0 || utf8.RuneStart(kept[0]) {
				break
			}
			kept = kept[1:]
		}
	}
	return strings.TrimRight(tool.Clean(string(kept)), "\r\n"), t.written - int64(len(kept))
}

// size is how many bytes were written in all.
func (t *tail) size() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}
