package sqlitelog

import (
	"context"
	"database/sql"
	"embed"
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

var current = schema{steps: sub(migrations, "migrations"), version: 1}

func sub(fsys fs.FS, dir string) fs.FS {
	s, err := fs.Sub(fsys, dir)
	if err != nil {
		panic(err) // dir is a constant
	}
	return s
}

// image returns the bytes of a file that holds a log of one event. It is made in
// memory so that a failure leaves nothing behind.
func (s schema) image(ctx context.Context, first session.Event) ([]byte, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := s.migrate(ctx, db); err != nil {
		return nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	w, err := newWriter(ctx, conn)
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
	var image []byte
	err = conn.Raw(func(c any) error {
		image, err = c.(interface{ Serialize() ([]byte, error) }).Serialize()
		return err
	})
	return image, err
}

// migrate runs the steps that db has not seen.
func (s schema) migrate(ctx context.Context, db *sql.DB) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, db, s.steps, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return fmt.Errorf("read the schema's steps: %w", err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("bring the schema to version %d: %w", s.version, err)
	}
	return nil
}

// check tells whether the file at path is a log that this version can use, and
// whether it is behind.
func (s schema) check(ctx context.Context, db *sql.DB, path string) (behind bool, err error) {
	var app, version int
	row := db.QueryRowContext(ctx, `SELECT application_id, user_version FROM pragma_application_id, pragma_user_version`)
	if err := row.Scan(&app, &version); err != nil {
		return false, fault(path, err)
	}
	switch {
	case app != applicationID || version == 0:
		return false, damaged(path, "it is not a session log")
	case version > s.version:
		return false, fmt.Errorf("%s: store schema %d, this version knows up to %d (%w); use a newer tureen",
			path, version, s.version, session.ErrNewer)
	}
	return version < s.version, nil
}
