package sqlitelog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/session/internal/store"
)

// Remove implements session.Remover. It reads nothing: a session that is damaged
// or newer can be removed too.
func (s *Store) Remove(ctx context.Context, id string) error {
	lock, err := s.own(ctx, id)
	if err != nil {
		return err
	}
	defer lock.release()
	path := s.path(id)
	if err := erase(path); err != nil {
		return fmt.Errorf("session %s: remove: %w; %s", id, err, remedy(err, "make the file and its directory writable"))
	}
	_ = s.catalogue.save(context.WithoutCancel(ctx), nil, map[string]row{id: {}}) // List would find out
	return nil
}

// erase removes a session's files. The database loses its name first, and
// durably: what is left when the rest is cut short belongs to no session.
func erase(path string) error {
	dir := filepath.Dir(path)
	if err := os.Remove(path); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	if err := removeDB(path); err != nil {
		return err
	}
	return syncDir(dir)
}

// remains are what may be left of a session that has no database: by a Remove
// that was killed, or by a reader that was at work meanwhile.
var remains = []string{"-wal", "-shm", "-journal", ".lock", indexSuffix, indexSuffix + ".lock"}

// sweep clears away the file e of the sessions' directory where it is what a
// Create, an Import or a Remove that was killed left behind, an hour ago or more.
func (s *Store) sweep(e os.DirEntry) {
	id, rest, ok := strings.Cut(e.Name(), suffix)
	if !ok || rest == "" || store.CheckID(id) != nil {
		return
	}
	info, err := e.Info()
	if err != nil || time.Since(info.ModTime()) < time.Hour {
		return
	}
	path := s.path(id)
	if rest != unfinished && (!slices.Contains(remains, rest) || exists(path)) {
		return
	}
	if lock, _ := acquire(path + ".lock"); lock != nil {
		os.Remove(path + unfinished) // nobody is making it
		if !exists(path) {           // still, and now nobody can make it
			_ = removeDB(path) // what cannot be removed is tried again the next time
		}
		lock.release()
	}
}
