package sqlitelog

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tureen-host/tureen/host/session"
)

// fault says what an error of the database at path means and what to do. A full
// disk is syscall.ENOSPC, a failed read or write syscall.EIO, a file that cannot be
// written fs.ErrPermission.
func fault(path string, err error) error {
	switch code(err) {
	case 0:
		return err
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damaged(path, err.Error())
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%s: %w (%w), nothing was written; free some space and try again", path, syscall.ENOSPC, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return fmt.Errorf("%s: %w (%w), nothing was written; make the file and its directory writable", path, fs.ErrPermission, err)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("%s: %w; check that the file and its directory can be read and written", path, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("%s: %w; another process is writing to it, try again", path, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("%s: %w (%w), nothing was written; check the disk and its free space", path, syscall.EIO, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// damaged is the error of a file that does not read. It is session.ErrDamaged.
func damaged(path, found string) error {
	return fmt.Errorf("%s: %s (%w); put a copy aside, then salvage what reads with: sqlite3 %s .recover",
		path, found, session.ErrDamaged, path)
}

// broken tells whether err lies in the database file itself, and not in its use
// at that moment.
func broken(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR:
		return true
	}
	return false
}

// unwritable tells whether err comes from a file or directory that cannot be
// written.
func unwritable(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return true
	}
	return false
}

// code returns SQLite's primary result code, 0 where err has none.
func code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}
