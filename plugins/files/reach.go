package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/confine"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// reach is where a call may change files (T17).
type reach struct {
	confine.Bounds
	root string // the directory that target has to stay in, "" for anywhere
}

// reach finds out whether a call may change the file at target, an absolute path
// without symlinks as far as it exists.
func (p *Provider) reach(call tool.Call, target string) (reach, error) {
	workspace, _ := p.Root(call.Session)
	r := reach{Bounds: confine.For(call.Confinement, workspace, "")}
	if r.Files == session.FilesFull {
		return r, nil
	}
	var ok bool
	if r.root, ok = r.Root(target); !ok {
		return r, r.denied()
	}
	return r, nil
}

func (r reach) denied() error {
	where := "nowhere"
	if len(r.Write) > 0 {
		where = "only in " + strings.Join(r.Write, ", ")
	}
	return toolcall.Errorf("FILE_POLICY", "the file policy allows changes %s\n%s", where, r.Denied(confine.NextStop))
}

// open opens a directory, which is made where it is missing and make says so. A path
// that by now leads out of what the call may change is denied.
func (r reach) open(dir string, make bool) (*os.Root, error) {
	if r.root == "" {
		if make {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return nil, err
			}
		}
		return os.OpenRoot(dir)
	}
	root, err := os.OpenRoot(r.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	rel, err := filepath.Rel(r.root, dir)
	if err == nil && make {
		err = root.MkdirAll(rel, 0o777)
	}
	var opened *os.Root
	if err == nil {
		opened, err = root.OpenRoot(rel)
	}
	if err != nil && escapes(err) {
		return nil, r.denied()
	}
	return opened, err
}

// escapes tells whether an os.Root refused a path because it leads out. What it
// returns then has no name of its own, but is no error of the system either.
func escapes(err error) bool {
	var inPath *fs.PathError
	var system interface{ Is(error) bool }
	return errors.As(err, &inPath) && !errors.As(inPath.Err, &system)
}
