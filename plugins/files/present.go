package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

type presentArgs struct {
	Paths []string `json:"paths"`
	Note  string   `json:"note"`
}

// present lists finished files for the user. It records nothing: the result in the
// log is the list (T22).
func (p *Provider) present(ctx context.Context, call tool.Call, args presentArgs) (string, error) {
	var lines []string
	var problems []error
	for _, named := range args.Paths {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		path, err := p.Resolve(call.Session, named)
		var size int64
		if err == nil {
			size, err = sizeOf(path)
		}
		if err != nil {
			problems = append(problems, toolcall.Cannot("present", named, err))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s (%d bytes)", path, size))
	}
	if len(problems) > 0 {
		return "", toolcall.Errorf("NOT_PRESENTED", "%v\nNothing was presented; call present again with files that exist.", errors.Join(problems...))
	}
	if note := strings.TrimSpace(args.Note); note != "" {
		lines = append(lines, note)
	}
	return "Presented to the user:\n" + strings.Join(lines, "\n"), nil
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = toolcall.Regular(info)
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
