package endpoint

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"time"
)

// Exchange is one request and its answer.
type Exchange struct {
	Ordinal  int       // from 0
	Arrived  time.Time // the request was read to its end
	Answered time.Time // the answer was about to be sent, in one piece
	Bytes    int       // of the request
	// Continues tells that the request repeats the one before it byte for byte and
	// only adds messages. It is true of the first one.
	Continues bool
}

// Tape is what was exchanged while a script answered. It is safe for concurrent
// use.
type Tape struct {
	script Script

	mu        sync.Mutex
	exchanges []Exchange
	previous  []byte // the last request
	spare     []byte // where the next one goes
	err       error
}

// Exchanges returns what was exchanged so far, or the first error.
func (t *Tape) Exchanges() ([]Exchange, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Exchange(nil), t.exchanges...), t.err
}

// take reads a request and asks the script for its answer.
func (t *Tape) take(r io.Reader, size int64) (Reply, Exchange, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	body := bytes.NewBuffer(t.spare[:0])
	if size > 0 {
		body.Grow(int(size) + bytes.MinRead)
	}
	_, err := body.ReadFrom(r)
	x := Exchange{Ordinal: len(t.exchanges), Arrived: time.Now(), Bytes: body.Len(), Continues: true}
	if err != nil {
		t.err = fmt.Errorf("read request %d: %w", x.Ordinal, err)
		return Reply{}, x, t.err
	}
	if x.Ordinal > 0 {
		x.Continues = continues(t.previous, body.Bytes())
	}
	t.previous, t.spare = body.Bytes(), t.previous
	t.exchanges = append(t.exchanges, x)
	reply, err := t.script(x, body.Bytes())
	if err != nil {
		t.err = fmt.Errorf("request %d: %w", x.Ordinal, err)
	}
	return reply, x, err
}

func (t *Tape) answered() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.exchanges[len(t.exchanges)-1].Answered = time.Now()
}

func (t *Tape) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
	}
}

// role stands in each message. Inside of texts the quotes are escaped, so that it
// is found only where it is a key.
var role = []byte(`"role":"`)

// continues tells whether next is the request prev with more messages at the end
// of its list. What stands behind the list must be the same in both.
func continues(prev, next []byte) bool {
	n := 0
	for n < len(prev) && n < len(next) && prev[n] == next[n] {
		n++
	}
	rest := prev[n:]
	return len(next) > len(prev) && len(rest) > 0 && rest[0] == ']' && next[n] == ',' &&
		bytes.HasSuffix(next, rest) && !bytes.Contains(rest, role)
}
