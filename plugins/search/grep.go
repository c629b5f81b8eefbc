package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// The limits of one grep (T13).
const (
	maxMatches   = 250
	maxLineBytes = 2000
	maxContext   = 10
	// maxReport bounds the whole answer, context included.
	maxReport = 512 << 10
	// maxLine is how much of one line is searched.
	maxLine = 1 << 20
)

type grepArgs struct {
	Pattern         string       `json:"pattern"`
	Path            string       `json:"path"`
	Include         string       `json:"include"`
	CaseInsensitive bool         `json:"case_insensitive"`
	Context         toolcall.Int `json:"context"`
}

func (p *Provider) grep(ctx context.Context, call tool.Call, args grepArgs) (string, error) {
	matcher, err := args.compile()
	if err != nil {
		return "", err
	}
	if args.Path == "" {
		args.Path = "."
	}
	path, err := p.Resolve(call.Session, args.Path)
	if err != nil {
		return "", toolcall.Cannot("search", args.Path, err)
	}
	root, info, err := start(path)
	if err == nil && !info.IsDir() {
		err = toolcall.Regular(info)
	}
	if err != nil {
		return "", toolcall.Cannot("search", args.Path, err)
	}
	w := &walk{root: root, display: p.display(call.Session), depth: -1, timeLimit: p.deadline}
	r := &report{context: max(0, min(maxContext, int(args.Context)))}
	s := newScanner(matcher, r)
	err = w.each(ctx, func(ctx context.Context, path, rel string, entry fs.DirEntry) error {
		if rel != "" && !args.includes(rel) {
			return nil
		}
		if entry.Type() != 0 { // a symlink: not followed, but one that leads nowhere is told of
			if _, err := os.Stat(path); err != nil {
				w.pass(path, err)
			}
			return nil
		}
		err := s.file(ctx, path, w.display(path))
		if errors.Is(err, errBinary) && rel == "" {
			return toolcall.Cannot("search", args.Path, err)
		}
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, errBinary) {
			w.pass(path, err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	const looked = "path, include or pattern"
	if r.matches == 0 {
		return w.nothing("No matches found"+s.notes(), looked)
	}
	return r.text() + s.notes() + w.notes(looked), nil
}

// compile checks pattern and include; the error names the fault.
func (a grepArgs) compile() (*matcher, error) {
	if !doublestar.ValidatePattern(a.Include) {
		return nil, toolcall.Errorf("BAD_PATTERN", "invalid include %q: a [ or { is not closed, a } or a class is out of place, or a backslash stands last", a.Include)
	}
	flags := syntax.Perl
	prefix := ""
	if a.CaseInsensitive {
		flags, prefix = flags|syntax.FoldCase, "(?i)"
	}
	parsed, err := syntax.Parse(a.Pattern, flags)
	var fault *syntax.Error
	if errors.As(err, &fault) {
		return nil, toolcall.Errorf("BAD_PATTERN", "invalid pattern %q: %s: %s%s", a.Pattern, fault.Code, fault.Expr, hint(fault.Code))
	}
	if err != nil {
		return nil, toolcall.Errorf("BAD_PATTERN", "invalid pattern %q: %v", a.Pattern, err)
	}
	expression, err := regexp.Compile(prefix + a.Pattern)
	if err != nil {
		return nil, toolcall.Errorf("BAD_PATTERN", "invalid pattern %q: %v", a.Pattern, err)
	}
	return &matcher{expression, []byte(literal(parsed))}, nil
}

// matcher tells which lines match.
type matcher struct {
	expression *regexp.Regexp
	literal    []byte // stands in every matching line
}

func (m *matcher) match(line []byte) bool {
	return bytes.Contains(line, m.literal) && m.expression.Match(line)
}

func hint(code syntax.ErrorCode) string {
	switch code {
	case syntax.ErrInvalidPerlOp, syntax.ErrInvalidEscape:
		return " (RE2 has no look-around and no back-references)"
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingBracket, syntax.ErrMissingRepeatArgument:
		return " (a backslash before the character makes it literal)"
	}
	return ""
}

func (a grepArgs) includes(rel string) bool {
	switch {
	case a.Include == "":
		return true
	case strings.Contains(a.Include, "/"):
		return doublestar.MatchUnvalidated(strings.TrimPrefix(a.Include, "/"), rel)
	}
	return doublestar.MatchUnvalidated(a.Include, filepath.Base(rel))
}

// report collects the lines to show and counts the others.
type report struct {
	context int
	b       strings.Builder
	matches int // matching lines in all
	shown   int
	files   int // files with a match
	// lastPath and lastLine are the last line written, for the separator.
	lastPath string
	lastLine int
}

// full tells whether matches are only counted from now on.
func (r *report) full() bool { return r.shown >= maxMatches || r.b.Len() >= maxReport }

// line writes one line; mark is ":" for a match and "-" for context.
func (r *report) line(path string, number int, mark string, text []byte) {
	if r.b.Len() > 0 {
		r.b.WriteByte('\n')
		if r.context > 0 && (path != r.lastPath || number != r.lastLine+1) {
			r.b.WriteString("--\n")
		}
	}
	r.lastPath, r.lastLine = path, number
	fmt.Fprintf(&r.b, "%s%s%d%s %s", path, mark, number, mark, clip(text))
}

func (r *report) text() string {
	if r.matches > r.shown {
		fmt.Fprintf(&r.b, "\n(Showing %d of %d matching lines in %d files. For the others narrow the pattern, or give path or include.)", r.shown, r.matches, r.files)
	}
	return r.b.String()
}
