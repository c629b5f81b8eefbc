package sqlitelog

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// writer appends over one connection, with its statements prepared. It is not
// safe for concurrent use.
type writer struct {
	conn                                           *sql.Conn
	begin, commit, rollback, head, event, snapshot *sql.Stmt
	sums                                           bool // whether the schema has them
}

func newWriter(ctx context.Context, conn *sql.Conn, version int) (*writer, error) {
	w := &writer{conn: conn, sums: version >= sumVersion}
	crc, one := "", ""
	if w.sums {
		crc, one = ", crc", ", ?"
	}
	for _, p := range []struct {
		stmt **sql.Stmt
		text string
	}{
		{&w.begin, `BEGIN IMMEDIATE`},
		{&w.commit, `COMMIT`},
		{&w.rollback, `ROLLBACK`},
		{&w.head, `SELECT coalesce(max(seq), 0) FROM events`},
		{&w.event, `INSERT INTO events (` + columns + crc + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?` + one + `)`},
		{&w.snapshot, `INSERT OR REPLACE INTO snapshot (id, head, data` + crc + `) VALUES (1, ?, ?` + one + `)`},
	} {
		stmt, err := conn.PrepareContext(ctx, p.text)
		if err != nil {
			w.close()
			return nil, err
		}
		*p.stmt = stmt
	}
	return w, nil
}

// append writes a stamped batch in one transaction and returns the new head; with
// session.ErrConflict it is the head that was found. The transaction is not cut by
// ctx half-way: its outcome is always known.
func (w *writer) append(ctx context.Context, b session.Batch) (int64, error) {
	ctx = context.WithoutCancel(ctx)
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return 0, err
	}
	head, err := w.insert(ctx, b)
	if err == nil {
		_, err = w.commit.ExecContext(ctx)
	}
	if err != nil {
		// SQLite may have rolled back by itself; then this fails, rightly.
		_, _ = w.rollback.ExecContext(ctx)
	}
	return head, err
}

func (w *writer) insert(ctx context.Context, b session.Batch) (head int64, err error) {
	if err := w.head.QueryRowContext(ctx).Scan(&head); err != nil {
		return 0, err
	}
	if head != b.Head {
		return head, session.ErrConflict
	}
	for _, mail := range b.Taken {
		if err := w.take(ctx, mail); err != nil {
			return head, err
		}
	}
	for _, e := range b.Events {
		if err := w.put(ctx, e); err != nil {
			return head, err
		}
	}
	head += int64(len(b.Events))
	if b.Snapshot != nil {
		err = w.keep(ctx, head, b.Snapshot)
	}
	return head, err
}

// put writes one event.
func (w *writer) put(ctx context.Context, e session.Event) error {
	var op sql.NullString
	var at session.Op
	if e.Op != nil {
		op, at = sql.NullString{String: string(e.Op.Kind), Valid: true}, *e.Op
	}
	args := []any{e.Seq, e.V, e.Time.UnixNano(), string(e.Kind), e.Turn, e.Step, op, at.From, at.To, at.After, []byte(e.Data)}
	if w.sums {
		args = append(args, sum(e))
	}
	if _, err := w.event.ExecContext(ctx, args...); err != nil {
		return fmt.Errorf("event %d (%s): %w", e.Seq, e.Kind, err)
	}
	return nil
}

// keep writes the snapshot.
func (w *writer) keep(ctx context.Context, head int64, data []byte) error {
	args := []any{head, data}
	if w.sums {
		args = append(args, sumSnapshot(head, data))
	}
	_, err := w.snapshot.ExecContext(ctx, args...)
	return err
}

// take removes a mail.
func (w *writer) take(ctx context.Context, mail int64) error {
	res, err := w.conn.ExecContext(ctx, `DELETE FROM mail WHERE id = ?`, mail)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); n == 1 || err != nil {
		return err
	}
	return store.NoMail(mail)
}

func (w *writer) close() {
	for _, s := range []*sql.Stmt{w.begin, w.commit, w.rollback, w.head, w.event, w.snapshot} {
		if s != nil {
			s.Close()
		}
	}
	w.conn.Close()
}
