package instructions

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// maxFile bounds the files that are looked at.
const maxFile = 1 << 20

// tree is a directory that files are read from. Those of a project are bound to it:
// a symlink that leads out is refused. The user's own may lie anywhere.
type tree struct {
	path  string
	bound *os.Root // nil = free
}

// project opens a tree that is bound to a directory.
func project(path string) (tree, error) {
	root, err := os.OpenRoot(path)
	return tree{path, root}, err
}

func (t tree) close() {
	if t.bound != nil {
		t.bound.Close()
	}
}

func (t tree) lstat(rel string) (fs.FileInfo, error) {
	if t.bound != nil {
		return t.bound.Lstat(rel)
	}
	return os.Lstat(filepath.Join(t.path, rel))
}

func (t tree) stat(rel string) (fs.FileInfo, error) {
	if t.bound != nil {
		return t.bound.Stat(rel)
	}
	return os.Stat(filepath.Join(t.path, rel))
}

// open never waits, not even for the writer of a named pipe.
func (t tree) open(rel string) (*os.File, error) {
	if t.bound != nil {
		return t.bound.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	return os.OpenFile(filepath.Join(t.path, rel), os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// read reads a text file, at most limit bytes of it: valid UTF-8 with line feeds,
// without a byte order mark. size is the file's.
func (t tree) read(rel string, limit int) (text string, size int64, err error) {
	info, err := t.stat(rel)
	if err == nil {
		err = toolcall.Regular(info)
	}
	if err != nil {
		return "", 0, err
	}
	if info.Size() > maxFile {
		return "", info.Size(), fmt.Errorf("it has %.1f MiB, at most %d MiB are read", float64(info.Size())/(1<<20), maxFile>>20)
	}
	f, err := t.open(rel)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	if info, err = f.Stat(); err == nil { // it may be another file by now
		err = toolcall.Regular(info)
	}
	if err != nil {
		return "", 0, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, int64(min(limit, maxFile))))
	if err != nil {
		return "", 0, err
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return "", info.Size(), errors.New("it is not a text file")
	}
	text = strings.TrimPrefix(string(raw), "\ufeff")
	return tool.Clean(strings.ReplaceAll(text, "\r\n", "\n")), info.Size(), nil
}

// names lists the entries of a directory in order, at most limit of them.
func (t tree) names(rel string, limit int) (names []string, more bool, err error) {
	info, err := t.stat(rel)
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, errors.New("it is not a directory")
	}
	f, err := t.open(rel)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	names, err = f.Readdirnames(limit + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if more = len(names) > limit; more {
		names = names[:limit]
	}
	return names, more, err
}

// cause says in a few words why a file was passed over.
func cause(err error) string {
	var in *fs.PathError
	switch {
	case strings.Contains(err.Error(), "escapes from parent"):
		return "it leads out of the project"
	case errors.Is(err, syscall.ELOOP):
		return "its symlinks lead in a circle"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied"
	case errors.Is(err, fs.ErrNotExist):
		return "it leads nowhere"
	case errors.As(err, &in):
		return in.Err.Error()
	}
	return err.Error()
}
