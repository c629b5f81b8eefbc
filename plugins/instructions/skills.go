package instructions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// Bounds of the skills.
const (
	maxListed      = 100      // in the catalogue
	maxDescription = 500      // characters, in the catalogue
	maxEntries     = 1000     // looked at in one directory of skills
	maxFront       = 16 << 10 // bytes that the front matter has to end within
)

// skillName is what a skill may be called: no path comes out of it.
var skillName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// skill is one that was found (T20).
type skill struct {
	name        string
	description string
	home        tree   // without its *os.Root: opened anew to read it
	bound       bool   // to home
	rel         string // of its directory, within home
	problem     string // why it cannot be loaded, "" = it can
}

func (s skill) dir() string  { return filepath.Join(s.home.path, s.rel) }
func (s skill) file() string { return filepath.Join(s.dir(), "SKILL.md") }

// shelf is all skills of a place, those of the nearest directory first and the
// user's last. Of two with one name the first counts.
type shelf struct {
	skills []skill
	notes  []string
}

// discover looks for skills in the directories of a place and in the user's.
func (p *Provider) discover(at place) *shelf {
	s := &shelf{}
	if t, err := project(at.root); err != nil {
		s.note(at.root, err)
	} else {
		defer t.close()
		for _, dir := range slices.Backward(at.dirs()) {
			if rel, err := filepath.Rel(at.root, dir); err == nil {
				s.look(t, filepath.Join(rel, ".agents", "skills"))
			}
		}
	}
	if dir := p.config.UserSkills; dir != "" {
		if info, err := os.Stat(dir); err == nil && !trusted(info, filepath.Dir(dir)) {
			s.note(dir, errors.New("it belongs to another user"))
		} else {
			s.look(tree{path: dir}, ".")
		}
	}
	for _, x := range s.skills {
		if x.problem != "" {
			s.notes = append(s.notes, show(x.file())+": "+x.problem)
		}
	}
	return s
}

// look adds the skills of one directory.
func (s *shelf) look(t tree, rel string) {
	names, more, err := t.names(rel, maxEntries)
	path := filepath.Join(t.path, rel)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			s.note(path, err)
		}
		return
	}
	if more {
		s.note(path, fmt.Errorf("it has more than %d entries; the others were not looked at", maxEntries))
	}
	slices.Sort(names)
	for _, name := range names {
		if info, err := t.lstat(filepath.Join(rel, name)); err != nil || !info.IsDir() && info.Mode()&fs.ModeSymlink == 0 || strings.HasPrefix(name, ".") {
			continue
		}
		s.add(t, filepath.Join(rel, name))
	}
}

// add reads the head of one skill.
func (s *shelf) add(t tree, rel string) {
	x := skill{name: filepath.Base(rel), home: tree{path: t.path}, bound: t.bound != nil, rel: rel}
	head, err := t.front(filepath.Join(rel, "SKILL.md"))
	if head.name != "" {
		x.name = head.name
	}
	x.description = strings.Join(strings.Fields(head.description), " ")
	i := slices.IndexFunc(s.skills, func(o skill) bool { return o.name == x.name && o.problem == "" })
	switch {
	case err != nil:
		x.problem = cause(err)
	case !skillName.MatchString(x.name):
		x.problem = fmt.Sprintf("the name %q is none; use letters, digits, - and _, at most 64", shorten(x.name, 80))
	case x.description == "":
		x.problem = "it has no description; say there what it is for"
	case i >= 0:
		x.problem = "another skill of this name comes before it: " + show(s.skills[i].file())
	}
	if !skillName.MatchString(x.name) { // it is listed all the same
		x.name = shorten(filepath.Base(rel), 80)
	}
	s.skills = append(s.skills, x)
}

// front reads the front matter of a file, and no more of it than it needs.
func (t tree) front(rel string) (front, error) {
	text, size, err := t.read(rel, maxFront)
	if err != nil {
		return front{}, err
	}
	head, err := parseFront(text)
	if err != nil && size > maxFront {
		err = fmt.Errorf("%w (looked for within the first %d KiB)", err, maxFront>>10)
	}
	return head, err
}

func (s *shelf) note(path string, err error) {
	s.notes = append(s.notes, fmt.Sprintf("%s: %s", show(path), cause(err)))
}

// usable are the skills that can be loaded, by name.
func (s *shelf) usable() []skill {
	usable := slices.DeleteFunc(slices.Clone(s.skills), func(x skill) bool { return x.problem != "" })
	slices.SortFunc(usable, func(a, b skill) int { return strings.Compare(a.name, b.name) })
	return usable
}
