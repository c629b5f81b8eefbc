package files

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openNew makes a file in dir, which self is open on, that has no name until name
// gives it temp, so that a kill meanwhile leaves nothing behind. Where the file system
// cannot, it has its name at once.
func openNew(self *os.File, dir *os.Root, temp string) (f *os.File, name func() error, err error) {
	const open = "/proc/self/fd"
	_, err = os.Stat(open)
	if err == nil {
		var fd int
		for fd, err = -1, unix.EINTR; errors.Is(err, unix.EINTR); {
			fd, err = unix.Openat(int(self.Fd()), ".", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o666)
		}
		if err == nil {
			return os.NewFile(uintptr(fd), temp), func() error {
				return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("%s/%d", open, fd), int(self.Fd()), temp, unix.AT_SYMLINK_FOLLOW)
			}, nil
		}
	}
	return openNamed(dir, temp)
}
