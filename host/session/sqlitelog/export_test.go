package sqlitelog

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"iter"

	"github.com/tureen-host/tureen/host/session"
)

// OpenWith is Open with other steps than the shipped ones.
func OpenWith(dir string, steps fs.FS, version int) (*Store, error) {
	return open(dir, schema{steps: steps, version: version})
}

// Steps are the shipped ones, and Version is what they lead to.
var Steps, Version = current.steps, current.version

// Acquire takes a lock file; release is nil where another has it.
func Acquire(path string) (release func(), err error) {
	l, err := acquire(path)
	if l == nil {
		return nil, err
	}
	return l.release, nil
}

// Limit keeps a log's file from growing beyond a number of pages.
func Limit(l session.Log, pages int) error {
	_, err := l.(*log).writer.conn.ExecContext(context.Background(), fmt.Sprint("PRAGMA max_page_count = ", pages))
	return err
}

// Query is the statement of the first page of a query.
func Query(q session.Query) (string, []any) { return newScan(q, 1).query(&reader{version: Version}) }

// Dig is what Salvage finds in the bytes of the two files.
func Dig(db, wal []byte) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		m, err := newImage(bytes.NewReader(db), int64(len(db)), bytes.NewReader(wal), int64(len(wal)))
		if err == nil {
			err = (&salvage{yield: yield}).dig(context.Background(), m, 0)
		}
		if err != nil {
			panic(err) // bytes in memory do not fail
		}
	}
}

// WithoutSharedMemory has this process use SQLite as on a file system without it.
func WithoutSharedMemory() {
	const none = "&vfs=unix-none"
	forWriting, forFlat, forReading = forWriting+none, forFlat+none, forReading+none
}

// Journal reads back how a log's file keeps its promises.
func Journal(l session.Log) (mode string, err error) {
	err = l.(*log).writer.conn.QueryRowContext(context.Background(), "PRAGMA journal_mode").Scan(&mode)
	return mode, err
}

// NoMailKnown tells whether the next look for mail reads nothing.
func NoMailKnown(l session.Log) bool {
	return l.(*log).none.Load().holds(l.(*log).store.bell.count())
}
