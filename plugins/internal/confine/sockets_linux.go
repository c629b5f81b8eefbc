//go:build amd64 || arm64

package confine

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Where the filter finds what it looks at: struct seccomp_data.
const (
	atNumber = 0
	atArch   = 4
	atFamily = 16 // the low half of the first argument
)

// filterSockets lets socket(2) fail with EACCES: for all families but Unix where
// offline, for Unix where noUnix. Pairs are made by another call and stay. Calls of
// another architecture's kind and io_uring, which could go around it, fail too. The
// thread can have no new privileges already.
func filterSockets(offline, noUnix bool) error {
	if !offline && !noUnix {
		return nil
	}
	// The jumps count the instructions to skip, first if true, then if not.
	program := []unix.SockFilter{
		load(atArch),
		jump(unix.BPF_JEQ, nativeArch, 1, 0),
		fail(unix.EPERM),
		load(atNumber),
		jump(unix.BPF_JGE, foreignFrom, 0, 1),
		fail(unix.EPERM),
		jump(unix.BPF_JEQ, unix.SYS_IO_URING_SETUP, 0, 1),
		fail(unix.ENOSYS),
		jump(unix.BPF_JEQ, unix.SYS_SOCKET, 1, 0),
		allow(),
		load(atFamily),
		jump(unix.BPF_JEQ, unix.AF_UNIX, 0, 1),
		verdict(noUnix),
		verdict(offline),
	}
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&fprog)), 0, 0); err != nil {
		return fmt.Errorf("the filter of sockets: %w", err)
	}
	return nil
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func jump(test uint16, value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: value, Jt: yes, Jf: no}
}

func fail(errno unix.Errno) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

func allow() unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW}
}

func verdict(deny bool) unix.SockFilter {
	if deny {
		return fail(unix.EACCES)
	}
	return allow()
}
