package instructions

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxDepth bounds how many directories a chain looks into.
const maxDepth = 64

// place is where a session works. Both paths are absolute and without symlinks; dir
// is root or below it.
type place struct{ root, dir string }

// locate finds the project of a session: the nearest directory with a .git above
// the workspace, else the workspace itself. Where the session has left that for
// another directory, the project is that one's.
func locate(workspace, directory string) place {
	workspace, directory = real(workspace), real(directory)
	for _, from := range []string{workspace, directory} {
		root := from
		if found, ok := repository(from); ok {
			root = found
		}
		if within(root, directory) {
			return place{root, directory}
		}
	}
	return place{directory, directory}
}

// dirs are the directories of the chain, from the root down; at most the deepest
// maxDepth.
func (p place) dirs() []string { return down(p.root, p.dir) }

// down lists the directories from root to dir, both included.
func down(root, dir string) []string {
	var dirs []string
	for at := dir; len(dirs) < maxDepth; at = filepath.Dir(at) {
		dirs = append([]string{at}, dirs...)
		if at == root || at == filepath.Dir(at) {
			break
		}
	}
	return dirs
}

// repository climbs to the nearest directory with a .git. One that belongs neither
// to the user nor to the owner of dir is passed over: in a directory that anybody
// may write to, anybody could have put it there.
func repository(dir string) (string, bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if info, err := os.Lstat(filepath.Join(at, ".git")); err == nil && trusted(info, dir) {
			return at, true
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

// trusted tells whether a file belongs to the user or to the owner of a directory.
func trusted(info fs.FileInfo, dir string) bool {
	of, known := owner(info)
	if !known || of == os.Geteuid() {
		return true
	}
	above, err := os.Stat(dir)
	if err != nil {
		return false
	}
	other, _ := owner(above)
	return of == other
}

func owner(info fs.FileInfo) (uid int, known bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}

// within tells whether path is dir or below it. Both are absolute and clean.
func within(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// real resolves symlinks, as far as that goes.
func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return filepath.Clean(path)
}
