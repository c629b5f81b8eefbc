package cli

import "golang.org/x/sys/unix"

// flushInput drops what a terminal has got and nobody has read.
func flushInput(fd int) {
	const read = 1 // FREAD
	_ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, read)
}
