package pluginhost

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	rootPrefix = "tureen-host-"
	// rootAttempts is how often a new directory may be swept away.
	rootAttempts = 10
)

// rootDir is the host's private directory; it holds one directory per process. A
// command of the same user may be able to rename it and to put something else in its
// place, so what is made and removed in it goes through the held directory, never
// through its path. Its lock tells other hosts that it is in use.
type rootDir struct {
	path string   // for those who can only be given a path; see check
	base *os.Root // where it was made
	name string   // in base
	root *os.Root
	lock *os.File // the directory once more
	made []string // directories above it that are ours to remove, the innermost first
}

// makeRoot makes a directory and locks it. Another host's sweep may lock and remove
// it between the two: then it makes another.
func makeRoot(base string) (*rootDir, error) {
	for range rootAttempts {
		parent, err := os.OpenRoot(base)
		if err != nil {
			return nil, err
		}
		name := rootPrefix + strconv.FormatUint(uint64(rand.Uint32()), 10)
		if err := parent.Mkdir(name, 0o700); err != nil {
			_ = parent.Close()
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return nil, err
		}
		r, err := hold(parent, name)
		if err == nil {
			r.path = filepath.Join(base, name)
			return r, nil
		}
		if _, gone := parent.Lstat(name); gone == nil && !errors.Is(err, errInUse) {
			err = errors.Join(fmt.Errorf("%s cannot be locked: %w", filepath.Join(base, name), err), parent.Remove(name), parent.Close())
			return nil, err
		}
		_ = parent.Close()
	}
	return nil, fmt.Errorf("%s: %d times another process removed a directory that was just made", base, rootAttempts)
}

var (
	errInUse  = errors.New("another process has locked it")
	errNotOne = errors.New("it is no private directory of ours")
)

// hold opens and locks a directory that has that name in base. A symlink is none: what
// was opened has to be what the name says, ours, and nobody else's to enter. On an
// error base stays open and the caller's.
func hold(base *os.Root, name string) (*rootDir, error) {
	root, err := base.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	r := &rootDir{base: base, name: name, root: root}
	if r.lock, err = root.Open("."); err == nil {
		err = r.take()
	}
	if err != nil {
		r.letGo()
		return nil, err
	}
	return r, nil
}

// take locks the directory. The lock counts only while the name leads to it.
func (r *rootDir) take() error {
	info, err := r.lock.Stat()
	if err != nil {
		return err
	}
	if !ownedByUs(info) || info.Mode().Perm()&0o077 != 0 {
		return errNotOne
	}
	if err := unix.Flock(int(r.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		if errors.Is(err, unix.EWOULDBLOCK) {
			return errInUse
		}
		return err
	}
	if named, err := r.base.Lstat(r.name); err != nil || !os.SameFile(named, info) {
		return errNotOne
	}
	return nil
}

func (r *rootDir) letGo() {
	_ = r.root.Close()
	if r.lock != nil {
		_ = r.lock.Close()
	}
}

// generation makes the private directory of one process.
func (r *rootDir) generation(instance, number int) (string, error) {
	name := strconv.Itoa(instance) + "." + strconv.Itoa(number)
	path := filepath.Join(r.path, name)
	for _, dir := range []string{name, filepath.Join(name, "home"), filepath.Join(name, "tmp")} {
		if err := r.root.Mkdir(dir, 0o700); err != nil {
			return "", orClosed(err)
		}
	}
	if err := r.check(path); err != nil {
		return "", errors.Join(err, r.root.RemoveAll(name))
	}
	return path, nil
}

// check fails where a path below the directory leads to anything but what the held
// directory has there.
func (r *rootDir) check(path string) error {
	inside, err := filepath.Rel(r.path, path)
	if err != nil {
		return err
	}
	held, err := r.root.Lstat(inside)
	if errors.Is(err, os.ErrClosed) {
		return errClosed
	}
	named, err2 := os.Lstat(path)
	if err != nil || err2 != nil || !os.SameFile(held, named) {
		return r.moved()
	}
	return nil
}

func (r *rootDir) moved() error {
	return fmt.Errorf("%s: the plugins' private directory was moved or replaced while the run went on; look at what its commands did, then start again", r.path)
}

// drop removes the directory of one process, wherever the directory that it lies in is
// by now.
func (r *rootDir) drop(path string) error {
	err := r.root.RemoveAll(filepath.Base(path))
	if errors.Is(err, os.ErrClosed) { // removed as a whole
		return nil
	}
	return err
}

// remove empties the directory, and removes its name where that still leads to it. What
// somebody put in its place is not touched.
func (r *rootDir) remove() error {
	info, err := r.lock.Stat()
	if err == nil {
		err = empty(r.root)
	}
	if err == nil {
		switch named, gone := r.base.Lstat(r.name); {
		case gone == nil && os.SameFile(named, info):
			err = r.base.Remove(r.name)
		case gone == nil || !errors.Is(gone, fs.ErrNotExist):
			err = r.moved()
		}
	}
	r.letGo()
	_ = r.base.Close()
	for _, dir := range r.made {
		_ = os.Remove(dir) // only where it is empty
	}
	return err
}

func empty(root *os.Root) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	problems := []error{err}
	for _, e := range entries {
		problems = append(problems, root.RemoveAll(e.Name()))
	}
	return errors.Join(problems...)
}

// sweep removes the directories of hosts that are gone: ours by owner, and with
// a lock that nobody holds. What cannot be removed stays for the next host.
func sweep(base string) {
	parent, err := os.OpenRoot(base)
	if err != nil {
		return
	}
	defer parent.Close()
	entries, err := fs.ReadDir(parent.FS(), ".")
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), rootPrefix) {
			continue
		}
		r, err := hold(parent, e.Name())
		if err != nil {
			continue
		}
		if empty(r.root) == nil {
			_ = parent.Remove(e.Name()) // a symlink that replaced it just now is not followed
		}
		r.letGo()
	}
}

// orClosed is the error of a Supervisor that was closed meanwhile.
func orClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return errClosed
	}
	return err
}
