package shell

import (
	"io/fs"
	"os"
	"sync"

	"github.com/tureen-host/tureen/plugins/internal/confine"
)

// private is a directory for temporary files that nothing but commands under
// read-only uses. It is made when it is first needed. Commands under other policies may
// be able to move it and to put something else in its place, so what is done with it
// later goes through the held directory.
type private struct {
	once  sync.Once
	root  *os.Root // nil where it could not be made
	where confine.Place
}

// place is the directory; ok is false where there is none.
func (p *private) place() (where confine.Place, ok bool) {
	p.once.Do(func() {
		dir, err := os.MkdirTemp("", "tureen-shell-")
		if err != nil {
			return // such commands have nowhere to write then
		}
		guard.once.Do(guard.start)
		guard.tell("d", dir)
		if p.root, err = os.OpenRoot(dir); err == nil {
			p.where, err = named(p.root, dir)
		}
		if err != nil && p.root != nil {
			_ = p.root.Close()
			p.root = nil
		}
	})
	return p.where, p.root != nil
}

func named(root *os.Root, path string) (confine.Place, error) {
	dir, err := root.Open(".")
	if err != nil {
		return confine.Place{}, err
	}
	defer dir.Close()
	return confine.PlaceOf(dir, path)
}

// remove empties the directory, and removes its name where that still leads to it.
func (p *private) remove() {
	p.once.Do(func() {})
	if p.root == nil {
		return
	}
	defer p.root.Close()
	entries, _ := fs.ReadDir(p.root.FS(), ".")
	for _, e := range entries {
		_ = p.root.RemoveAll(e.Name())
	}
	held, err := p.root.Stat(".")
	if found, err2 := os.Lstat(p.where.Path); err == nil && err2 == nil && os.SameFile(held, found) {
		_ = os.Remove(p.where.Path)
	}
}
