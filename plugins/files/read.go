package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// The limits of one read (T10).
const (
	maxLines     = 2000
	maxLineChars = 2000
	maxBytes     = 51_200
	// minBytes is the least that a page may hold when the context is nearly
	// full: room for one line of the longest kind.
	minBytes = 8 << 10
	// bytesPerToken turns the room that is left in the context into bytes.
	bytesPerToken = 3
	// maxCount is how far behind the page a file is read for its number of lines
	// and its hash. Beyond it the footer says "more than", and size and
	// modification time stand in for the hash.
	maxCount = 64 << 20
)

type readArgs struct {
	FilePath string       `json:"file_path"`
	Offset   toolcall.Int `json:"offset"`
	Limit    toolcall.Int `json:"limit"`
}

func (p *Provider) read(ctx context.Context, call tool.Call, args readArgs) (string, error) {
	path, err := p.Resolve(call.Session, args.FilePath)
	if err != nil {
		return "", toolcall.Cannot("read", args.FilePath, err)
	}
	want := request{first: max(1, int(args.Offset)), lines: maxLines, bytes: maxBytes}
	if args.Limit > 0 {
		want.lines = min(maxLines, int(args.Limit))
	}
	if call.Room >= 0 && call.Room < maxBytes/bytesPerToken {
		want.bytes = max(minBytes, call.Room*bytesPerToken)
	}
	page, version, err := readFile(ctx, path, want)
	var known *toolcall.Error
	switch {
	case errors.As(err, &known) && known.Code == "IS_DIRECTORY":
		return "", toolcall.Errorf(known.Code, "cannot read %q: it is a directory; list what it holds with glob, pattern %q", args.FilePath, filepath.Join(args.FilePath, "**"))
	case errors.Is(err, fs.ErrNotExist) && path != args.FilePath:
		return "", toolcall.Errorf("NOT_FOUND", "cannot read %q: not found (looked for %s; glob finds files by pattern)", args.FilePath, path)
	case err != nil:
		return "", toolcall.Cannot("read", args.FilePath, err)
	case page.last == 0 && want.first > max(1, page.total):
		return "", toolcall.Errorf("OUT_OF_RANGE", "offset %d is out of range for %q (%d lines)", want.first, args.FilePath, page.total)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		p.seen.put(call.Session, real, version)
	}
	return fmt.Sprintf("<path>%s</path>\n<type>file</type>\n<content>\n%s%s\n</content>", path, page.text, page.footer()), nil
}

func readFile(ctx context.Context, path string, want request) (*page, version, error) {
	f, info, err := toolcall.Open(path)
	if err != nil {
		return nil, version{}, err
	}
	defer f.Close()
	source := newSource(toolcall.Reader(ctx, f))
	if head := source.head(); toolcall.IsBinary(head) {
		return nil, version{}, toolcall.Errorf("BINARY_FILE", "binary file: %s", describe(head, info.Size()))
	}
	page, err := source.page(want)
	if err != nil {
		return nil, version{}, err
	}
	v := version{size: info.Size(), mtime: info.ModTime(), hash: source.hash(), whole: page.counted}
	return page, v, nil
}

// footer says what was shown and how to go on.
func (p *page) footer() string {
	var b strings.Builder
	switch {
	case p.counted && p.last == p.total:
		fmt.Fprintf(&b, "(End of file - total %d lines)", p.total)
	case p.capped:
		fmt.Fprintf(&b, "(Output capped. Showing lines %d-%d. Use offset=%d to continue.)", p.first, p.last, p.last+1)
	case p.counted:
		fmt.Fprintf(&b, "(Showing lines %d-%d of %d. Use offset=%d to continue.)", p.first, p.last, p.total, p.last+1)
	default:
		fmt.Fprintf(&b, "(Showing lines %d-%d of more than %d. Use offset=%d to continue.)", p.first, p.last, p.total, p.last+1)
	}
	return b.String()
}
