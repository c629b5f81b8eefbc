package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// openNew makes a file that has no name until name gives it path, so that a kill
// meanwhile leaves nothing behind. Where the file system cannot, it has its name
// at once.
func openNew(path string) (f *os.File, name func() error, err error) {
	const self = "/proc/self/fd"
	_, err = os.Stat(self)
	if err == nil {
		var fd int
		for fd, err = -1, unix.EINTR; errors.Is(err, unix.EINTR); {
			fd, err = unix.Open(filepath.Dir(path), unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o666)
		}
		if err == nil {
			return os.NewFile(uintptr(fd), path), func() error {
				return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("%s/%d", self, fd), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
			}, nil
		}
	}
	return openNamed(path)
}
