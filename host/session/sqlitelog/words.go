package sqlitelog

import (
	"context"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/grams"
)

// words is the index of what a session's events say, as far as it goes: whole segments
// in a file beside the database, the newest blocks in memory. It is brought up to date
// when it is asked, behind the caller's back; what it does not cover has to be read.
type words struct {
	path string

	mu      sync.Mutex
	heads   []grams.Segment // those of the file
	bad     int             // no segment of the file from this one on is used; -1 = all are
	blocks  []grams.Block   // behind them, the last one of which may grow
	open    bool            // whether it does
	bytes   int             // of text in it
	sum     int64           // of the newest event in blocks
	covered int64           // every event up to this one is in a segment or block
	life    int             // how often the blocks began anew
	work    chan struct{}   // closed when the indexing that goes on ends; nil = none does
	stop    func()          // ends it
	closed  bool
}

const (
	indexSuffix = ".index" // behind the database's name
	// farBehind is how many events it takes that the index is brought up to date: fewer
	// are read as fast.
	farBehind = 512
	// wordsWait is how long a search that begins with it waits for that.
	wordsWait = 250 * time.Millisecond
)

func newWords(path string) *words { return &words{path: path + indexSuffix, bad: -1} }

// stretch is a part of the log, both bounds exclusive.
type stretch struct{ after, before int64 }

// stretches are the parts of the log up to head, in order, in which a text may stand.
func (r *reader) stretches(ctx context.Context, text string, head int64) []stretch {
	all := []stretch{{0, head + 1}}
	rows := grams.RowsOf(text)
	if len(rows) == 0 {
		return all
	}
	w := r.words
	w.mu.Lock()
	if !w.load(ctx, r) {
		w.mu.Unlock()
		return all
	}
	var began chan struct{}
	if head-w.covered >= farBehind && w.work == nil && !w.closed {
		began = w.begin(r)
	}
	w.mu.Unlock()
	if began != nil {
		wait := time.NewTimer(wordsWait)
		defer wait.Stop()
		select {
		case <-began:
		case <-wait.C:
		case <-ctx.Done():
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.find(rows, head)
}

// find looks into the segments and blocks. What is behind them may hold anything.
func (w *words) find(rows []uint16, head int64) (found []stretch) {
	add := func(after, last int64) {
		if n := len(found); n > 0 && found[n-1].before > after {
			found[n-1].before = last + 1
		} else {
			found = append(found, stretch{after, last + 1})
		}
	}
	if len(w.heads) > 0 {
		file, err := os.Open(w.path)
		for i := range w.heads {
			s := &w.heads[i]
			var hits []int
			if err == nil {
				hits, err = grams.Find(file, i, rows)
			}
			if err != nil {
				w.cut(i)
				break
			}
			for _, n := range hits {
				after := s.After
				if n > 0 {
					after = s.Lasts[n-1]
				}
				add(after, s.Lasts[n])
			}
		}
		if file != nil {
			file.Close()
		}
	}
	after := w.filed()
	for i := range w.blocks {
		if w.blocks[i].Has(rows) {
			add(after, w.blocks[i].Last)
		}
		after = w.blocks[i].Last
	}
	if w.covered < head {
		add(w.covered, head)
	}
	return found
}

// filed is the last event that the segments cover.
func (w *words) filed() int64 {
	if n := len(w.heads); n > 0 {
		return w.heads[n-1].Last()
	}
	return 0
}

// cut forgets the segments from the i-th on; what follows is indexed anew.
func (w *words) cut(i int) {
	w.heads, w.bad = w.heads[:i], i
	w.restart()
}

// restart lets the blocks begin behind the segments.
func (w *words) restart() {
	w.blocks, w.open, w.bytes, w.covered = nil, false, 0, w.filed()
	w.life++
}

// load takes over what others wrote to the file. It tells whether the index can be
// used: a file that tells of another log cannot, nor one of which that is not known.
func (w *words) load(ctx context.Context, r *reader) bool {
	file, err := os.Open(w.path)
	if err != nil {
		if len(w.heads) > 0 {
			w.heads = nil
			w.restart()
		}
		return os.IsNotExist(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return false
	}
	n := int(info.Size() / int64(grams.SegmentLen))
	if w.bad >= 0 {
		n = min(n, w.bad)
	}
	if n == len(w.heads) {
		return true
	}
	return w.take(ctx, r, file, n)
}

// take reads the heads of n segments.
func (w *words) take(ctx context.Context, r *reader, file io.ReaderAt, n int) bool {
	born, err := r.sumOf(ctx, 1)
	if err != nil {
		return false
	}
	heads := slices.Clone(w.heads[:min(n, len(w.heads))])
	for i := len(heads); i < n; i++ {
		s, err := grams.ReadHead(file, i)
		if err != nil || s.Born != born || i > 0 && s.After != heads[i-1].Last() || i == 0 && s.After != 0 {
			w.bad = i
			break
		}
		heads = append(heads, s)
	}
	if n := len(heads); n > 0 {
		last := heads[n-1]
		sum, err := r.sumOf(ctx, last.Last())
		if err != nil {
			return false
		}
		if sum != last.Sum {
			heads, w.bad = nil, 0
		}
	}
	w.heads = heads
	w.restart()
	return true
}

// sumOf is the sum of an event, 0 where there is none.
func (r *reader) sumOf(ctx context.Context, seq int64) (int64, error) {
	events, err := r.page(ctx, newScan(session.Query{After: seq - 1, Before: seq + 1}, seq))
	if err != nil || len(events) == 0 {
		return 0, err
	}
	return sum(events[0]), nil
}
