package search

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

var (
	//go:embed glob.json
	globSchema []byte
	//go:embed grep.json
	grepSchema []byte
)

// Deadlines of a search: its own, at which it answers with what it has, and the
// host's, which lies behind (T6).
const (
	deadline     = 30 * time.Second
	hostDeadline = deadline + 3*time.Second
)

// Provider is the plugin's tool.Provider and sdk.Sessions. It is safe for
// concurrent use by several sessions.
type Provider struct {
	toolcall.Workspaces
	deadline time.Duration
}

// New makes a Provider without sessions.
func New() *Provider { return &Provider{deadline: deadline} }

// Name is the plugin's name.
func (p *Provider) Name() string { return Name }

// Tools lists the tools; they are the same in every session.
func (p *Provider) Tools(context.Context, string) ([]tool.Spec, error) {
	return []tool.Spec{{
		Name: "glob",
		Description: "Find files whose path fits a pattern: * and ? stay within one directory, ** crosses directories, {a,b} and [a-z] are alternatives. " +
			"Answers with at most 100 paths, the last modified first. Hidden files are included, .gitignore is not looked at, " +
			"and directories named .git or node_modules are left out unless the pattern or path begins inside one.",
		Schema:        globSchema,
		Timeout:       hostDeadline,
		Guidance:      "Look for files by name with glob rather than with find or ls in a shell.",
		GuidanceOrder: 1140,
	}, {
		Name: "grep",
		Description: "Find lines in text files by a regular expression (RE2 syntax, matched line by line). Answers with at most 250 lines as path:line: text, " +
			"in path order. Binary files, and directories named .git or node_modules, are left out; .gitignore is not looked at.",
		Schema:        grepSchema,
		Timeout:       hostDeadline,
		Guidance:      "Search file contents with grep rather than with grep or rg in a shell; read a file at the line found when you need what stands around it.",
		GuidanceOrder: 1150,
	}}, nil
}

// Call runs one tool.
func (p *Provider) Call(ctx context.Context, call tool.Call, _ func(string)) (tool.Result, error) {
	switch call.Name {
	case "glob":
		return toolcall.Run(ctx, call, p.glob), nil
	case "grep":
		return toolcall.Run(ctx, call, p.grep), nil
	}
	return tool.Result{}, fmt.Errorf("plugin %q has no tool %q", Name, call.Name)
}

// display returns how paths are shown to the model: relative to the session's
// workspace where they lie inside, whole where not. Paths are without symlinks.
func (p *Provider) display(session string) func(path string) string {
	dir, _ := p.Dir(session)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return func(path string) string {
		if rel, err := filepath.Rel(dir, path); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return rel
		}
		return path
	}
}
