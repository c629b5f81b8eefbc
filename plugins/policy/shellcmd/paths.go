package shellcmd

import (
	"path/filepath"
	"slices"
	"strings"
)

// writes takes the target of a redirection.
func (w *walker) writes(target word) {
	w.device(target, ">")
	path := target.text
	switch {
	case path == "" || path == "/dev/null" || path == "/dev/stdout" || path == "/dev/stderr" || path == "-" || strings.HasPrefix(path, "/dev/fd/"):
		return
	case strings.HasPrefix(path, "~/") && w.o.Home != "":
		w.writing(filepath.Join(w.o.Home, path[2:]))
	case !target.unknown && !filepath.IsAbs(path) && !strings.HasPrefix(path, "~") && !w.facts.lost:
		for _, dir := range w.facts.dirs {
			w.writing(filepath.Join(dir, path))
		}
	default:
		w.writing(path)
	}
	w.written[Base(path)] = true
	inGit := !filepath.IsAbs(path) && slices.ContainsFunc(w.facts.dirs, func(dir string) bool { return gitPath(dir) || gitPath(w.resolve(dir)) })
	if inGit || w.facts.lost && w.facts.gitDir || w.leadsToGit(target) {
		w.unclear("> "+path, "it writes where git keeps what it runs")
	}
}

func (w *walker) writing(path string) {
	if !w.quiet && !slices.Contains(w.line.Writes, path) {
		w.line.Writes = append(w.line.Writes, path)
	}
}

// runs notes that a file is run by its path.
func (w *walker) runs(path string) {
	if strings.Contains(path, "/") {
		w.ran[Base(path)] = true
	}
}

// sameFile asks where a line makes a file and runs it: what it is cannot be seen.
func (w *walker) sameFile() {
	for name := range w.written {
		if w.ran[name] && name != Unknown {
			w.unclear(name, "the line makes a file and runs it")
		}
	}
}

// device looks for redirections to connections and to disks.
func (w *walker) device(target word, op string) {
	path := filepath.Clean(target.text)
	switch {
	case strings.HasPrefix(path, "/dev/tcp/"), strings.HasPrefix(path, "/dev/udp/"):
		w.record(Command{Written: op + " " + target.text, Concerns: []Concern{{Network, "it opens a connection"}}})
	case target.unknown && (strings.HasPrefix(target.text, Unknown) && target.tainted || strings.HasPrefix(path, "/dev") || strings.HasPrefix(target.text, "/"+Unknown)):
		w.record(Command{Written: op + " " + target.text, Concerns: []Concern{{Unclear, "where it reads or writes is known only when it runs"}}})
	case op == ">" && disk(path):
		w.record(Command{Written: op + " " + target.text, Concerns: []Concern{{Destructive, "it writes to a disk"}}})
	}
}

// disk tells whether a path is a disk or the machine's memory.
func disk(path string) bool {
	rest, ok := strings.CutPrefix(filepath.Clean(path), "/dev/")
	if !ok {
		return false
	}
	for _, prefix := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "mapper/", "dm-", "loop", "md", "mem", "kmem", "port", "block/"} {
		if strings.HasPrefix(rest, prefix) {
			return true
		}
	}
	return false
}

func (w *walker) inside(path string) bool { return w.o.Inside != nil && w.o.Inside(path) }

// outside tells whether a path that a command names may lie where the line must
// not write.
func (w *walker) outside(x word) bool {
	path := x.text
	switch {
	case x.unknown, strings.HasPrefix(path, "~"):
		return true
	case filepath.IsAbs(path):
		return !w.inside(path)
	case w.facts.lost:
		return true
	}
	return slices.ContainsFunc(w.facts.dirs, func(dir string) bool { return !w.inside(filepath.Join(dir, path)) })
}
