package sqlitelog

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// mailVersion is the first schema that has mail. Post brings a file so far and no
// further: that adds a table, which an older owner at work does not notice.
const mailVersion = 2

// patience is how long Post waits for the file to be free.
const patience = 5 * time.Second

// Post implements session.Mailbox. It waits for a busy writer, at most five
// seconds.
func (s *Store) Post(ctx context.Context, id string, m session.Mail) error {
	if err := s.find(ctx, id); err != nil {
		return err
	}
	m, err := store.StampMail(m, time.Now())
	if err != nil {
		return fmt.Errorf("session %s: leave mail: %w", id, err)
	}
	if err := s.inspect(ctx, id, false); err != nil {
		return err
	}
	r, err := s.openReader(ctx, id, forWriting)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := s.schema.upgrade(ctx, r, mailVersion); err != nil {
		return err
	}
	if err = r.post(ctx, m); err != nil {
		err = r.fault("leave mail", err)
	} else {
		s.bell.ring()
	}
	return r.unlessRemoved(err) // and the mail with it
}

// post writes a mail in one transaction. Only the wait for its turn is cut by ctx:
// the outcome is always known.
func (r *reader) post(ctx context.Context, m session.Mail) error {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := squeezeIn(ctx, conn); err != nil {
		return err
	}
	ctx = context.WithoutCancel(ctx)
	_, err = conn.ExecContext(ctx, `INSERT INTO mail (time, command, text, sender) VALUES (?, ?, ?, ?)`,
		m.Time.UnixNano(), string(m.Command), m.Text, m.From)
	if err == nil {
		_, err = conn.ExecContext(ctx, `COMMIT`)
	}
	if err != nil {
		_, _ = conn.ExecContext(ctx, `ROLLBACK`) // SQLite may have done so by itself
	}
	return err
}

// squeezeIn begins a transaction beside a writer that may append without a pause.
// SQLite would look every tenth of a second whether the file is free and miss all
// the moments when it is.
func squeezeIn(ctx context.Context, conn *sql.Conn) error {
	if _, err := conn.ExecContext(ctx, `PRAGMA busy_timeout = 0`); err != nil {
		return err
	}
	giveUp := time.Now().Add(patience)
	for {
		_, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`)
		if err == nil {
			_, err = conn.ExecContext(ctx, `PRAGMA busy_timeout = 5000`) // for the commit
		}
		if code(err) != sqlite3.SQLITE_BUSY || time.Now().After(giveUp) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

// Mail implements session.MailLog. Where nothing waited and nobody rang since, nothing
// is read.
func (l *log) Mail(ctx context.Context) ([]session.Mail, error) {
	done, err := l.use()
	if err != nil {
		return nil, err
	}
	defer done()
	rings := l.store.bell.count()
	if l.none.Load().holds(rings) {
		return nil, nil
	}
	mail, err := l.waiting(ctx)
	if err != nil {
		return nil, l.fault("read the mail", err)
	}
	if len(mail) == 0 {
		l.none.Store(&unmailed{rings, time.Now()})
	}
	return mail, nil
}

// waiting reads the mail over the writer's connection while nothing is appended, so
// that a session with little to do needs no other.
func (l *log) waiting(ctx context.Context) ([]session.Mail, error) {
	const query = `SELECT id, time, command, text, sender FROM mail ORDER BY id`
	if !l.write.TryLock() {
		return scanMail(l.db.QueryContext(ctx, query))
	}
	defer l.write.Unlock()
	return scanMail(l.writer.conn.QueryContext(ctx, query))
}

// Untaken implements session.MailCounter.
func (r *reader) Untaken(ctx context.Context) (n int, err error) {
	done, err := r.use()
	if err != nil {
		return 0, err
	}
	defer done()
	if r.version < mailVersion {
		return 0, nil
	}
	if err := r.db.QueryRowContext(ctx, `SELECT count(*) FROM mail`).Scan(&n); err != nil {
		return 0, r.fault("count the mail", err)
	}
	return n, nil
}

func scanMail(rows *sql.Rows, err error) ([]session.Mail, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var mail []session.Mail
	for rows.Next() {
		var m session.Mail
		var nanos int64
		if err := rows.Scan(&m.ID, &nanos, &m.Command, &m.Text, &m.From); err != nil {
			return nil, err
		}
		m.Time = time.Unix(0, nanos).UTC()
		mail = append(mail, m)
	}
	return mail, rows.Err()
}
