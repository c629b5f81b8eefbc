package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"unicode/utf8"
)

// memoryBytes is how much of a stream is held in memory; more goes to a file.
const memoryBytes = 64 << 10

// kept is what is kept of a stream: all of it up to a limit, of a longer one start and
// end, half of the limit each. It is in a file without a name as soon as it is more than
// a little, so that nothing is left of it however this process ends. Where the file
// takes no more, what it has taken and the newest bytes remain. It is safe for
// concurrent use.
type kept struct {
	mu     sync.Mutex
	limit  int64 // 0: nothing but the newest bytes
	base   int64 // where that begins which is kept
	file   *os.File
	taken  int64 // up to where the file took it
	broken error // why it takes no more
	end    tail  // the newest bytes
}

func newKept(limit int64) *kept {
	k := &kept{limit: limit, end: tail{keep: memoryBytes}}
	if limit > 0 {
		k.end.keep = int(min(memoryBytes, limit))
	}
	return k
}

// Write never fails.
func (k *kept) Write(p []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.end.size()
	if k.limit > 0 && k.broken == nil && at+int64(len(p))-k.base > int64(k.end.keep) {
		k.broken = k.store(p, at)
	}
	return k.end.Write(p)
}

// store puts what stands at a position into the file, and before it what only memory
// holds so far.
func (k *kept) store(p []byte, at int64) (err error) {
	if k.file == nil {
		k.taken = k.base
		if k.file, err = unnamed(); err != nil {
			return err
		}
		if err := k.put(k.end.since(k.base)); err != nil {
			return err
		}
	}
	return k.put(p)
}

// unnamed makes a file that has no name any more.
func unnamed() (*os.File, error) {
	file, err := os.CreateTemp("", "tureen-output-")
	if err != nil {
		return nil, err
	}
	return file, os.Remove(file.Name())
}

// put adds to the file: first to its first half, then round and round in the other.
func (k *kept) put(p []byte) error {
	for len(p) > 0 {
		offset, room := k.place(k.taken)
		n, err := k.file.WriteAt(p[:min(int64(len(p)), room)], offset)
		k.taken += int64(n)
		p = p[n:]
		if err != nil {
			return err
		}
	}
	return nil
}

// place is where a position stands in the file, and how many bytes from there on.
func (k *kept) place(at int64) (offset, room int64) {
	at -= k.base
	half := k.limit / 2
	if at < half {
		return at, half - at
	}
	ring := k.limit - half
	turn := (at - half) % ring
	return half + turn, ring - turn
}

// layout says what is there: from base to head, and from rest to the end.
func (k *kept) layout() (head, rest int64) {
	written, memory := k.end.size(), k.end.start()
	switch {
	case k.file == nil:
		return k.base, max(k.base, memory)
	case k.taken-k.base <= k.limit:
		return k.taken, max(k.taken, memory) // the end of what the file did not take
	case k.broken == nil:
		return k.base + k.limit/2, written - (k.limit - k.limit/2)
	}
	head = k.base + k.limit/2
	return head, max(head, memory)
}

// read reads what stands at a position of one of the two stretches.
func (k *kept) read(to []byte, at int64) {
	memory := k.end.start()
	for len(to) > 0 {
		if at >= memory {
			copy(to, k.end.since(at))
			return
		}
		offset, room := k.place(at)
		part := to[:min(int64(len(to)), room, memory-at)]
		n, err := k.file.ReadAt(part, offset)
		if err != nil && n < len(part) {
			clear(part[n:]) // nobody else has the file: the disk fails
		}
		to, at = to[len(part):], at+int64(len(part))
	}
}

// stretch is all that is kept, and what is not.
type stretch struct {
	text  string
	lost  int64
	first bool  // what is lost stood before all else
	why   error // why it could not be kept, nil where it is only too much
}

// all is what is kept, clean and without the line feeds at its end, and in the place of
// what is not a line that says so.
func (k *kept) all() stretch {
	k.mu.Lock()
	defer k.mu.Unlock()
	head, rest := k.layout()
	mark := ""
	if head < rest {
		var edge [utf8.UTFMax - 1]byte
		before := edge[:min(int64(len(edge)), head-k.base)]
		k.read(before, head-int64(len(before)))
		head -= int64(len(before) - len(wholeEnd(before)))
		behind := edge[:min(int64(len(edge)), k.end.size()-rest)]
		k.read(behind, rest)
		rest += int64(len(behind) - len(wholeStart(behind)))
		if head > k.base {
			mark = fmt.Sprintf("\n[... %d bytes dropped here ...]\n", rest-head)
		}
	}
	var b strings.Builder
	b.Grow(int(head-k.base+k.end.size()-rest) + len(mark))
	k.copy(&b, k.base, head)
	b.WriteString(mark)
	k.copy(&b, rest, k.end.size())
	s := stretch{text: trimmed(b.String()), lost: rest - head, first: head == k.base}
	if s.lost > 0 {
		s.why = cause(k.broken)
	}
	return s
}

func (k *kept) copy(to *strings.Builder, from, end int64) {
	block := make([]byte, min(memoryBytes, end-from))
	for from < end {
		n := min(int64(len(block)), end-from)
		k.read(block[:n], from)
		to.Write(block[:n])
		from += n
	}
}

// cause is an error without the name of the file, which says nothing to anybody.
func cause(err error) error {
	var inPath *fs.PathError
	if errors.As(err, &inPath) {
		return inPath.Err
	}
	return err
}

// from returns what was written from a position on, at most limit bytes.
func (k *kept) from(at int64, limit int, ended bool) part {
	k.mu.Lock()
	defer k.mu.Unlock()
	head, rest := k.layout()
	var lost int64
	end := k.end.size()
	switch {
	case at < rest && (at >= head || head < rest && head-at < utf8.UTFMax): // half a character before a gap is lost with it
		lost, at = rest-at, rest
	case at < head && head < rest:
		end = head
	}
	piece := make([]byte, max(0, min(end-at, int64(limit))))
	k.read(piece, at)
	return newPart(piece, at, lost, k.end.size(), ended)
}

// last is the text of the newest n bytes.
func (k *kept) last(n int) string { return k.end.last(n) }

// size is how many bytes were written in all.
func (k *kept) size() int64 { return k.end.size() }

// begin keeps what comes from now on, and returns where that begins.
func (k *kept) begin(limit int64) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.limit, k.base = limit, k.end.size()
	return k.base
}

// stop lets go of all but the newest bytes.
func (k *kept) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file != nil {
		k.file.Close()
	}
	k.file, k.limit = nil, 0
}

// notice says in a line what of a stream is not there, "" where all is.
func (s stretch) notice(stream string) string {
	if s.lost == 0 {
		return ""
	}
	what := fmt.Sprintf("%d bytes in its middle dropped", s.lost)
	if s.first {
		what = fmt.Sprintf("first %d bytes dropped", s.lost)
	}
	if s.why != nil {
		what += ": no file could keep them: " + s.why.Error()
	}
	return fmt.Sprintf("[%s truncated; %s]", stream, what)
}
