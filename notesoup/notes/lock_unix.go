//go:build unix

package notes

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"syscall"
	"time"
)

// lock takes a home for writing, against other processes and this one. The lock
// file is never deleted.
func (t *Tree) lock(ctx context.Context, home string) (unlock func(), err error) {
	dir := path.Join(metaDir, home)
	if err := t.mkdirs(dir); err != nil {
		return nil, err
	}
	name := path.Join(dir, "lock")
	if info, err := t.root.Lstat(name); err == nil {
		if err := plain(name, info); err != nil {
			return nil, err
		}
	}
	f, err := t.root.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	late := time.NewTimer(t.lockWait)
	defer late.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil // closing the file ends the lock
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, err
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-late.C:
			f.Close()
			return nil, Refuse(CodeBusy, "try again", "another writer has held %s for %s", home, t.lockWait)
		case <-time.After(time.Millisecond + rand.N(4*time.Millisecond)):
		}
	}
}
