package confine

import "golang.org/x/sys/unix"

const (
	nativeArch  = unix.AUDIT_ARCH_AARCH64
	foreignFrom = 1 << 31 // there are no others
)
