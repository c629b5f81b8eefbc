package confine

import "golang.org/x/sys/unix"

const (
	nativeArch = unix.AUDIT_ARCH_X86_64
	// foreignFrom is where the numbers of the x32 kind begin.
	foreignFrom = 0x40000000
)
