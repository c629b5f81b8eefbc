package notes

import (
	"context"
	"fmt"
	"path"
	"strings"
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
}

// Store is the notes as one session sees them. It is safe for concurrent use.
type Store struct {
	tree     *Tree
	homes    []Home // in boot order: session, project, human, self, model
	resolver *Resolver
	identity Identity
}

// Store opens the homes of a session. Nothing is written before a note is.
func (t *Tree) Store(who Who) (*Store, error) {
	session, agent := toName(who.Session), toName(who.Agent)
	if session == "" || session != who.Session {
		return nil, fmt.Errorf("open notes of session %q: the id is no file name", who.Session)
	}
	if agent == "" {
		return nil, fmt.Errorf("open notes of agent %q: the name is no file name", who.Agent)
	}
	model := toName(who.Provider) + "__" + toName(who.Model)
	s := &Store{tree: t}
	home := func(k Kind, place func(context.Context, bool) (string, error)) {
		s.homes = append(s.homes, &fileHome{tree: t, kind: k, place: place})
	}

	home(Session, fixed(path.Join("sessions", who.Created.UTC().Format("2006"), session)))
	var err error
	if s.identity, err = Identify(who.Workspace); err != nil {
		s.identity.Why = err.Error()
	}
	if len(s.identity.IDs) > 0 {
		s.resolver = &Resolver{tree: t, id: s.identity}
		home(Project, s.resolver.place)
	}
	home(Human, fixed("human"))
	home(Self, fixed(path.Join("self", agent)))
	home(Model, fixed(path.Join("model", model)))
	return s, nil
}

// Project tells which project the session belongs to.
func (s *Store) Project() Identity { return s.identity }

// Homes are the session's own homes in the order in which they are shown.
func (s *Store) Homes() []Home { return s.homes }

// Home returns the home of an address. CodeHome where there is none.
func (s *Store) Home(a Address) (Home, error) {
	for _, h := range s.homes {
		if h.Kind() == a.Home {
			return h, nil
		}
	}
	if a.Home == Project {
		return nil, Refuse(CodeHome, "use the session's own notes", "there is no project here: %s", s.identity.Why)
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
			return &fileHome{tree: s.tree, kind: Other, slug: slug, place: fixed(path.Join("projects", slug)), readOnly: true}, nil
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
func (s *Store) Projects() ([]string, error) {
	markers, err := s.tree.markers()
	var slugs []string
	for _, m := range markers {
		slugs = append(slugs, m.Slug)
	}
	return slugs, err
}

// canonical is the address as it is shown: this project's own slug is @project.
func (s *Store) canonical(a Address) Address {
	if a.Home == Other && a.Slug != "" && s.resolver != nil {
		if own, err := s.resolver.Slug(); err == nil && own == a.Slug {
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
