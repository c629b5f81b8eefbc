package notes

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Who says whose notes a Store opens.
type Who struct {
	Session   string
	Created   time.Time // of the session; its year is in the path
	Agent     string
	Provider  string
	Model     string
	Workspace string // absolute
	Project   string // what the user calls the project, "" = found out
}

// Places opens homes. A Tree holds them in a directory; another implementation may
// keep them elsewhere. It is safe for concurrent use, and opening makes nothing.
type Places interface {
	// Home opens the home of a kind by its name: YEAR/SESSION, the agent, the model or,
	// read-only, the slug of another project; "" for the one of the person.
	Home(kind Kind, name string) Home
	// Project opens the home of a project, which its first write makes.
	Project(id Identity) ProjectHome
	// Projects are the slugs of all projects.
	Projects() ([]string, error)
}

// ProjectHome is the home of a project.
type ProjectHome interface {
	Home
	// Slug is the project's name among all, "" as long as it has no home.
	Slug() (string, error)
	// Warning says what is doubtful about the project, "" for nothing.
	Warning() string
}

// Store is the notes as one session sees them. It is safe for concurrent use.
type Store struct {
	places    Places
	workspace string
	setting   string

	mu       sync.RWMutex
	homes    []Home      // in boot order: session, project, human, self, model
	project  ProjectHome // nil where there is none
	identity Identity
}

// Store opens the homes of a session. Nothing is written before a note is.
func (t *Tree) Store(who Who) (*Store, error) { return NewStore(t, who) }

// NewStore opens the homes of a session. Nothing is written before a note is.
func NewStore(places Places, who Who) (*Store, error) {
	session, agent := toName(who.Session), toName(who.Agent)
	if session == "" || session != who.Session {
		return nil, fmt.Errorf("open notes of session %q: the id is no file name", who.Session)
	}
	if agent == "" {
		return nil, fmt.Errorf("open notes of agent %q: the name is no file name", who.Agent)
	}
	s := &Store{places: places, workspace: who.Workspace, setting: who.Project, homes: []Home{
		places.Home(Session, path.Join(who.Created.UTC().Format("2006"), session)),
		places.Home(Human, ""),
		places.Home(Self, agent),
		places.Home(Model, toName(who.Provider)+"__"+toName(who.Model)),
	}}
	s.Belong(s.Identify())
	return s, nil
}

// Identify finds out to which project the session belongs as things are now. Belong
// makes it so.
func (s *Store) Identify() Identity {
	id, err := Identify(s.workspace, s.setting)
	if err != nil && len(id.IDs) == 0 {
		id.Why = err.Error()
	}
	return id
}

// Belong makes the session one of a project: its reads, writes and boots.
func (s *Store) Belong(id Identity) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if reflect.DeepEqual(id, s.identity) && s.project != nil {
		return
	}
	homes := slices.DeleteFunc(slices.Clone(s.homes), func(h Home) bool { return h.Kind() == Project })
	s.identity, s.project = id, nil
	if len(id.IDs) > 0 {
		s.project = s.places.Project(id)
		homes = slices.Insert(homes, 1, Home(s.project))
	}
	s.homes = homes
}

// Project tells which project the session belongs to.
func (s *Store) Project() Identity {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.identity
}

// Homes are the session's own homes in the order in which they are shown.
func (s *Store) Homes() []Home {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.homes
}

// Home returns the home of an address. CodeHome where there is none.
func (s *Store) Home(a Address) (Home, error) {
	for _, h := range s.Homes() {
		if h.Kind() == a.Home {
			return h, nil
		}
	}
	if a.Home == Project {
		return nil, Refuse(CodeHome, "use the session's own notes", "there is no project here: %s", s.Project().Why)
	}
	if a.Slug == "" {
		return nil, Refuse(CodeAddress, "name one, as @projects/SLUG/PATH", "@projects is not one home but the list of them")
	}
	projects, err := s.Projects()
	if err != nil {
		return nil, err
	}
	var near []string
	for _, slug := range projects {
		if slug == a.Slug {
			return s.places.Home(Other, slug), nil
		}
		if strings.Contains(slug, a.Slug) || strings.Contains(a.Slug, slug) {
			near = append(near, "@projects/"+slug)
		}
	}
	next := "notes_list with path=@projects shows the projects"
	if len(near) > 0 {
		next = "did you mean " + strings.Join(near[:min(len(near), 3)], ", ")
	}
	return nil, Refuse(CodeHome, next, "there is no project %q", a.Slug)
}

// Projects are the slugs of all marked projects.
func (s *Store) Projects() ([]string, error) { return s.places.Projects() }

// canonical is the address as it is shown: this project's own slug is @project.
func (s *Store) canonical(a Address) Address {
	s.mu.RLock()
	project := s.project
	s.mu.RUnlock()
	if a.Home == Other && a.Slug != "" && project != nil {
		if own, err := project.Slug(); err == nil && own == a.Slug {
			return Address{Home: Project, Path: a.Path}
		}
	}
	return a
}

// Find parses an address and opens its home.
func (s *Store) Find(text string) (Address, Home, error) {
	a, err := Parse(text)
	if err != nil {
		return Address{}, nil, err
	}
	a = s.canonical(a)
	h, err := s.Home(a)
	return a, h, err
}

// Read returns the note of an address. A missing one is CodeNotFound with names
// that are near.
func (s *Store) Read(ctx context.Context, text string) (Address, Note, error) {
	a, h, err := s.Find(text)
	if err != nil {
		return a, Note{}, err
	}
	n, err := h.Read(ctx, a.Path)
	if CodeOf(err) == CodeNotFound {
		err = missing(ctx, h, a)
	}
	return a, n, err
}

// missing is the error for a note that is not there; it names similar ones.
func missing(ctx context.Context, h Home, a Address) error {
	next := "notes_list shows what there is"
	if near := nearNames(ctx, h, a); len(near) > 0 {
		next = "did you mean " + strings.Join(near, ", ")
	}
	return Refuse(CodeNotFound, next, "there is no note %s", a)
}

func nearNames(ctx context.Context, h Home, a Address) []string {
	l, err := h.List(ctx)
	if err != nil {
		return nil
	}
	want := fold(strings.TrimSuffix(path.Base(a.Path), path.Ext(a.Path)))
	var near []string
	for _, n := range l.Notes {
		stem := fold(strings.TrimSuffix(path.Base(n.Path), path.Ext(n.Path)))
		if (strings.Contains(stem, want) || strings.Contains(want, stem)) && len(near) < 3 {
			near = append(near, Address{a.Home, a.Slug, n.Path}.String())
		}
	}
	return near
}

// toName makes a file name of an id or a model's name.
func toName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, s)
	return strings.TrimLeft(s[:min(len(s), 120)], "-_.")
}
