package files

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// save replaces the file at target, or creates it where prior is nil, and notes
// the new version as seen. named is the path as the model gave it.
func (p *Provider) save(session, verb, named, target string, r reach, data []byte, prior fs.FileInfo) error {
	info, err := replace(r, target, data, prior)
	if errors.Is(err, errMoved) {
		return changed(verb, named)
	}
	if err != nil {
		return toolcall.Cannot(verb, named, err)
	}
	// The directories exist now, so that the path is what later calls will find.
	if real, err := filepath.EvalSymlinks(target); err == nil {
		target = real
	}
	p.seen.put(session, target, versionOf(info, data))
	return nil
}

// errMoved says that the file is not the one that was checked.
var errMoved = errors.New("the file was changed meanwhile")

// replace puts data in place of prior in one step: a reader finds the old content
// or the new, never a part. Mode and owner are kept; missing directories are made.
// The directory is held open throughout: what is put in its place meanwhile gets
// nothing (T17).
func replace(r reach, target string, data []byte, prior fs.FileInfo) (fs.FileInfo, error) {
	dir, err := r.open(filepath.Dir(target), prior == nil)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	self, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer self.Close()
	name := filepath.Base(target)
	if prior != nil {
		if err := unix.Faccessat(int(self.Fd()), name, unix.W_OK, 0); err != nil { // a rename would not ask
			return nil, &fs.PathError{Op: "write", Path: target, Err: err}
		}
	}
	temp := ".tureen-" + rand.Text() + ".tmp"
	info, err := create(self, dir, temp, data, prior)
	if err == nil {
		err = same(dir, name, prior)
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil {
		dir.Remove(temp)
		return nil, err
	}
	return info, nil
}

// create writes a new file in dir, which self is open on, to the disk.
func create(self *os.File, dir *os.Root, temp string, data []byte, like fs.FileInfo) (info fs.FileInfo, err error) {
	f, name, err := openNew(self, dir, temp)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return nil, err
	}
	if like != nil {
		if owner, ok := like.Sys().(*syscall.Stat_t); ok {
			_ = f.Chown(int(owner.Uid), int(owner.Gid)) // only root may give files away
		}
		if err := f.Chmod(like.Mode()); err != nil {
			return nil, err
		}
	}
	if err := f.Sync(); err != nil {
		return nil, err
	}
	if err := name(); err != nil {
		return nil, &fs.PathError{Op: "link", Path: temp, Err: err}
	}
	return f.Stat()
}

// openNamed makes a file that has its name at once.
func openNamed(dir *os.Root, temp string) (f *os.File, name func() error, err error) {
	f, err = dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return f, func() error { return nil }, err
}

// same returns errMoved where the file of that name is no longer what prior describes.
func same(dir *os.Root, name string, prior fs.FileInfo) error {
	now, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && prior == nil:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && prior != nil && os.SameFile(now, prior) && now.Size() == prior.Size() && now.ModTime().Equal(prior.ModTime()):
		return nil
	}
	return errMoved
}

// follow returns the file that path means, through symlinks, also where the last
// of them points to nothing yet: a symlink is written through, not replaced.
func follow(path string) (string, error) {
	for range 40 {
		real, err := filepath.EvalSymlinks(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return real, err
		}
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return standing(path), nil // the directory is missing too; write makes it
		}
		path = filepath.Join(dir, filepath.Base(path))
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(dir, link)
		}
		path = link
	}
	return "", &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
}

// standing resolves the part of a path that exists.
func standing(path string) string {
	real, err := filepath.EvalSymlinks(path)
	parent := filepath.Dir(path)
	if err == nil || parent == path {
		return real
	}
	return filepath.Join(standing(parent), filepath.Base(path))
}
