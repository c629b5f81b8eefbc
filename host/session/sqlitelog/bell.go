package sqlitelog

import (
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// bell is a file that gets a byte longer behind each mail that is left in a store, so
// that a process with a thousand sessions need not look into each of them several
// times a second. A mail whose poster died before it rang, or could not, is found a
// little later. It is safe for concurrent use.
type bell struct {
	path string

	mu    sync.Mutex
	rings int64     // as they were counted
	mine  int64     // what rung was then
	until time.Time // they are not counted again before
}

// rung counts what this process rang, in any store.
var rung atomic.Int64

const (
	countAgain = 10 * time.Millisecond
	lookAnyway = 3 * time.Second
)

// ring is called when a mail is durable.
func (b *bell) ring() {
	f, err := os.OpenFile(b.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, _ = f.Write([]byte{'.'}) // who cannot ring is heard late
		f.Close()
	}
	rung.Add(1)
}

// count is how often anybody rang. It may lag behind, by less than a person notices;
// what a caller read before a look does not count a mail that the look misses.
func (b *bell) count() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, mine := time.Now(), rung.Load()
	if mine == b.mine && now.Before(b.until) {
		return b.rings
	}
	b.rings, b.mine, b.until = 0, mine, now.Add(countAgain)
	if info, err := os.Stat(b.path); err == nil {
		b.rings = info.Size()
	}
	return b.rings
}

// unmailed is a look that found no mail.
type unmailed struct {
	rings int64 // before it
	at    time.Time
}

func (u *unmailed) holds(rings int64) bool {
	return u != nil && u.rings == rings && time.Since(u.at) < lookAnyway
}
