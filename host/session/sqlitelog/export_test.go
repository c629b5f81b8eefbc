package sqlitelog

import (
	"context"
	"fmt"
	"io/fs"

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
func Query(q session.Query) string {
	text, _ := newScan(q, 1).query()
	return text
}
