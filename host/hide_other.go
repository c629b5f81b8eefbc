//go:build !linux

package host

// hideProcess does nothing where the system has no such switch.
func hideProcess() {}
