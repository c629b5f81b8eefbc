package sqlitelog

import (
	"cmp"
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a file as a session log.
const applicationID = 0x54754c67

// schema is the steps that make a file, and the version they lead to.
type schema struct {
	steps   fs.FS
	version int
}

var current = schema{steps: sub(migrations, "migrations"), version: 3}

func sub(fsys fs.FS, dir string) fs.FS {
	s, err := fs.Sub(fsys, dir)
	if err != nil {
		panic(err) // dir is a constant
	}
	return s
}

// blank returns the bytes of a file that holds a log without events.
func (s schema) blank() ([]byte, error) {
	ctx := context.Background()
	db, err := inMemory()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if err := s.migrate(ctx, db, s.version); err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return serialize(conn)
}

// begin returns the bytes of a file that holds a log of one event: of a blank one
// with the event in it. It is made in memory so that a failure leaves nothing
// behind.
func (s schema) begin(ctx context.Context, blank []byte, first session.Event) ([]byte, error) {
	db, err := inMemory()
	if err != nil {
		return nil, err
	}
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	err = conn.Raw(func(c any) error { return c.(interface{ Deserialize([]byte) error }).Deserialize(blank) })
	if err != nil {
		return nil, err
	}
	w, err := newWriter(ctx, conn, s.version)
	if err != nil {
		return nil, err
	}
	defer w.close()
	events, err := store.Stamp(session.Batch{Events: []session.Event{first}}, first.Time)
	if err != nil {
		return nil, err
	}
	if _, err := w.append(ctx, session.Batch{Events: events}); err != nil {
		return nil, err
	}
	return serialize(conn)
}

// inMemory returns a database of one connection, with which it goes.
func inMemory() (*sql.DB, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

func serialize(conn *sql.Conn) (image []byte, err error) {
	err = conn.Raw(func(c any) error {
		image, err = c.(interface{ Serialize() ([]byte, error) }).Serialize()
		return err
	})
	return image, err
}

// migrate runs the steps up to version that db has not seen.
func (s schema) migrate(ctx context.Context, db *sql.DB, version int) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, db, s.steps, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read the schema's steps: %w", err)
	}
	if _, err := p.UpTo(ctx, int64(version)); err != nil {
		return fmt.Errorf("bring the schema to version %d: %w", version, err)
	}
	return nil
}

// upgrade brings a file to version where it is behind. Others may be at it too: a
// step is one transaction, so one of them gets it done and the rest look again.
func (s schema) upgrade(ctx context.Context, r *reader, version int) error {
	for r.version < version {
		err := s.migrate(ctx, r.db, version)
		now, checkErr := s.check(ctx, r.db, r.path)
		if checkErr != nil {
			return fmt.Errorf("session %s: %w", r.id, checkErr)
		}
		if now == r.version {
			return r.fault("upgrade", cmp.Or(err, errStuck))
		}
		r.version = now
	}
	return nil
}

var errStuck = errors.New("the schema's steps do not raise its version")

// check returns the schema version of the file at path, if it is a log that this
// version can use.
func (s schema) check(ctx context.Context, db *sql.DB, path string) (version int, err error) {
	var app int
	row := db.QueryRowContext(ctx, `SELECT application_id, user_version FROM pragma_application_id, pragma_user_version`)
	if err := row.Scan(&app, &version); err != nil {
		return 0, fault(path, err)
	}
	switch {
	case app != applicationID || version == 0:
		return 0, damaged(path, fmt.Errorf("it is not a session log (%w)", session.ErrDamaged))
	case version > s.version:
		return 0, fmt.Errorf("%s: store schema %d, this version knows up to %d (%w); use a newer tureen",
			path, version, s.version, session.ErrNewer)
	}
	return version, nil
}
