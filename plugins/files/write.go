package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

type writeArgs struct {
	FilePath string `json:"file_path"`
	Content  string `json:"content"`
}

func (p *Provider) write(ctx context.Context, call tool.Call, args writeArgs) (string, error) {
	path, err := p.Resolve(call.Session, args.FilePath)
	if err == nil && strings.HasSuffix(args.FilePath, "/") {
		err = toolcall.Errorf("IS_DIRECTORY", "the path ends in / and so names a directory")
	}
	if err != nil {
		return "", toolcall.Cannot("write", args.FilePath, err)
	}
	p.modify.Lock()
	defer p.modify.Unlock()
	target, err := follow(path)
	if err != nil {
		return "", toolcall.Cannot("write", args.FilePath, err)
	}
	reach, err := p.reach(call, target)
	if err != nil {
		return "", toolcall.Cannot("write", args.FilePath, err)
	}
	prior, err := p.mayReplace(ctx, call.Session, target, args.FilePath)
	if err != nil {
		return "", err
	}
	verb := "Updated"
	if prior == nil {
		verb = "Created"
	}
	if err := p.save(call.Session, "write", args.FilePath, target, reach, []byte(args.Content), prior); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s file %s (%d lines, %d bytes)", verb, path, countLines(args.Content), len(args.Content)), nil
}

// mayReplace returns what stands at target, nil where nothing does. A file that
// the session has not read, or that changed since, is an error (T11).
func (p *Provider) mayReplace(ctx context.Context, session, target, named string) (fs.FileInfo, error) {
	prior, err := os.Stat(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = toolcall.Regular(prior)
	}
	if err != nil {
		return nil, toolcall.Cannot("write", named, err)
	}
	v, read := p.seen.get(session, target)
	if !read {
		return nil, notRead(named)
	}
	same, err := unchanged(ctx, target, v, prior)
	if err != nil {
		return nil, toolcall.Cannot("write", named, err)
	}
	if !same {
		return nil, changed("write", named)
	}
	return prior, nil
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
