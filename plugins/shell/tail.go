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

// last is the text of the newest n bytes.
func (t *tail) last(n int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept()
	return trimmed(string(wholeStart(kept[max(0, len(kept)-n):])))
}

// since is what was written from a position on that is still kept. It is valid until
// the next Write.
func (t *tail) since(at int64) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := t.kept()
	return kept[len(kept)-int(t.written-at):]
}

// start is the position of the first byte that is kept.
func (t *tail) start() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written - int64(len(t.kept()))
}

// size is how many bytes were written in all.
func (t *tail) size() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}

func (t *tail) kept() []byte { return t.buf[max(0, len(t.buf)-t.keep):] }

// part is a stretch of what a command printed.
type part struct {
	text string
	next int64 // where the next part begins
	lost int64 // bytes before it that were dropped
	left int64 // bytes after it that can be read already
}

// newPart makes the part that piece is, which stands at a position of written bytes. A
// character that is not whole at its end is left for the next part, except where
// nothing follows any more.
func newPart(piece []byte, at, lost, written int64, ended bool) part {
	whole := piece
	if lost > 0 {
		whole = wholeStart(piece)
		lost += int64(len(piece) - len(whole))
		at += int64(len(piece) - len(whole))
	}
	if !ended || at+int64(len(whole)) < written {
		whole = wholeEnd(whole)
	}
	next := at + int64(len(whole))
	return part{trimmed(string(whole)), next, lost, written - next}
}

func trimmed(text string) string { return strings.TrimRight(tool.Clean(text), "\r\n") }

// wholeStart leaves out what is left of a character that began before b.
func wholeStart(b []byte) []byte {
	for range utf8.UTFMax - 1 {
		if len(b) == 0 || utf8.RuneStart(b[0]) {
			break
		}
		b = b[1:]
	}
	return b
}

// wholeEnd leaves out a character that goes on behind b.
func wholeEnd(b []byte) []byte {
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		if first := b[len(b)-back:]; utf8.RuneStart(first[0]) {
			if !utf8.FullRune(first) {
				return b[:len(b)-back]
			}
			break
		}
	}
	return b
}
