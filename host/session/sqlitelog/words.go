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

// search yields what s selects and may hold a text.
func (r *reader) search(ctx context.Context, text string, head int64, s *scan, yield func(session.Event, error) bool) {
	rows := grams.RowsOf(text)
	used, work := false, (chan struct{})(nil)
	if len(rows) > 0 {
		used, work = r.words.start(ctx, r, head)
	}
	if !used {
		r.scan(ctx, s, yield)
		return
	}
	all, limited := *s, s.left > 0
	if work != nil && s.reverse { // what was said lately need not wait
		newest := max(0, head-farBehind)
		if s.after = max(s.after, newest); !r.scan(ctx, s, yield) || limited && s.left == 0 {
			return
		}
		all.before, head = min(all.before, newest+1), newest
	}
	await(ctx, work)
	for _, p := range r.words.parts(rows, head, s.reverse) {
		s.after, s.before, s.done = max(all.after, p.after), min(all.before, p.before), false
		if !r.scan(ctx, s, yield) || limited && s.left == 0 {
			return
		}
	}
}

// start tells whether the index can be used, and lets it catch up with head where it is
// far behind and nobody does that yet: then there is work to wait for.
func (w *words) start(ctx context.Context, r *reader, head int64) (used bool, work chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.load(ctx, r) {
		return false, nil
	}
	if head-w.covered >= farBehind && w.work == nil && !w.closed {
		work = w.begin(r)
	}
	return true, work
}

// await waits for work, not long.
func await(ctx context.Context, work chan struct{}) {
	if work == nil {
		return
	}
	timer := time.NewTimer(wordsWait)
	defer timer.Stop()
	select {
	case <-work:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// parts are the stretches of the log up to head in which the text that has these rows
// may stand.
func (w *words) parts(rows []uint16, head int64, reverse bool) []stretch {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := w.find(rows, head)
	if reverse {
		slices.Reverse(found)
	}
	return found
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
