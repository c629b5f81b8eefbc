package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/session"
)

// pathForms are the ways to name a file.
type pathForms struct {
	lexical string // absolute, as it was written
	real    string // absolute, without symlinks
	within  []string
}

func (f pathForms) all() []string { return append([]string{f.lexical, f.real}, f.within...) }

// forms resolves a path that the model named.
func (p *Provider) forms(at place, path string) pathForms {
	if !filepath.IsAbs(path) {
		path = filepath.Join(at.directory, path)
	}
	f := pathForms{lexical: filepath.Clean(path), real: resolve(path)}
	root := resolve(at.workspace)
	for _, whole := range []string{f.lexical, f.real} {
		for _, base := range []string{at.workspace, root} {
			if rel, err := filepath.Rel(base, whole); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
				f.within = append(f.within, rel)
			}
		}
	}
	return f
}

// file judges a call that changes one file.
func (p *Provider) file(f *finding, at place, tool, path string) {
	forms := p.forms(at, path)
	f.subject, f.detail = "change this file", forms.lexical
	if forms.real != forms.lexical {
		f.detail += "\nwhich is " + forms.real
	}
	key := "file\x00" + forms.real
	p.ruled(f, tool, key, func(r Rule) bool { return r.path(forms.all()...) })
	if f.deny != "" {
		return
	}
	_, inside := p.reach(at).Root(forms.real)
	if gitPlace(forms.lexical) || gitPlace(forms.real) {
		f.ask("it lies in a directory .git, where git keeps what it runs", key)
	}
	switch {
	case p.config.Files == session.FilesFull:
	case p.config.Files == session.FilesWorkspaceWrite && inside:
	case p.config.Files == session.FilesReadOnly && inside:
		f.ask("the file policy is read-only", key)
		f.bound = widened(f.bound)
	default:
		f.ask(fmt.Sprintf("it lies outside of what the file policy %s lets change", p.config.Files), key)
		f.bound = widened(f.bound, existing(filepath.Dir(forms.real)))
	}
}

// gitPlace tells whether a path leads through a directory .git, which some file
// systems know under other letters too.
func gitPlace(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(part string) bool { return strings.EqualFold(part, ".git") })
}

// widened is what a call may do that the person allowed: write in the workspace
// and in these directories besides.
func widened(c session.Confinement, dirs ...string) session.Confinement {
	c.Files = session.FilesWorkspaceWrite
	if len(dirs) > 0 && dirs[0] == "/" {
		return session.Confinement{Files: session.FilesFull, Offline: c.Offline}
	}
	c.Writable = append(append([]string{}, c.Writable...), dirs...)
	return c
}

// existing is the directory itself, or the nearest above it that exists.
func existing(dir string) string {
	for dir != "/" {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	return dir
}

// maxLinks is how many symlinks a path may lead through.
const maxLinks = 64

// resolve makes a path absolute and free of symlinks, also where its end does not
// exist: it is where a program that follows the path would write. A path that
// leads in circles stays as it is, and opens nothing.
func resolve(path string) string {
	done, rest, links := "/", strings.Split(filepath.ToSlash(path), "/"), 0
	for len(rest) > 0 {
		part := rest[0]
		rest = rest[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			done = filepath.Dir(done)
			continue
		}
		next := filepath.Join(done, part)
		target, err := os.Readlink(next)
		if err != nil {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return filepath.Clean(path)
		}
		if filepath.IsAbs(target) {
			done = "/"
		}
		rest = append(strings.Split(filepath.ToSlash(target), "/"), rest...)
	}
	return done
}
