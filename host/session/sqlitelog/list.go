package sqlitelog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/internal/store"
)

// List implements session.Store. It opens only the sessions that changed since
// their row was written, and those that an older version could not read.
func (s *Store) List(ctx context.Context) ([]session.Summary, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	ids, err := s.ids()
	if err != nil {
		return nil, err
	}
	rows, err := s.catalogue.rows(ctx)
	if err != nil {
		rows = nil // the files know all that it knows
	}
	list := make([]session.Summary, 0, len(ids))
	var fresh []row
	for _, id := range ids {
		mark, size, err := mark(s.path(id))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		r, known := rows[id]
		delete(rows, id)
		if !known || r.Mark != mark || r.Status == store.StatusNewer {
			r.Summary, err = s.look(ctx, id, r.Summary)
			if errors.Is(err, session.ErrNotFound) {
				continue // removed at this moment
			}
			if err != nil {
				return nil, err
			}
			r.Mark = mark
			fresh = append(fresh, r)
		}
		r.Bytes = size
		list = append(list, r.Summary)
	}
	if len(fresh) > 0 || len(rows) > 0 {
		// What cannot be noted is looked at again the next time.
		_ = s.catalogue.save(ctx, fresh, rows)
	}
	store.Sort(list)
	return list, nil
}

// ids reads the names of the session files, and clears away what belongs to none.
func (s *Store) ids() ([]string, error) {
	entries, err := os.ReadDir(s.sessions())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), suffix); ok && store.CheckID(id) == nil && !e.IsDir() {
			ids = append(ids, id)
			continue
		}
		s.sweep(e)
	}
	return ids, nil
}

// look reads a session's summary from its file. Of one that does not read it
// returns what was known, with the status that says so.
func (s *Store) look(ctx context.Context, id string, known session.Summary) (session.Summary, error) {
	r, sum, err := s.view(ctx, id)
	if err == nil {
		r.Close()
		return sum, nil
	}
	if ctx.Err() != nil || errors.Is(err, session.ErrNotFound) {
		return known, cmp.Or(ctx.Err(), err)
	}
	known.ID, known.Status = id, store.StatusDamaged
	if errors.Is(err, session.ErrNewer) {
		known.Status = store.StatusNewer
	}
	if known.Created.IsZero() {
		if info, err := os.Stat(s.path(id)); err == nil {
			known.Created, known.Updated = info.ModTime().UTC(), info.ModTime().UTC()
		}
	}
	return known, nil
}

// note writes a session's row. It cannot fail: List finds out a missing one.
func (s *Store) note(sum session.Summary) {
	if mark, _, err := mark(s.path(sum.ID)); err == nil {
		_ = s.catalogue.save(context.Background(), []row{{sum, mark}}, nil)
	}
}
