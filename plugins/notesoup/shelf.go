package notesoup

import (
	"cmp"
	"context"
	"sync"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/notesoup/notes"
)

// defaultAgent names the @self home where nobody names the agent.
const defaultAgent = "tureen"

// shelf keeps the notes of each open session. A session whose model changed gets
// its homes anew (N23). It is safe for concurrent use.
type shelf struct {
	tree    *notes.Tree
	agent   string // "" = the session's
	project string // "" = found out

	mu   sync.Mutex
	open map[string]stored
}

type stored struct {
	who   notes.Who
	notes *notes.Store
}

func newShelf(tree *notes.Tree, agent, project string) *shelf {
	return &shelf{tree: tree, agent: agent, project: project, open: map[string]stored{}}
}

// store opens the notes of a session, or returns the ones that are open.
func (s *shelf) store(sess compaction.Session) (*notes.Store, error) {
	who := notes.Who{Session: sess.ID, Created: sess.Created, Agent: cmp.Or(s.agent, sess.Agent, defaultAgent),
		Provider: sess.Provider, Model: sess.Model, Workspace: sess.Workspace, Project: s.project}
	s.mu.Lock()
	defer s.mu.Unlock()
	have, ok := s.open[sess.ID]
	if ok && have.who == who {
		return have.notes, nil
	}
	opened, err := s.tree.Store(who)
	if err != nil {
		return nil, err
	}
	if ok { // another model; the project is settled until the next window
		opened.Belong(have.notes.Project())
	}
	s.open[sess.ID] = stored{who, opened}
	return opened, nil
}

// of returns the notes of an open session.
func (s *shelf) of(session string) (*notes.Store, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have, ok := s.open[session]; ok {
		return have.notes, nil
	}
	return nil, notes.Refuse(notes.CodeHome, "tell the owner", "session %q is not open in this plugin", session)
}

// Open takes note of a session.
func (s *shelf) Open(_ context.Context, sess compaction.Session) error {
	_, err := s.store(sess)
	return err
}

// Close forgets a session.
func (s *shelf) Close(_ context.Context, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, id)
}
