package sqlitelog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// reader is a session.Reader.
type reader struct {
	id, path string
	db       *sql.DB
	version  int // of the file's schema, which a newer binary finds behind
	expected func(context.Context) int64
	words    *words

	mu     sync.RWMutex // read-held by each query, so that close waits for them
	closed bool
}

// openReader opens and checks a session's file. Its schema may be behind.
func (s *Store) openReader(ctx context.Context, id string, how access) (r *reader, err error) {
	r = &reader{id: id, path: s.path(id), words: newWords(s.path(id)), expected: func(ctx context.Context) int64 { return s.expected(ctx, id) }}
	if r.db, err = connect(r.path, how); err != nil {
		return nil, err
	}
	if r.version, err = s.schema.check(ctx, r.db, r.path); err != nil {
		r.db.Close()
		return nil, r.unlessRemoved(fmt.Errorf("session %s: %w", id, err))
	}
	return r, nil
}

// unlessRemoved returns err, or the truth where the session was removed since it
// was found.
func (r *reader) unlessRemoved(err error) error {
	if !exists(r.path) {
		return store.NotFound(r.id)
	}
	return err
}

// view opens a session for reading, in a directory that cannot be written and on a
// full disk too.
func (s *Store) view(ctx context.Context, id string) (*reader, session.Summary, error) {
	if err := s.inspect(ctx, id, false); err != nil {
		return nil, session.Summary{}, err
	}
	r, err := s.openReader(ctx, id, forReading)
	if (unwritable(err) || failedIO(err)) && !leftover(s.path(id), "-wal") {
		r, err = s.openReader(ctx, id, frozen)
	}
	if err != nil {
		return nil, session.Summary{}, err
	}
	sum, err := r.summary(ctx)
	if err != nil {
		r.Close()
		return nil, sum, r.unlessRemoved(err)
	}
	return r, sum, nil
}

// leftover tells whether some of the log still lies in a file beside it, which is
// called as the log with something behind.
func leftover(path, behind string) bool {
	info, err := os.Stat(path + behind)
	return err == nil && info.Size() > 0
}

func (r *reader) ID() string { return r.id }

// use must be called before the database is; done after.
func (r *reader) use() (done func(), err error) {
	r.mu.RLock()
	if r.closed {
		r.mu.RUnlock()
		return nil, store.Closed(r.id)
	}
	return r.mu.RUnlock, nil
}

// fault gives an error of the database its session and meaning.
func (r *reader) fault(doing string, err error) error {
	return fmt.Errorf("session %s: %s: %w", r.id, doing, fault(r.path, err))
}

func (r *reader) Head(ctx context.Context) (head int64, err error) {
	done, err := r.use()
	if err != nil {
		return 0, err
	}
	defer done()
	err = r.db.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM events`).Scan(&head)
	if err != nil {
		return 0, r.fault("read the head", err)
	}
	return head, nil
}

// Snapshot implements session.Reader. One that is damaged counts as none: the log
// says all that it did.
func (r *reader) Snapshot(ctx context.Context) (data []byte, head int64, err error) {
	done, err := r.use()
	if err != nil {
		return nil, 0, err
	}
	defer done()
	data, head, _, err = r.snapshot(ctx)
	return data, head, err
}

// snapshot reads the snapshot, nil where there is none that is sound. spoilt says that
// there is one that is not.
func (r *reader) snapshot(ctx context.Context) (data []byte, head int64, spoilt bool, err error) {
	stored := sql.NullInt64{}
	err = r.db.QueryRowContext(ctx, `SELECT data, head, `+r.crc()+` FROM snapshot`).Scan(&data, &head, &stored)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, 0, false, nil
	case code(err) == sqlite3.SQLITE_CORRUPT, err == nil && stored.Valid && stored.Int64 != sumSnapshot(head, data):
		return nil, 0, true, nil
	case err != nil:
		return nil, 0, false, r.fault("read the snapshot", err)
	}
	return data, head, false, nil
}

// crc names the column of the sums, which an older file has not.
func (r *reader) crc() string {
	if r.version < sumVersion {
		return "NULL"
	}
	return "crc"
}

// Close waits for queries that run, not for iterations. It ends the indexing.
func (r *reader) Close() error {
	r.words.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	return r.db.Close()
}

// log is a session.Log.
type log struct {
	*reader
	store *Store
	lock  *lock
	none  atomic.Pointer[unmailed] // the newest look that found no mail

	write    sync.Mutex // guards the following, and the order of appends
	writer   *writer
	row      session.Summary // the session as it stands
	released bool
}

// take opens a session that this process owns.
func (s *Store) take(ctx context.Context, id string, lock *lock) (*log, error) {
	if err := s.inspect(ctx, id, true); err != nil {
		return nil, err
	}
	r, err := s.openReader(ctx, id, forWriting)
	if unshared(err) && !leftover(s.path(id), "-wal") && flatten(s.path(id)) == nil {
		r, err = s.openReader(ctx, id, forFlat)
	}
	if err != nil {
		return nil, err
	}
	l := &log{reader: r, store: s, lock: lock}
	if err = s.schema.upgrade(ctx, r, s.schema.version); err == nil {
		l.row, err = r.summary(ctx)
	}
	if err == nil {
		l.writer, err = r.newWriter(ctx)
	}
	if err != nil {
		r.db.Close()
		return nil, err
	}
	return l, nil
}

func (r *reader) newWriter(ctx context.Context) (*writer, error) {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return nil, r.fault("open for writing", err)
	}
	w, err := newWriter(ctx, conn, r.version)
	if err != nil {
		return nil, r.fault("open for writing", err)
	}
	return w, nil
}

// noted are the kinds that a session's row changes with at once.
var noted = []session.Kind{session.KindTurnStarted, session.KindTurnEnded, session.KindSessionArchived}

func (l *log) Append(ctx context.Context, b session.Batch) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	events, err := store.Stamp(b, time.Now())
	if err != nil {
		return 0, fmt.Errorf("session %s: append: %w", l.id, err)
	}
	l.write.Lock()
	defer l.write.Unlock()
	done, err := l.use()
	if err != nil {
		return 0, err
	}
	defer done()
	head, err := l.writer.append(ctx, session.Batch{Head: b.Head, Events: events, Snapshot: b.Snapshot, Taken: b.Taken})
	if errors.Is(err, session.ErrConflict) {
		return 0, store.Conflict(l.id, b.Head, head)
	}
	if err != nil {
		return 0, l.fault("append", err)
	}
	turned := false
	for _, e := range events {
		store.Fold(&l.row, e)
		turned = turned || slices.Contains(noted, e.Kind)
	}
	if turned {
		l.store.note(l.row)
	}
	return head, nil
}

// Close gives the session up; a second call does nothing.
func (l *log) Close() error {
	l.write.Lock()
	defer l.write.Unlock()
	if l.released {
		return nil
	}
	l.released = true
	l.writer.close()
	err := l.reader.Close()
	l.store.note(l.row)
	l.lock.release()
	if err != nil {
		return l.fault("close", err)
	}
	return nil
}
