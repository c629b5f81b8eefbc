package sqlitelog

import (
	"context"
	"errors"
	"os"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/grams"
)

// begin lets the index catch up with the log. It holds mu. The returned channel is
// closed when that has ended.
func (w *words) begin(r *reader) chan struct{} {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	w.work, w.stop = done, stop
	go func() {
		defer func() {
			w.mu.Lock()
			w.work = nil
			w.mu.Unlock()
			stop()
			close(done)
		}()
		for w.more(ctx, r) {
		}
	}()
	return done
}

// more indexes a page of the log. It tells whether there may be another.
func (w *words) more(ctx context.Context, r *reader) bool {
	w.mu.Lock()
	covered, life := w.covered, w.life
	w.mu.Unlock()
	head, err := r.Head(ctx)
	if err != nil || covered >= head {
		return false
	}
	scan := newScan(session.Query{After: covered, Kinds: session.Saying}, head)
	scan.size = maxPage
	events, pageErr := r.page(ctx, scan)
	for _, e := range events {
		switch err := w.add(ctx, r, e, session.Texts(e), life); {
		case errors.Is(err, errAnew):
			return true
		case err != nil || ctx.Err() != nil:
			return false
		}
	}
	if pageErr != nil || !scan.over() {
		return pageErr == nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.life != life {
		return true
	}
	w.covered = head // nothing else says anything
	return false
}

var (
	errAnew   = errors.New("the blocks begin anew")
	errOthers = errors.New("another process writes the index")
)

// add puts the next event into the block that grows, where the blocks still have the
// life in which it was read. A block that is full goes into a segment with those before
// it, as soon as they make one.
func (w *words) add(ctx context.Context, r *reader, e session.Event, texts []string, life int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.life != life {
		return errAnew
	}
	if !w.open && len(w.blocks) == grams.Blocks {
		if err := w.write(ctx, r); err != nil {
			return err
		}
	}
	if !w.open {
		w.blocks, w.open, w.bytes = append(w.blocks, grams.Block{}), true, 0
	}
	b := &w.blocks[len(w.blocks)-1]
	for _, t := range texts {
		b.Add(t)
		w.bytes += len(t)
	}
	b.Last, w.covered, w.sum = e.Seq, e.Seq, sum(e)
	w.open = !b.Full(w.bytes)
	return nil
}

// write makes a segment of the blocks. Where others wrote one meanwhile, the blocks
// begin anew behind it.
func (w *words) write(ctx context.Context, r *reader) error {
	lock, err := acquire(w.path + ".lock")
	if err != nil {
		return err
	}
	if lock == nil {
		return errOthers
	}
	defer lock.release()
	life := w.life
	if !exists(r.path) || !w.load(ctx, r) {
		return errOthers
	}
	if w.life != life {
		return errAnew
	}
	s := grams.Segment{After: w.filed(), Sum: w.sum}
	if s.Born, err = r.sumOf(ctx, 1); err != nil {
		return err
	}
	for i := range w.blocks {
		s.Lasts[i] = w.blocks[i].Last
	}
	if err := put(w.path, int64(len(w.heads))*int64(grams.SegmentLen), s.Encode(w.blocks)); err != nil {
		return err
	}
	w.heads, w.bad, w.blocks = append(w.heads, s), -1, nil
	return nil
}

// put writes data at a place of a file, in place of all that stands there or behind.
func put(path string, at int64, data []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err = file.Truncate(at); err == nil {
		_, err = file.WriteAt(data, at)
	}
	return errors.Join(err, file.Close())
}

// close ends the indexing and waits for that.
func (w *words) close() {
	w.mu.Lock()
	w.closed = true
	work, stop := w.work, w.stop
	w.mu.Unlock()
	if work != nil {
		stop()
		<-work
	}
}
