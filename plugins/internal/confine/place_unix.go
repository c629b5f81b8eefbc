//go:build unix

package confine

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// PlaceOf names an open directory that has that path now.
func PlaceOf(dir *os.File, path string) (Place, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return Place{}, err
	}
	held, err := dir.Stat()
	if err != nil {
		return Place{}, err
	}
	named, err := os.Lstat(path)
	if err != nil {
		return Place{}, err
	}
	stat, ok := held.Sys().(*syscall.Stat_t)
	if !ok || !os.SameFile(held, named) || !filepath.IsAbs(path) {
		return Place{}, fmt.Errorf("%s is not the directory that was opened", path)
	}
	return Place{Path: path, Device: uint64(stat.Dev), Inode: stat.Ino}, nil // Dev has another type elsewhere
}
