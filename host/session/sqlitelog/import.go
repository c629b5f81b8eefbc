package sqlitelog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// Import implements session.Importer. The file grows under the unfinished name, in
// one transaction that syncs nothing, and gets its own when it is on the medium: a
// process that is killed meanwhile leaves no session.
func (s *Store) Import(ctx context.Context, id string, events iter.Seq2[session.Event, error], snapshot func() []byte) error {
	lock, err := s.claim(ctx, id)
	if err != nil {
		return err
	}
	defer lock.release()
	path := s.path(id)
	temp := path + unfinished
	defer os.Remove(temp)
	row, err := s.fill(ctx, id, temp, store.Imported(id, events), snapshot)
	if err == nil {
		err = errors.Join(ctx.Err(), finish(temp))
	}
	if err == nil {
		err = publish(temp, path)
	}
	if err != nil {
		return fmt.Errorf("session %s: import: %w", id, fault(path, err))
	}
	s.note(row)
	return nil
}

// fill makes the database at temp and puts the events into it.
func (s *Store) fill(ctx context.Context, id, temp string, events iter.Seq2[session.Event, error], snapshot func() []byte) (row session.Summary, err error) {
	row.ID = id
	blank, err := s.blank()
	if err != nil {
		return row, err
	}
	if err := os.WriteFile(temp, blank, 0o600); err != nil {
		return row, err
	}
	db, err := connect(temp, forMaking)
	if err != nil {
		return row, err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return row, err
	}
	w, err := newWriter(ctx, conn, s.schema.version)
	if err != nil {
		conn.Close()
		return row, err
	}
	defer w.close()
	err = w.fill(ctx, events, func(e session.Event) { store.Fold(&row, e) }, snapshot)
	return row, err
}

// fill writes all events in one transaction, and the snapshot behind them. Where it
// fails, the file is good for nothing.
func (w *writer) fill(ctx context.Context, events iter.Seq2[session.Event, error], done func(session.Event), snapshot func() []byte) error {
	quick := context.WithoutCancel(ctx) // watching for the end of one costs a goroutine a statement
	if _, err := w.begin.ExecContext(quick); err != nil {
		return err
	}
	head := int64(0)
	for e, err := range events {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = w.put(quick, e)
		}
		if err != nil {
			return err
		}
		done(e)
		head = e.Seq
	}
	if snapshot != nil {
		if data := snapshot(); data != nil {
			if err := w.keep(quick, head, data); err != nil {
				return err
			}
		}
	}
	_, err := w.commit.ExecContext(quick)
	return err
}

// finish brings a database that nobody has open to the medium, ready for its first
// owner.
func finish(temp string) error {
	f, err := os.OpenFile(temp, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(walMark), walMarkAt)
	return errors.Join(err, f.Sync(), f.Close())
}
