package notes

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
)

// inspect looks at every component of name and refuses links and special files.
// A missing one is fs.ErrNotExist.
func (t *Tree) inspect(name string) (fs.FileInfo, error) {
	var info fs.FileInfo
	for at := 0; at < len(name); {
		end := len(name)
		if i := strings.IndexByte(name[at:], '/'); i >= 0 {
			end = at + i
		}
		var err error
		if info, err = t.root.Lstat(name[:end]); err != nil {
			return nil, err
		}
		if err := plain(name[:end], info); err != nil {
			return nil, err
		}
		if end < len(name) && !info.IsDir() {
			return nil, fmt.Errorf("%s: %w", name[:end], syscall.ENOTDIR)
		}
		at = end + 1
	}
	return info, nil
}

// plain refuses everything but directories and regular files of one name.
func plain(name string, info fs.FileInfo) error {
	const next = "ask the owner to put a plain file there"
	switch {
	case info.IsDir():
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return Refuse(CodeLink, next, "%s is a symbolic link", name)
	case !info.Mode().IsRegular():
		return Refuse(CodeLink, next, "%s is no regular file", name)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
		return Refuse(CodeLink, next, "%s has %d hard links", name, st.Nlink)
	}
	return nil
}

// readFile reads a regular file. It never blocks on a pipe: the file is opened
// non-blocking and looked at again before it is read.
func (t *Tree) readFile(name string) ([]byte, fs.FileInfo, error) {
	seen, err := t.inspect(name)
	if err != nil {
		return nil, nil, err
	}
	if seen.IsDir() {
		return nil, nil, fmt.Errorf("%s: %w", name, syscall.EISDIR)
	}
	f, err := t.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if err := plain(name, info); err != nil {
		return nil, nil, err
	}
	if !os.SameFile(seen, info) {
		// a rename came between, which is how notes are replaced: never a link
		if again, err := t.inspect(name); err != nil || again.IsDir() {
			return nil, nil, Refuse(CodeLink, "read it again", "%s was exchanged while it was opened", name)
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, maxReadable+1))
	if err != nil {
		return nil, nil, err
	}
	if len(b) > maxReadable {
		return nil, nil, Refuse(CodeTooLarge, "ask the owner to split it", "%s has more than %d bytes", name, maxReadable)
	}
	return b, info, nil
}

// writeFile puts b in place of name at once and durably.
func (t *Tree) writeFile(name string, b []byte) error {
	tmp, err := t.stage(b)
	if err != nil {
		return err
	}
	if err = t.mkdirs(path.Dir(name)); err == nil {
		err = t.root.Rename(tmp, name)
	}
	if err != nil {
		t.root.Remove(tmp)
		return err
	}
	return t.syncDir(path.Dir(name))
}

// stage writes b to a temporary file on the same file system.
func (t *Tree) stage(b []byte) (string, error) {
	if err := t.mkdirs(tmpDir); err != nil {
		return "", err
	}
	tmp := path.Join(tmpDir, rand.Text())
	f, err := t.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		t.root.Remove(tmp)
	}
	return tmp, err
}

// mkdirs makes a directory and its parents, private and durably.
func (t *Tree) mkdirs(dir string) error {
	if dir == "." {
		return nil
	}
	info, err := t.inspect(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s: %w", dir, syscall.ENOTDIR)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := t.mkdirs(path.Dir(dir)); err != nil {
		return err
	}
	if err := t.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return t.syncDir(path.Dir(dir))
}

func (t *Tree) syncDir(dir string) error {
	f, err := t.root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// wrap turns an error of the file system into an *Error about a note.
func wrap(name string, err error) error {
	var own *Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return &Error{CodeNotFound, fmt.Sprintf("there is no note %s", name), "notes_list shows what there is", err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &Error{CodeAborted, fmt.Sprintf("%s: cancelled before anything was changed", name), "", err}
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR):
		return &Error{CodeAddress, fmt.Sprintf("%s: a note and a folder of one name exclude each other", name), "choose another name", err}
	}
	return &Error{CodeIO, fmt.Sprintf("%s: %v", name, err), "tell the owner; the note is neither read nor changed", err}
}
