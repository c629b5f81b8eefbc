package confine

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// givenUp are the rights of root that reach around a file policy: into other
// processes and their environments, into devices, the kernel and the network's
// settings, and to files by handle. What package tools need inside of a workspace
// stays: owners, modes, users and signals.
var givenUp = []uintptr{
	unix.CAP_SYS_PTRACE, unix.CAP_PERFMON, unix.CAP_SYS_ADMIN, unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO, unix.CAP_BPF,
	unix.CAP_MKNOD, unix.CAP_SYS_BOOT, unix.CAP_NET_ADMIN, unix.CAP_NET_RAW, unix.CAP_DAC_READ_SEARCH,
}

// giveUp takes these rights from this thread, which is to become the command, and from
// whatever that starts: a new program gets no right that its thread has not got.
func giveUp() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData // the low and the high half of each
	if err := unix.Capget(&header, &sets[0]); err != nil {
		return fmt.Errorf("read the capabilities: %w", err)
	}
	before := sets
	for _, c := range givenUp {
		if err := lower(c); err != nil {
			return fmt.Errorf("give up capability %d: %w", c, err)
		}
		set, bit := &sets[c/32], uint32(1)<<(c%32)
		set.Effective &^= bit
		set.Permitted &^= bit
		set.Inheritable &^= bit
	}
	if sets == before {
		return nil
	}
	if err := unix.Capset(&header, &sets[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	return nil
}

// lower takes a capability from the ambient and the bounding set. Not every process
// may do the latter, nor does every kernel know every capability: what the permitted
// set lacks cannot come back from there either, with no new privileges.
func lower(c uintptr) error {
	err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_LOWER, c, 0, 0)
	if err == nil || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		err = unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
	}
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		return nil
	}
	return err
}
