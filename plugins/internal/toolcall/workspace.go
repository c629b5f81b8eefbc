package toolcall

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tureen-host/tureen/compaction"
)

// Workspaces knows the workspace and the working directory of each open session. It
// is an sdk.Sessions and safe for concurrent use; the zero value is empty.
type Workspaces struct {
	mu     sync.RWMutex
	places map[string]place
}

// place is where a session works: root is its workspace, dir where relative paths
// start (T22).
type place struct{ root, dir string }

// Open takes note of where a session works, also when that changed.
func (w *Workspaces) Open(_ context.Context, s compaction.Session) error {
	if s.Directory == "" {
		s.Directory = s.Workspace
	}
	for name, path := range map[string]string{"workspace": s.Workspace, "directory": s.Directory} {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("open session %q: %s %q is not an absolute path", s.ID, name, path)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.places == nil {
		w.places = map[string]place{}
	}
	w.places[s.ID] = place{filepath.Clean(s.Workspace), filepath.Clean(s.Directory)}
	return nil
}

// Close forgets a session.
func (w *Workspaces) Close(_ context.Context, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.places, id)
}

// Dir returns a session's working directory and whether the session is open.
func (w *Workspaces) Dir(session string) (string, bool) {
	p, ok := w.place(session)
	return p.dir, ok
}

// Root returns a session's workspace, the root of what may be written, and whether
// the session is open.
func (w *Workspaces) Root(session string) (string, bool) {
	p, ok := w.place(session)
	return p.root, ok
}

func (w *Workspaces) place(session string) (place, bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	p, ok := w.places[session]
	return p, ok
}

// Resolve turns a path that the model named into an absolute one: relative paths
// start at the session's working directory, absolute ones stand. Errors are *Error. It is
// the one place that every path of the shipped tools passes through.
func (w *Workspaces) Resolve(session, path string) (string, error) {
	dir, ok := w.Dir(session)
	switch {
	case !ok:
		return "", Errorf("SESSION_UNKNOWN", "session %q is not open in this plugin", session)
	case path == "":
		return "", Errorf("BAD_PATH", "the path is empty")
	case strings.IndexByte(path, 0) >= 0:
		return "", Errorf("BAD_PATH", "the path contains a NUL byte")
	case path == "~" || strings.HasPrefix(path, "~/"):
		return "", Errorf("BAD_PATH", `"~" is not expanded; give an absolute path or one relative to the working directory`)
	case filepath.IsAbs(path):
		return filepath.Clean(path), nil
	}
	return filepath.Join(dir, path), nil
}
