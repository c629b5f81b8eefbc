package notes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// The format of a notes home, in its file .notes.json.
const (
	formatFile    = ".notes.json"
	formatVersion = 1
)

// Places inside a notes home that hold no notes. They begin with a dot, which no
// address does.
const (
	metaDir  = ".meta"
	tmpDir   = ".meta/tmp"
	trashDir = ".trash"
)

// How much is kept: what a home's trash holds, how old a temporary file of a
// dead process may get, how big a file may be to be read at all.
const (
	maxTrash    = 256
	maxTmpAge   = time.Hour
	maxReadable = 1 << 20
)

// Tree is the directory that holds all homes (notes_home). It opens every file
// through one os.Root and refuses links. It is safe for concurrent use.
type Tree struct {
	root     *os.Root
	dir      string
	lockWait time.Duration
}

// Open opens a notes home; a missing one is made. Directories that another tool
// filled are not taken over.
func Open(dir string) (*Tree, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("open notes home %q: the path is not absolute", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open notes home: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open notes home: %w", err)
	}
	t := &Tree{root: root, dir: filepath.Clean(dir), lockWait: 5 * time.Second}
	if err := t.claim(); err != nil {
		root.Close()
		return nil, err
	}
	t.sweep()
	return t, nil
}

// Close releases the directory.
func (t *Tree) Close() error { return t.root.Close() }

// claim checks the format file, or writes it into a home that is still ours to make.
func (t *Tree) claim() error {
	for second := range 2 {
		b, _, err := t.readFile(formatFile)
		if err == nil {
			var format struct {
				Version int `json:"version"`
			}
			if err := json.Unmarshal(b, &format); err != nil || format.Version < 1 {
				return fmt.Errorf("open notes home: %s does not read; restore it or choose another directory", filepath.Join(t.dir, formatFile))
			}
			if format.Version > formatVersion {
				return fmt.Errorf("open notes home: %s has format %d, this version knows %d; update Tureen", t.dir, format.Version, formatVersion)
			}
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("open notes home: %w", err)
		}
		foreign := t.foreign()
		if foreign == "" {
			break
		}
		if second == 1 { // the first time another process may just have made the home
			return fmt.Errorf("open notes home: %s exists, but %s does not, so it is not ours; move it away or set another notes home",
				filepath.Join(t.dir, foreign), formatFile)
		}
	}
	b, _ := json.Marshal(map[string]any{"version": formatVersion, "created_by": "tureen"})
	return t.writeFile(formatFile, append(b, '\n'))
}

// foreign names one of the five places that holds something, "" for none.
func (t *Tree) foreign() string {
	for _, name := range []string{"sessions", "projects", "human", "self", "model"} {
		if _, err := t.root.Lstat(name); err == nil {
			return name
		}
	}
	return ""
}

// sweep removes what processes left that died while they wrote.
func (t *Tree) sweep() {
	entries, _ := fs.ReadDir(t.root.FS(), tmpDir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > maxTmpAge {
			t.root.Remove(path.Join(tmpDir, e.Name()))
		}
	}
}
