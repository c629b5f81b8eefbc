package instructions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// source is one text and the files that hold it, the most specific last.
type source struct {
	paths []string
	text  string
}

// gathered is what was found, broad to specific. Notes say what was passed over.
type gathered struct {
	sources []source
	notes   []string
}

// chain gathers the user's instructions and those of a place (SP6).
func chain(userFile string, at place) *gathered {
	g := &gathered{}
	g.user(userFile)
	g.directories(at.root, at.dirs())
	return g
}

// user adds the user's own file. It has to be the user's: the directory may be one
// that others write to.
func (g *gathered) user(path string) {
	if path == "" {
		return
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		g.note(path, err)
	case !trusted(info, filepath.Dir(path)):
		g.note(path, errors.New("it belongs to another user"))
	default:
		g.add(tree{path: filepath.Dir(path)}, path)
	}
}

// directories adds what directories of a project hold, in that order.
func (g *gathered) directories(root string, dirs []string) {
	t, err := project(root)
	if err != nil {
		g.note(root, err)
		return
	}
	defer t.close()
	for _, dir := range dirs {
		main := filepath.Join(dir, "AGENTS.md")
		if !g.exists(t, main) {
			main = filepath.Join(dir, "CLAUDE.md")
		}
		for _, path := range []string{main, filepath.Join(dir, "AGENTS.local.md")} {
			if g.exists(t, path) {
				g.add(t, path)
			}
		}
	}
}

// exists tells whether there is something of that name, whatever it is.
func (g *gathered) exists(t tree, path string) bool {
	rel, err := filepath.Rel(t.path, path)
	if err == nil {
		_, err = t.lstat(rel)
	}
	return err == nil || errors.Is(err, fs.ErrPermission)
}

// add reads one file. A text that was there before moves here.
func (g *gathered) add(t tree, path string) {
	rel, err := filepath.Rel(t.path, path)
	var text string
	if err == nil {
		text, _, err = t.read(rel, maxFile)
	}
	if err != nil {
		g.note(path, err)
		return
	}
	s := source{[]string{path}, strings.TrimSpace(text)}
	if s.text == "" {
		return
	}
	if i := slices.IndexFunc(g.sources, func(o source) bool { return o.text == s.text }); i >= 0 {
		s.paths = append(g.sources[i].paths, path)
		g.sources = slices.Delete(g.sources, i, i+1)
	}
	g.sources = append(g.sources, s)
}

func (g *gathered) note(path string, err error) {
	g.notes = append(g.notes, fmt.Sprintf("%s: %s", show(path), cause(err)))
}
