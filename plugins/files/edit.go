package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// maxEdit is the size of the largest file that edit takes into memory.
const maxEdit = 64 << 20

type editArgs struct {
	FilePath   string `json:"file_path"`
	OldString  string `json:"old_string"`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

func (p *Provider) edit(ctx context.Context, call tool.Call, args editArgs) (string, error) {
	path, err := p.Resolve(call.Session, args.FilePath)
	if err != nil {
		return "", toolcall.Cannot("edit", args.FilePath, err)
	}
	p.modify.Lock()
	defer p.modify.Unlock()
	target, err := follow(path)
	if err != nil {
		return "", toolcall.Cannot("edit", args.FilePath, err)
	}
	reach, err := p.reach(call, target)
	if err != nil {
		return "", toolcall.Cannot("edit", args.FilePath, err)
	}
	prior, data, err := p.load(ctx, call.Session, target, args.FilePath)
	if err != nil {
		return "", err
	}
	text, lines, err := args.apply(string(data))
	if err != nil {
		return "", err
	}
	if err := p.save(call.Session, "edit", args.FilePath, target, reach, []byte(text), prior); err != nil {
		return "", err
	}
	if args.ReplaceAll {
		return fmt.Sprintf("Updated file %s: %d places replaced, the first in line %d", path, len(lines), lines[0]), nil
	}
	return fmt.Sprintf("Updated file %s: replaced in line %d", path, lines[0]), nil
}

// load reads a whole text file that the session has seen in this very version.
func (p *Provider) load(ctx context.Context, session, target, named string) (fs.FileInfo, []byte, error) {
	f, info, err := toolcall.Open(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, toolcall.Errorf("NOT_FOUND", "cannot edit %q: not found; write creates new files", named)
	}
	if err != nil {
		return nil, nil, toolcall.Cannot("edit", named, err)
	}
	defer f.Close()
	seen, ok := p.seen.get(session, target)
	if !ok {
		return nil, nil, notRead(named)
	}
	if info.Size() > maxEdit {
		return nil, nil, toolcall.Errorf("TOO_LARGE", "cannot edit %q: it has %d bytes and edit takes at most %d; change it with a shell command", named, info.Size(), maxEdit)
	}
	data, err := io.ReadAll(toolcall.Reader(ctx, io.LimitReader(f, maxEdit+1)))
	if err != nil {
		return nil, nil, toolcall.Cannot("edit", named, err)
	}
	now := versionOf(info, data)
	if now.size != seen.size || seen.whole && now.hash != seen.hash || !seen.whole && !now.mtime.Equal(seen.mtime) {
		return nil, nil, changed("edit", named)
	}
	if toolcall.IsBinary(data) {
		return nil, nil, toolcall.Errorf("BINARY_FILE", "cannot edit %q: binary file", named)
	}
	if !utf8.Valid(data) {
		return nil, nil, toolcall.Errorf("NOT_UTF8", "cannot edit %q: not UTF-8 text; change it with a shell command", named)
	}
	return info, data, nil
}

// apply makes the replacement and returns the new text and the lines in which
// the old string began.
func (a editArgs) apply(content string) (string, []int, error) {
	d := parse(content)
	old := strings.TrimPrefix(toLF(a.OldString), bom)
	replacement := strings.TrimPrefix(toLF(a.NewString), bom)
	switch {
	case old == replacement:
		return "", nil, toolcall.Errorf("SAME_STRINGS", "old_string and new_string must differ")
	case old == "":
		return "", nil, toolcall.Errorf("INVALID_ARGUMENTS", "old_string is empty; use write to create a file or to replace all of it")
	}
	at := d.find(old, !a.ReplaceAll)
	switch {
	case len(at) == 0 && strings.Contains(d.text, "\r"):
		return "", nil, toolcall.Errorf("NO_MATCH", "old_string was not found in %q, which has carriage returns without a line feed; give each of those as \\r, it is no line end to read and edit", a.FilePath)
	case len(at) == 0:
		return "", nil, toolcall.Errorf("NO_MATCH", "old_string was not found in %q; it has to agree with the file to the letter, indentation included and without line numbers", a.FilePath)
	case len(at) > 1 && !a.ReplaceAll:
		return "", nil, toolcall.Errorf("AMBIGUOUS_MATCH", "old_string matched %d times in %q; take in more of the surrounding lines to single one out, or set replace_all to true", len(at), a.FilePath)
	}
	lines := make([]int, len(at))
	line, from := 1, 0
	for i, start := range at {
		line, from = line+strings.Count(d.text[from:start], "\n"), start
		lines[i] = line
	}
	return d.replace(at, len(old), replacement), lines, nil
}
