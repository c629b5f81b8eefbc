package profile

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// DefaultName is the profile that Load("") takes where the user's settings name
// no default_profile.
const DefaultName = "notesoup"

// Options say where profiles are and what overrides them.
type Options struct {
	Dir       string              // working directory; "" = the process's
	ConfigDir string              // holds settings.toml and profiles/; "" = none
	Embedded  fs.FS               // shipped *.toml at its root; nil = none
	Env       func(string) string // nil = os.Getenv
	Overrides []string            // -c key=value, a later one wins
	Flags     []Flag              // win over Overrides
}

// Flag is a command line flag that stands for a key of the profile.
type Flag struct {
	Name  string // "--model", shown as the origin
	Key   string // dotted
	Value any    // string, bool, int, int64 or float64; a text is never read as TOML
}

// Load decodes, resolves and checks a profile. A name with a "/" or ending in
// ".toml" is a path relative to o.Dir; any other is looked up in
// .tureen/profiles of the working directory and of those above it, then in the
// user's profiles, then among the shipped ones. The error is *NotFoundError, or
// *Errors with every problem.
func Load(name string, o Options) (*Profile, error) {
	l, err := newLoader(o)
	if err != nil {
		return nil, err
	}
	return l.load(name)
}

// loader holds what one Load has read and found wrong.
type loader struct {
	Options
	home     string
	shelves  []shelf
	settings *node
	problems []Problem
	dropped  *Problem // a price that lost its model
	brought  []ProjectFile
}

func newLoader(o Options) (*loader, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("find the working directory: %w", err)
	}
	o.Dir = dir
	if o.Env == nil {
		o.Env = os.Getenv
	}
	l := &loader{Options: o, home: o.Env("HOME")}
	if l.home == "" {
		l.home, _ = os.UserHomeDir() // without one "~/" is a problem where it is used
	}
	l.shelves = shelves(o)
	l.readSettings()
	return l, nil
}

func (l *loader) load(name string) (*Profile, error) {
	if name == "" {
		if name = l.settings.get("default_profile").text(); name == "" {
			name = DefaultName
		}
	}
	f, ok := l.find(name, 0, "")
	if !ok {
		return nil, l.notFound(name, 0)
	}
	p := &Profile{Name: f.name, Path: f.path, Project: f.place == inProject}
	own := l.read(f)
	base := l.base(p, f, own)
	overrides := l.overrides()
	if len(l.problems) == 0 {
		p.tree = l.resolve(base, own, overrides)
		if p.ProjectFiles = l.brought; p.Project {
			p.ProjectFiles = append(p.ProjectFiles, l.named(f.dir, base, own)...)
		}
		l.fill(p)
		l.validate(p)
	}
	if len(l.problems) > 0 {
		return nil, &Errors{Profile: p.Name, Problems: l.problems}
	}
	return p, nil
}

// read parses and checks one file.
func (l *loader) read(f file) *node {
	data, err := f.read()
	if err != nil {
		l.report(Problem{Origin: Origin{File: f.path}, Found: "cannot be read: " + cause(err)})
		return nil
	}
	if f.place == inProject {
		l.brought = append(l.brought, ProjectFile{Path: realPath(f.abs), SHA256: fmt.Sprintf("%x", sha256.Sum256(data))})
	}
	return l.layer(document{origin: Origin{Source: f.source, File: f.path}, dir: f.dir, data: data}, f.place)
}

// layer parses and checks one text; nil where it has a problem.
func (l *loader) layer(d document, p place) *node {
	n, problems := d.parse()
	if n == nil {
		l.problems = append(l.problems, problems...)
		return nil
	}
	l.check(n, p)
	return n
}

func (l *loader) check(n *node, p place) {
	c := checker{place: p, home: l.home}
	c.check(n)
	slices.SortStableFunc(c.problems, func(a, b Problem) int {
		return cmp.Or(a.Origin.Line-b.Origin.Line, a.Origin.Column-b.Origin.Column)
	})
	l.problems = append(l.problems, c.problems...)
}

// base reads what f extends: one level.
func (l *loader) base(p *Profile, f file, own *node) *node {
	extends := own.get("extends")
	name := extends.text()
	if name == "" {
		return nil
	}
	fault := func(found, hint string) *node {
		l.report(Problem{Origin: extends.origin, Key: "extends", Found: found, Hint: hint})
		return nil
	}
	g, ok := l.findBase(name, f)
	switch {
	case !ok && (name == f.name || name == f.abs):
		return fault("a profile cannot extend itself", "")
	case !ok:
		return fault(l.notFound(name, f.shelf).Error(), "")
	}
	n := l.read(g)
	if n == nil {
		return nil
	}
	if next := n.get("extends").text(); next != "" {
		return fault(fmt.Sprintf("%q extends %q itself", name, next), fmt.Sprintf("one level only: extend %q", next))
	}
	delete(n.table, "description") // it describes the base alone
	p.Project = p.Project || g.place == inProject
	return n
}

func (l *loader) readSettings() {
	if l.ConfigDir == "" {
		return
	}
	path := filepath.Join(l.ConfigDir, "settings.toml")
	f := file{fsys: os.DirFS(l.ConfigDir), base: "settings.toml", path: path, dir: l.ConfigDir, place: inSettings, source: sourceSettings}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	l.settings = l.read(f)
}

// realPath follows links; one that cannot be followed stays as it is.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func (l *loader) report(p Problem) { l.problems = append(l.problems, p) }

// cause is an error without the path that the caller names already.
func cause(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}
