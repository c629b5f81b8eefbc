package toolcall

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tureen-host/tureen/compaction"
)

// Workspaces knows the working directory of each open session. It is an
// sdk.Sessions and safe for concurrent use; the zero value is empty.
type Workspaces struct {
	mu   sync.RWMutex
	dirs map[string]string
}

// Open takes note of a session's workspace.
func (w *Workspaces) Open(_ context.Context, s compaction.Session) error {
	if !filepath.IsAbs(s.Workspace) {
		return fmt.Errorf("open session %q: workspace %q is not an absolute path", s.ID, s.Workspace)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirs == nil {
		w.dirs = map[string]string{}
	}
	w.dirs[s.ID] = filepath.Clean(s.Workspace)
	return nil
}

// Close forgets a session.
func (w *Workspaces) Close(_ context.Context, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.dirs, id)
}

// Dir returns a session's workspace and whether the session is open.
func (w *Workspaces) Dir(session string) (string, bool) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	dir, ok := w.dirs[session]
	return dir, ok
}

// Resolve turns a path that the model named into an absolute one: relative paths
// start at the session's workspace, absolute ones stand. Errors are *Error. It is
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
