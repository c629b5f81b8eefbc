package instructions

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
)

// leastShown is the room for instructions below which only their names are given.
const leastShown = 4096

// reaching are the tools that go to files, by the argument that names the place.
var reaching = map[string]string{"read": "file_path", "write": "file_path", "edit": "file_path", "glob": "path", "grep": "path"}

// foreign are directories with what others wrote: their instructions are not the
// project's.
var foreign = []string{".git", "node_modules", "site-packages", "third_party", "vendor", "venv", ".venv"}

// AfterTool shows the instructions of a deeper directory once a call reached it,
// each directory once a window. It never fails.
func (p *Provider) AfterTool(_ context.Context, at hook.Where, outcome hook.ToolOutcome) (hook.OutcomeDecision, error) {
	var none hook.OutcomeDecision
	path, ok := reached(outcome)
	if !ok {
		return none, nil
	}
	v, unlock := p.view(at.Session)
	defer unlock()
	if v == nil {
		return none, nil
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(v.base, path)
	}
	file, dirs := v.unseen(path)
	if len(dirs) == 0 {
		return none, nil
	}
	g := &gathered{}
	g.directories(v.place.root, dirs)
	g.sources = slices.DeleteFunc(g.sources, func(s source) bool { return slices.Contains(s.paths, file) }) // just seen
	p.warn(v, g.notes)
	if text := v.spend(g, dirs[len(dirs)-1]); text != "" {
		return hook.OutcomeDecision{Contexts: []string{text}}, nil
	}
	return none, nil
}

// reached is the path that a successful call went to.
func reached(outcome hook.ToolOutcome) (string, bool) {
	key := reaching[outcome.Name]
	if key == "" || outcome.IsError {
		return "", false
	}
	object, ok := llm.ToolCall{Arguments: outcome.Arguments}.ArgumentsObject()
	if !ok {
		return "", false
	}
	var arguments map[string]any
	if json.Unmarshal(object, &arguments) != nil {
		return "", false
	}
	path, _ := arguments[key].(string)
	return path, path != "" && len(path) < maxFile && !strings.ContainsRune(path, 0)
}

// unseen lists the directories from the root to a path whose instructions were not
// shown yet, and counts them as shown. A directory of others, or of another
// repository within the project, ends the list. file is the path without symlinks.
func (v *view) unseen(path string) (file string, dirs []string) {
	file = real(path)
	dir := file
	if info, err := os.Stat(file); err != nil || !info.IsDir() {
		dir = filepath.Dir(file)
	}
	if !within(v.place.root, dir) {
		return file, nil
	}
	for _, d := range down(v.place.root, dir) {
		if v.visited[d] {
			continue
		}
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil && d != v.place.root || slices.Contains(foreign, filepath.Base(d)) {
			break
		}
		v.visited[d] = true
		dirs = append(dirs, d)
	}
	return file, dirs
}

// spend renders what was gathered, as long as the window has room for it.
func (v *view) spend(g *gathered, dir string) string {
	if len(g.sources) == 0 {
		return ""
	}
	if v.left >= leastShown {
		text := render(fmt.Sprintf(frameDeeper, show(dir)), g, v.left)
		v.left -= len(text)
		return text
	}
	if v.left < 0 {
		return ""
	}
	v.left = -1
	return fmt.Sprintf("More instruction files stand in the directories that you reach, the first in %s, but there is no room to show them. "+
		"Before you change something in a directory, look whether it has an AGENTS.md and read it.", show(dir))
}
