package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// skipped are the directories that no search enters by itself.
var skipped = map[string]bool{".git": true, "node_modules": true}

// walk is one search through a tree of files.
type walk struct {
	root    string // without symlinks
	display func(path string) string
	depth   int // directories below root that are entered, -1 = all
	// timeLimit ends the walk early; stopped is then true.
	timeLimit time.Duration
	stopped   bool
	passed    []string // the first places that could not be read, each with the reason
	passedAll int      // how many there were
}

// each calls visit with every file below the root that is regular or a symlink,
// in path order; rel is its path below the root. Where the root is a file, that
// is the only one. Symlinks to directories are not followed.
func (w *walk) each(ctx context.Context, visit func(ctx context.Context, path, rel string, entry fs.DirEntry) error) error {
	limited, cancel := context.WithTimeout(ctx, w.timeLimit)
	defer cancel()
	err := filepath.WalkDir(w.root, func(path string, entry fs.DirEntry, err error) error {
		if limited.Err() != nil {
			return limited.Err()
		}
		if err != nil {
			w.pass(path, err)
			return nil
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(path, w.root), "/")
		if entry.IsDir() {
			return w.enter(rel, entry)
		}
		if entry.Type() != 0 && entry.Type() != fs.ModeSymlink {
			return nil
		}
		return visit(limited, path, rel, entry)
	})
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		w.stopped = true
		return nil
	}
	return err
}

func (w *walk) enter(rel string, entry fs.DirEntry) error {
	if rel == "" {
		return nil
	}
	if skipped[entry.Name()] || w.depth >= 0 && strings.Count(rel, "/") >= w.depth {
		return fs.SkipDir
	}
	return nil
}

// notes tells what the search did not look at, as footer lines.
func (w *walk) notes(looked string) string {
	text := ""
	if w.stopped {
		text += fmt.Sprintf("\n(Stopped after %s with part of the files looked at; narrow %s for the whole answer.)", w.timeLimit, looked)
	}
	if w.passedAll > 0 {
		more := ""
		if n := w.passedAll - len(w.passed); n > 0 {
			more = fmt.Sprintf(", and %d more", n)
		}
		text += fmt.Sprintf("\n(Passed by, for they could not be read: %s%s. What is in them is not in this answer.)", strings.Join(w.passed, ", "), more)
	}
	return text
}

// maxPassed is how many places that could not be read are named.
const maxPassed = 5

// pass notes a place that the search has to go without. One that is gone by now was
// taken away meanwhile and is not missing.
func (w *walk) pass(path string, err error) {
	entry, gone := os.Lstat(path)
	if errors.Is(gone, fs.ErrNotExist) {
		return
	}
	why := err.Error()
	var inPath *fs.PathError
	switch {
	case entry != nil && entry.Mode()&fs.ModeSymlink != 0 && errors.Is(err, fs.ErrNotExist):
		why = "a symlink to nothing"
	case errors.Is(err, syscall.ELOOP):
		why = "a symlink to itself"
	case errors.As(err, &inPath):
		why = inPath.Err.Error()
	}
	if w.passedAll++; len(w.passed) < maxPassed {
		w.passed = append(w.passed, fmt.Sprintf("%q (%s)", w.display(path), why))
	}
}

// nothing is the answer of a search that found nothing: empty, or an error where
// it was stopped before it had seen everything.
func (w *walk) nothing(empty, looked string) (string, error) {
	if w.stopped {
		return "", toolcall.Errorf("TOOL_TIMEOUT", "tool call timed out after %dms and had found nothing by then; narrow %s", w.timeLimit.Milliseconds(), looked)
	}
	return empty + w.notes(looked), nil
}

// start returns the root of a search without symlinks.
func start(path string) (string, fs.FileInfo, error) {
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(root)
	return root, info, err
}
