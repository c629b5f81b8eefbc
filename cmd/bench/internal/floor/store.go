package floor

import (
	"context"
	"database/sql"
	"fmt"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// store is a table that is appended to, one synced commit a row.
type store struct {
	db     *sql.DB
	insert *sql.Stmt
}

func openStore(ctx context.Context, path string) (*store, error) {
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `CREATE TABLE message (seq INTEGER PRIMARY KEY, data BLOB NOT NULL)`); err != nil {
		db.Close()
		return nil, fmt.Errorf("floor: make %s: %w", path, err)
	}
	insert, err := db.PrepareContext(ctx, `INSERT INTO message (data) VALUES (?)`)
	if err != nil {
		db.Close()
		return nil, err
	}
	return &store{db, insert}, nil
}

func (s *store) append(ctx context.Context, data []byte) error {
	_, err := s.insert.ExecContext(ctx, data)
	return err
}

func (s *store) close() {
	s.insert.Close()
	s.db.Close()
}
