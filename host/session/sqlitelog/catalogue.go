package sqlitelog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"

	"github.com/tureen-host/tureen/host/session"
)

// row is what the catalogue keeps of a session: its summary at the moment when
// its files had the mark.
type row struct {
	session.Summary
	Mark string
}

// catalogue is a cache of rows in a database that all processes share. It is
// opened when it is first needed and made anew when it does not read. Its name
// carries the version of its form, so that two versions do not fight over it.
type catalogue struct {
	path string

	mu     sync.Mutex
	db     *sql.DB // nil = not open
	closed bool
}

func newCatalogue(dir string) *catalogue {
	return &catalogue{path: filepath.Join(dir, "catalogue-2.db")}
}

// rows returns all rows by session id.
func (c *catalogue) rows(ctx context.Context) (map[string]row, error) {
	rows := map[string]row{}
	err := c.do(ctx, func(db *sql.DB) error {
		res, err := db.QueryContext(ctx, `SELECT id, mark, summary FROM sessions`)
		if err != nil {
			return err
		}
		defer res.Close()
		for res.Next() {
			var r row
			var id string
			var summary []byte
			if err := res.Scan(&id, &r.Mark, &summary); err != nil {
				return err
			}
			if json.Unmarshal(summary, &r.Summary) == nil && r.ID == id {
				rows[id] = r
			}
		}
		return res.Err()
	})
	return rows, err
}

// events is how many events a session had, 0 where there is no row of it.
func (c *catalogue) events(ctx context.Context, id string) (n int64, err error) {
	err = c.do(ctx, func(db *sql.DB) error {
		var data []byte
		err := db.QueryRowContext(ctx, `SELECT summary FROM sessions WHERE id = ?`, id).Scan(&data)
		var summary session.Summary
		if err == nil && json.Unmarshal(data, &summary) == nil {
			n = summary.Events
		}
		return err
	})
	return n, err
}

// save writes some rows and removes others.
func (c *catalogue) save(ctx context.Context, rows []row, gone map[string]row) error {
	return c.do(ctx, func(db *sql.DB) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		for _, r := range rows {
			summary, err := json.Marshal(r.Summary)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO sessions (id, mark, summary) VALUES (?, ?, ?)`,
				r.ID, r.Mark, summary)
			if err != nil {
				return err
			}
		}
		for id := range gone {
			if _, err := tx.ExecContext(ctx, `DELETE FROM sessions WHERE id = ?`, id); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
}

// do runs f on the database. Where that finds it unusable, do makes a new one and
// tries once more.
func (c *catalogue) do(ctx context.Context, f func(*sql.DB) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return os.ErrClosed
	}
	err := c.try(ctx, f)
	if !broken(err) {
		return err
	}
	lock, lockErr := acquire(c.path + ".lock")
	if lock == nil {
		return errors.Join(err, lockErr) // somebody else is at it
	}
	defer lock.release()
	c.disconnect()
	if err = c.try(ctx, f); broken(err) {
		c.disconnect()
		_ = removeDB(c.path)
		err = c.try(ctx, f)
	}
	return err
}

func (c *catalogue) try(ctx context.Context, f func(*sql.DB) error) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	return f(c.db)
}

func (c *catalogue) connect(ctx context.Context) error {
	if c.db != nil {
		return nil
	}
	f, err := os.OpenFile(c.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	f.Close()
	db, err := connect(c.path, forCatalogue)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS sessions
		(id TEXT PRIMARY KEY, mark TEXT NOT NULL, summary BLOB NOT NULL) STRICT, WITHOUT ROWID`)
	if err != nil {
		db.Close()
		return err
	}
	c.db = db
	return nil
}

func (c *catalogue) disconnect() {
	if c.db != nil {
		c.db.Close()
		c.db = nil
	}
}

func (c *catalogue) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.disconnect()
	return nil
}
