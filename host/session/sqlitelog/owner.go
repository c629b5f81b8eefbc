package sqlitelog

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// lock is a held lock file.
type lock struct{ file *flock.Flock }

// own makes this process the owner of the session at path.
func own(id, path string) (*lock, error) {
	l, err := acquire(path + ".lock")
	if err != nil {
		return nil, fmt.Errorf("session %s: take it: %w; %s", id, err, remedy(err, "make its directory writable, or only read it"))
	}
	if l == nil {
		text, _ := os.ReadFile(path + ".lock")
		owner := strings.TrimSpace(string(text))
		return nil, &session.LockedError{ID: id, Owner: cmp.Or(owner, "owner unknown")}
	}
	return l, nil
}

// lookTime is how long a held lock is tried again: who looks whether a session has
// an owner holds a lock too, for a moment.
const lookTime, lookPause = 50 * time.Millisecond, 2 * time.Millisecond

// acquire takes the lock file at path and signs it; nil
// where another has it. As release removes the file, a lock counts only while its
// file is the one that has the name.
func acquire(path string) (*lock, error) {
	for began := time.Now(); ; {
		f := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
		held, err := f.TryLock()
		if err == nil && !held && time.Since(began) < lookTime {
			f.Close()
			time.Sleep(lookPause)
			continue
		}
		if err != nil || !held {
			f.Close()
			return nil, err
		}
		mine, err := f.Stat()
		named, err2 := os.Stat(path)
		if err == nil && err2 == nil && os.SameFile(mine, named) {
			sign(path)
			return &lock{f}, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		}
	}
}

// sign writes this process's name over what is in the file. The name is a courtesy:
// where the disk is full the file holds as good without, and says nothing of an
// earlier owner. (Cutting the file to nothing first would make ext4 write it out at
// once.)
func sign(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return
	}
	defer f.Close()
	n, err := fmt.Fprintln(f, store.Process())
	if err != nil {
		n = 0
	}
	_ = f.Truncate(int64(n))
}

// release removes the file while the lock on it is still held.
func (l *lock) release() {
	os.Remove(l.file.Path())
	l.file.Close()
}
