package confine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// open opens the place, and nothing else that has its path.
func (p Place) open() (fd int, err error) {
	fd, err = unix.Open(p.Path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	var found unix.Stat_t
	if err == nil {
		err = unix.Fstat(fd, &found)
	}
	if err == nil && (found.Dev != p.Device || found.Ino != p.Inode) {
		err = fmt.Errorf("another directory stands in its place")
	}
	if err != nil {
		return -1, fmt.Errorf("%s, where it may write, was moved or replaced: %w", p.Path, err)
	}
	return fd, nil
}
