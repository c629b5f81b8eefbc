package notes

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"time"
)

// discard keeps a copy of a note's text that is about to go, with the time at which
// it was written, and forgets the oldest ones. The caller holds the home's lock.
func (t *Tree) discard(home string, old *Note, by By) error {
	dir, at := path.Join(trashDir, home), time.Now()
	name := path.Join(dir, keptName(at, by, old.Path))
	for t.stands(name) { // a clock that was set back must not cost a version
		at = at.Add(time.Nanosecond)
		name = path.Join(dir, keptName(at, by, old.Path))
	}
	if err := t.writeFile(name, []byte(old.Text)); err != nil {
		return err
	}
	_ = t.root.Chtimes(name, time.Time{}, old.Written) // lost, it costs only what is shown
	copies, err := t.kept(home, "")
	if err != nil {
		return err
	}
	for i := range len(copies) - maxTrash {
		if !copies[i].info.IsDir() {
			_ = t.root.Remove(path.Join(dir, copies[i].name)) // the next one tries again
		}
	}
	return nil
}

func (t *Tree) stands(name string) bool {
	_, err := t.root.Lstat(name)
	return err == nil
}

// lstat is the entry itself, false where it is gone or does not say.
func lstat(e fs.DirEntry) (fs.FileInfo, bool) {
	info, err := e.Info()
	return info, err == nil
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
