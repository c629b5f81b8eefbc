package sqlitelog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tureen-host/tureen/host/session"
)

// fault says what an error of the database at path means and what to do. A full
// disk is syscall.ENOSPC, a failed read or write syscall.EIO, a file that cannot be
// written fs.ErrPermission.
func fault(path string, err error) error {
	var damage *session.Damage
	if errors.As(err, &damage) {
		return damaged(path, damage)
	}
	switch code(err) {
	case 0:
		return err
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_FORMAT,
		sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH:
		// The statements are right: the file is not what they are for.
		return damaged(path, fmt.Errorf("%w (%w)", err, session.ErrDamaged))
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

// damaged is the error of a file that does not read. found is session.ErrDamaged.
func damaged(path string, found error) error {
	id := strings.TrimSuffix(filepath.Base(path), suffix)
	return fmt.Errorf("%s is damaged: %w; the file stays as it is; get what reads into a new session with: tureen session salvage %s",
		path, found, id)
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

// failedIO tells whether a read or a write failed. A reader too has to write: the
// memory that it has in common with others.
func failedIO(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL:
		return true
	}
	return false
}

// remedy is what to do about a file that could not be made or changed: otherwise,
// unless the disk is full.
func remedy(err error, otherwise string) string {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return "free some space and try again"
	}
	return otherwise
}

// unshared tells whether err can come from a file system that gives processes no
// memory in common, which a write-ahead log needs.
func unshared(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMMAP, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMLOCK:
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
