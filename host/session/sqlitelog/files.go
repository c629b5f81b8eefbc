package sqlitelog

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

const (
	suffix     = ".db"
	unfinished = ".new" // behind the suffix: a file that is being made

	// walMark is the format's mark of a write-ahead log, so that no open has to switch
	// to one.
	walMark, walMarkAt = "\x02\x02", 18
)

// access is how a database file is opened: a query string for the driver.
type access string

const busy = "_busy_timeout=5000"

var (
	// forWriting syncs each commit down to the medium.
	forWriting access = "_journal_mode=wal&" + forFlat
	// forFlat does so without a write-ahead log, where that cannot be: with a rollback
	// journal.
	forFlat access = "mode=rw&" + busy + "&_synchronous=full&_pragma=fullfsync(1)&_pragma=checkpoint_fullfsync(1)"
	// forReading may still write beside the log: it takes part in the locking
	// and brings in what a killed writer left in the write-ahead log.
	forReading access = "mode=rw&" + busy + "&_query_only=1"
	// frozen reads a file that nobody can write.
	frozen access = "mode=ro&immutable=1&" + busy
	// forMaking fills a file that nobody knows yet; what goes wrong costs it its life.
	forMaking access = "mode=rw&_journal_mode=off&_synchronous=off&_pragma=locking_mode(exclusive)"
	// forCatalogue needs no durability.
	forCatalogue access = "mode=rw&_busy_timeout=500&_journal_mode=wal&_synchronous=off"
)

// conns is how many connections a log uses at most: its writer and readers.
const conns = 4

// connect prepares access to a file; nothing is opened yet.
func connect(path string, how access) (*sql.DB, error) {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: string(how)}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// writeFile makes a file of mode 0600 that is complete, and on the medium, from
// the moment it has its name.
func writeFile(path string, data []byte) error {
	temp := path + unfinished
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return publish(temp, path)
}

// publish gives a file that is on the medium its name, durably.
func publish(temp, path string) error {
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// flatten takes the mark of a write-ahead log from a file that has none.
func flatten(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte("\x01\x01"), walMarkAt)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDir makes a new name in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// removeDB removes a database, as far as it is there, and what is kept beside it by
// SQLite and by us.
func removeDB(path string) error {
	var errs []error
	for _, name := range []string{path, path + "-wal", path + "-shm", path + "-journal", path + indexSuffix, path + indexSuffix + ".lock"} {
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// mark tells states of a session's files apart, by their sizes and times. The
// second value is what they occupy.
func mark(path string) (string, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", 0, err
	}
	m, n := fmt.Sprintf("%d@%d", info.Size(), info.ModTime().UnixNano()), info.Size()
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
		m, n = fmt.Sprintf("%s+%d@%d", m, wal.Size(), wal.ModTime().UnixNano()), n+wal.Size()
	}
	return m, n, nil
}
