package files

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

type directoryArgs struct {
	Path string `json:"path"`
}

// workingDirectory tells where the session's tools start from, or asks the host to
// move that (T22).
func (p *Provider) workingDirectory(ctx context.Context, call tool.Call) tool.Result {
	var to string
	result := toolcall.Run(ctx, call, func(_ context.Context, call tool.Call, args directoryArgs) (string, error) {
		from, err := p.Resolve(call.Session, ".")
		if err != nil {
			return "", err
		}
		if args.Path == "" {
			return "The working directory is " + from, nil
		}
		real, err := p.directory(call.Session, args.Path)
		if err != nil {
			return "", toolcall.Cannot("change to", args.Path, err)
		}
		if real == from {
			return "The working directory is " + from + " already", nil
		}
		to = real
		return fmt.Sprintf("The working directory is %s from the next step on; it was %s", to, from), nil
	})
	if to != "" {
		result.Effects, result.Note = []tool.Effect{tool.EffectChangeDirectory}, to
	}
	return result
}

// directory finds an existing directory and returns its path without symlinks.
func (p *Provider) directory(session, path string) (string, error) {
	dir, err := p.Resolve(session, path)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", err
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return "", err
	case !info.IsDir():
		return "", toolcall.Errorf("NOT_A_DIRECTORY", "not a directory")
	}
	return dir, unix.Access(dir, unix.X_OK) // nothing could start there otherwise
}
