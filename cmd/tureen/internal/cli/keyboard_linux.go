package cli

import "golang.org/x/sys/unix"

// flushInput drops what a terminal has got and nobody has read.
func flushInput(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }
