package profile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	suffix  = ".toml"
	maxFile = 1 << 20
)

// shelf is one place where profiles are looked up by name.
type shelf struct {
	fsys  fs.FS
	dir   string // "" for the shipped ones
	place place
}

// file is a profile that was found.
type file struct {
	fsys   fs.FS
	base   string // its name in fsys
	name   string // as -P says it
	path   string // as people see it
	abs    string // identity
	dir    string // for relative paths in it
	place  place
	shelf  int // where its base is looked up from
	source string
}

// shelves lists the places, nearest first.
func shelves(o Options) []shelf {
	var all []shelf
	for dir := o.Dir; ; dir = filepath.Dir(dir) {
		kept := filepath.Join(dir, ".tureen", "profiles")
		if info, err := os.Stat(kept); err == nil && info.IsDir() {
			all = append(all, shelf{os.DirFS(kept), kept, inProject})
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if o.ConfigDir != "" {
		kept := filepath.Join(o.ConfigDir, "profiles")
		all = append(all, shelf{os.DirFS(kept), kept, inUser})
	}
	if o.Embedded != nil {
		all = append(all, shelf{o.Embedded, "", inShipped})
	}
	return all
}

// isPath tells a path from a name.
func isPath(name string) bool {
	return strings.ContainsAny(name, `/`+string(filepath.Separator)) || strings.HasSuffix(name, suffix)
}

// find looks a profile up, by name from a shelf on and past the file skip.
func (l *loader) find(name string, from int, skip string) (file, bool) {
	if isPath(name) {
		return l.findPath(absolute(l.home, l.Dir, name))
	}
	for i := from; i < len(l.shelves); i++ {
		f := l.file(i, name)
		if !fs.ValidPath(f.base) {
			break
		}
		if _, err := fs.Stat(f.fsys, f.base); exists(err) && f.abs != skip {
			return f, true
		}
	}
	return file{}, false
}

// findBase looks up what f extends. A name is looked up from f's own shelf
// down, past f itself: so a project cannot slip its base under a profile of the
// user's, and may refine a shipped one of the same name.
func (l *loader) findBase(name string, f file) (file, bool) {
	g, ok := l.find(name, f.shelf, f.abs)
	if isPath(name) && f.place == inProject {
		g.place = inProject
	}
	return g, ok && g.abs != f.abs
}

func exists(err error) bool { return !errors.Is(err, fs.ErrNotExist) }

func (l *loader) file(i int, name string) file {
	s := l.shelves[i]
	f := file{fsys: s.fsys, base: name + suffix, name: name, dir: s.dir, place: s.place, shelf: i}
	if s.dir == "" {
		f.path, f.dir = "profiles/"+f.base, l.Dir
		f.abs = "shipped:" + f.base
	} else {
		f.abs = filepath.Join(s.dir, f.base)
		f.path = l.show(f.abs)
	}
	return f
}

// findPath takes the file at an absolute path. The user named it, so it is the
// user's own, unless it lies in a project's .tureen.
func (l *loader) findPath(abs string) (file, bool) {
	dir, base := filepath.Split(abs)
	dir = filepath.Clean(dir)
	f := file{
		fsys: os.DirFS(dir), base: base, name: strings.TrimSuffix(base, suffix),
		path: l.show(abs), abs: abs, dir: dir, place: inUser,
	}
	if slices.Contains(strings.Split(filepath.ToSlash(dir), "/"), ".tureen") {
		f.place = inProject
	}
	_, err := os.Stat(abs)
	return f, exists(err)
}

// show shortens a path inside the working directory.
func (l *loader) show(abs string) string {
	if rel, err := filepath.Rel(l.Dir, abs); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return abs
}

func (f file) read() ([]byte, error) {
	r, err := f.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = errors.New("it is larger than 1 MiB, which is no profile")
	}
	return data, err
}

func (f file) open() (fs.File, error) {
	info, err := fs.Stat(f.fsys, f.base) // before opening: a pipe would block
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is not a regular file (%v)", info.Mode().Type())
	}
	return f.fsys.Open(f.base)
}

// names lists the profiles from a shelf on, sorted.
func (l *loader) names(from int) ([]string, error) {
	var names []string
	for _, s := range l.shelves[from:] {
		entries, err := fs.ReadDir(s.fsys, ".")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("list profiles in %s: %w", s.dir, err)
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), suffix); ok && name != "" {
				names = append(names, name)
			}
		}
	}
	return sorted(names), nil
}

func (l *loader) notFound(name string, from int) *NotFoundError {
	names, _ := l.names(from) // what can be listed helps enough
	return &NotFoundError{Name: name, Names: names, Nearest: nearest(strings.TrimSuffix(filepath.Base(name), suffix), names)}
}
