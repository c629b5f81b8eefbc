package pluginhost

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

const (
	rootPrefix = "tureen-host-"
	lockName   = "lock"
	// socketLimit is what the kernel takes as a socket's path, without its NUL.
	socketLimit = 103 // macOS; Linux takes 107
	// socketTail is the longest path that stands below a generation's directory:
	// go-plugin's "plugin-dir" and "plugin" with ten digits each.
	socketTail = len("/plugin-dir1234567890/plugin1234567890")
	// genLen is the longest name of a generation's directory.
	genLen = len("/1234.123456")
	// rootAttempts is how often a new directory may be swept away.
	rootAttempts = 10
)

// rootDir is the host's private directory; it holds one directory per process.
// Its lock tells other hosts that it is in use.
type rootDir struct {
	path string
	lock *flock.Flock
}

// RuntimeDir finds the directory in which a Supervisor with that environment would
// put its sockets, and leaves nothing there.
func RuntimeDir(env []string) (string, error) {
	root, err := newRoot(socketBases(env))
	if err != nil {
		return "", err
	}
	return filepath.Dir(root.path), root.remove()
}

func socketBases(env []string) []string {
	return []string{lookup(env, "XDG_RUNTIME_DIR"), lookup(env, "TMPDIR"), "/tmp"}
}

// newRoot makes the directory in the first base where sockets fit, and removes
// what hosts that died have left there.
func newRoot(bases []string) (*rootDir, error) {
	var problems []error
	for _, base := range bases {
		if base == "" {
			continue
		}
		if longest := len(base) + len("/"+rootPrefix) + 10 + genLen + socketTail; longest > socketLimit {
			problems = append(problems, fmt.Errorf("%s is %d bytes too long for the path of a socket", base, longest-socketLimit))
			continue
		}
		sweep(base)
		root, err := makeRoot(base)
		if err == nil {
			return root, nil
		}
		problems = append(problems, err)
	}
	return nil, fmt.Errorf("no directory for the plugins' sockets: set XDG_RUNTIME_DIR or TMPDIR to a short, writable one: %w", errors.Join(problems...))
}

// makeRoot makes a directory and locks it. Another host's sweep may lock and remove
// it between the two: then it makes another.
func makeRoot(base string) (*rootDir, error) {
	for range rootAttempts {
		path, err := os.MkdirTemp(base, rootPrefix) // 0700
		if err != nil {
			return nil, err
		}
		root, err := lockRoot(path)
		if root != nil {
			return root, nil
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s cannot be locked: %w", path, err), os.RemoveAll(path))
		}
	}
	return nil, fmt.Errorf("%s: %d times another process removed a directory that was just made", base, rootAttempts)
}

// lockRoot takes the lock of a new directory; nil where a sweep was faster. The
// lock counts only while its file is the one that has the name.
func lockRoot(path string) (*rootDir, error) {
	lock := flock.New(filepath.Join(path, lockName))
	ok, err := lock.TryLock()
	if err == nil && ok {
		mine, err1 := lock.Stat()
		named, err2 := os.Stat(lock.Path())
		if err1 == nil && err2 == nil && os.SameFile(mine, named) {
			return &rootDir{path: path, lock: lock}, nil
		}
	}
	_ = lock.Close()
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return nil, err
}

// generation makes the private directory of one process.
func (r *rootDir) generation(instance, number int) (string, error) {
	path := filepath.Join(r.path, strconv.Itoa(instance)+"."+strconv.Itoa(number))
	for _, dir := range []string{path, filepath.Join(path, "home"), filepath.Join(path, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return "", err
		}
	}
	return path, nil
}

func (r *rootDir) remove() error {
	return errors.Join(removeRoot(r.path), r.lock.Close())
}

// removeRoot removes a directory, its lock last: what a kill leaves of it can
// still be swept.
func removeRoot(path string) error {
	entries, err := os.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	problems := []error{err}
	for _, e := range entries {
		if e.Name() != lockName {
			problems = append(problems, os.RemoveAll(filepath.Join(path, e.Name())))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// sweep removes the directories of hosts that are gone: ours by owner, and with
// a lock that nobody holds. What cannot be removed stays for the next host.
func sweep(base string) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(base, e.Name())
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), rootPrefix) || !info.IsDir() || !ownedByUs(info) {
			continue
		}
		lockPath := filepath.Join(path, lockName)
		if _, err := os.Lstat(lockPath); err != nil {
			_ = os.Remove(path) // only where it is empty: its maker, if it lives, makes another
			continue
		}
		lock := flock.New(lockPath, flock.SetFlag(os.O_RDWR)) // never makes the file
		if ok, err := lock.TryLock(); err == nil && ok {
			_ = removeRoot(path)
			_ = lock.Close()
		}
	}
}
