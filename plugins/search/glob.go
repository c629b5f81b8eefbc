package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// maxPaths is how many paths one glob shows (T13).
const maxPaths = 100

type globArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path"`
}

func (p *Provider) glob(ctx context.Context, call tool.Call, args globArgs) (string, error) {
	if args.Path == "" {
		args.Path = "."
	}
	if !doublestar.ValidatePattern(args.Pattern) {
		return "", toolcall.Errorf("BAD_PATTERN", "invalid pattern %q: a [ or { is not closed, a } or a class is out of place, or a backslash stands last", args.Pattern)
	}
	base, rest := doublestar.SplitPattern(args.Pattern)
	if rest == "" {
		rest = "**"
	}
	from := base
	if !filepath.IsAbs(base) && !strings.HasPrefix(base, "~") {
		from = filepath.Join(args.Path, base)
	}
	path, err := p.Resolve(call.Session, from)
	if err != nil {
		return "", toolcall.Cannot("search", from, err)
	}
	root, info, err := start(path)
	switch {
	case base != "." && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)), err == nil && base != "." && !info.IsDir():
		return "No files found", nil // the directory stands in the pattern
	case err != nil:
		return "", toolcall.Cannot("search", args.Path, err)
	case !info.IsDir():
		return "", toolcall.Errorf("NOT_A_DIRECTORY", "cannot search %q: not a directory; read shows a file", args.Path)
	}
	w := &walk{root: root, display: p.display(call.Session), depth: depthOf(rest), timeLimit: p.deadline}
	var found newest
	err = w.each(ctx, func(_ context.Context, path, rel string, entry fs.DirEntry) error {
		if doublestar.MatchUnvalidated(rest, rel) {
			switch info, err := os.Stat(path); {
			case err != nil:
				w.pass(path, err)
			case info.Mode().IsRegular():
				found.add(path, info.ModTime())
			}
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if found.total == 0 {
		return w.nothing("No files found", "pattern or path")
	}
	return found.text(w.display) + w.notes("pattern or path"), nil
}

// depthOf is how deep below its root a pattern reaches, -1 = any depth.
func depthOf(pattern string) int {
	if strings.Contains(pattern, "**") {
		return -1
	}
	return strings.Count(pattern, "/")
}

// newest keeps the files that were modified last, and counts all.
type newest struct {
	files []file
	total int
}

type file struct {
	path  string
	mtime time.Time
}

func (n *newest) add(path string, mtime time.Time) {
	n.total++
	n.files = append(n.files, file{path, mtime})
	if len(n.files) >= 64*maxPaths {
		n.files = n.first()
	}
}

// first returns at most maxPaths files, the last modified first, ties by name.
func (n *newest) first() []file {
	slices.SortFunc(n.files, func(a, b file) int {
		return cmp.Or(b.mtime.Compare(a.mtime), cmp.Compare(a.path, b.path))
	})
	return n.files[:min(len(n.files), maxPaths)]
}

// text lists the files, and says so where there are more.
func (n *newest) text(display func(string) string) string {
	var b strings.Builder
	for i, f := range n.first() {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(display(f.path))
	}
	if n.total > maxPaths {
		fmt.Fprintf(&b, "\n(Showing %d of %d paths, the last modified ones. For the others use a narrower pattern, or a path below.)", maxPaths, n.total)
	}
	return b.String()
}
