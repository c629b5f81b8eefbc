package sqlitelog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// Store is a session.Store over a directory. Any number of processes may have
// one over the same directory. Logs that are open when it is closed stay usable.
type Store struct {
	dir       string
	schema    schema
	blank     func() ([]byte, error) // the file of a log without events, made once
	catalogue *catalogue
	bell      *bell
	closed    atomic.Bool
}

// Open returns the store in dir. It writes nothing: directories are made when the
// first session is.
func Open(dir string) (*Store, error) { return open(dir, current) }

func open(dir string, schema schema) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("session store %s: %w", dir, err)
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("session store %s: it is a file; name a directory", dir)
	}
	return &Store{dir: dir, schema: schema, blank: sync.OnceValues(schema.blank), catalogue: newCatalogue(dir),
		bell: &bell{path: filepath.Join(dir, "mail.bell")}}, nil
}

func (s *Store) sessions() string      { return filepath.Join(s.dir, "sessions") }
func (s *Store) path(id string) string { return filepath.Join(s.sessions(), id+suffix) }

// Prepare implements session.Preparer.
func (s *Store) Prepare() { go s.blank() }

// Create implements session.Store.
func (s *Store) Create(ctx context.Context, created session.Created) (session.Log, error) {
	id := created.ID
	lock, err := s.claim(ctx, id)
	if err != nil {
		return nil, err
	}
	path := s.path(id)
	if err := s.begin(ctx, path, store.First(created, time.Now())); err != nil {
		lock.release()
		return nil, fmt.Errorf("session %s: create: %w", id, fault(path, err))
	}
	l, err := s.take(ctx, id, lock)
	if err != nil {
		_ = removeDB(path)
		lock.release()
		return nil, err
	}
	s.note(l.row)
	return l, nil
}

// claim takes the lock of a session that is to be made, and clears its place.
func (s *Store) claim(ctx context.Context, id string) (*lock, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	if err := store.CheckID(id); err != nil {
		return nil, err
	}
	path := s.path(id)
	if exists(path) {
		return nil, store.Exists(id)
	}
	if err := os.MkdirAll(s.sessions(), 0o700); err != nil {
		return nil, fmt.Errorf("session %s: create: %w; %s", id, err, remedy(err, "make the directory writable or choose another"))
	}
	lock, err := own(id, path)
	if err != nil {
		return nil, err
	}
	if exists(path) {
		lock.release()
		return nil, store.Exists(id)
	}
	_ = removeDB(path) // a log without its file would be taken for the new one's
	return lock, nil
}

// begin makes the file of a log of one event.
func (s *Store) begin(ctx context.Context, path string, first session.Event) error {
	blank, err := s.blank()
	if err != nil {
		return err
	}
	image, err := s.schema.begin(ctx, blank, first)
	if err != nil {
		return err
	}
	copy(image[walMarkAt:], walMark)
	return writeFile(path, image)
}

// Open implements session.Store.
func (s *Store) Open(ctx context.Context, id string) (session.Log, error) {
	lock, err := s.own(ctx, id)
	if err != nil {
		return nil, err
	}
	l, err := s.take(ctx, id, lock)
	if err != nil {
		lock.release()
		return nil, err
	}
	return l, nil
}

// own takes the lock of a session that is there.
func (s *Store) own(ctx context.Context, id string) (*lock, error) {
	if err := s.find(ctx, id); err != nil {
		return nil, err
	}
	lock, err := own(id, s.path(id))
	if err != nil {
		return nil, err
	}
	if err := s.find(ctx, id); err != nil {
		lock.release() // removed meanwhile
		return nil, err
	}
	return lock, nil
}

// View implements session.Store.
func (s *Store) View(ctx context.Context, id string) (session.Reader, error) {
	if err := s.find(ctx, id); err != nil {
		return nil, err
	}
	r, _, err := s.view(ctx, id)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Resolve implements session.Store.
func (s *Store) Resolve(ctx context.Context, prefix string) (string, error) {
	if prefix != store.Last && s.find(ctx, prefix) == nil {
		return prefix, nil
	}
	list, err := s.List(ctx)
	if err != nil {
		return "", err
	}
	return store.Resolve(list, prefix)
}

// Close implements session.Store.
func (s *Store) Close() error {
	s.closed.Store(true)
	return s.catalogue.close()
}

// find tells whether there is a session of that id.
func (s *Store) find(ctx context.Context, id string) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	if store.CheckID(id) != nil {
		return store.NotFound(id)
	}
	_, err := os.Stat(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return store.NotFound(id)
	}
	if err != nil {
		return fmt.Errorf("session %s: %w", id, err)
	}
	return nil
}

func (s *Store) check(ctx context.Context) error {
	if s.closed.Load() {
		return fmt.Errorf("session store %s: %w", s.dir, os.ErrClosed)
	}
	return ctx.Err()
}
