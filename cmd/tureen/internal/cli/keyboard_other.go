//go:build !linux && !darwin

package cli

// flushInput drops what a terminal has got and nobody has read, where that is known
// how.
func flushInput(int) {}
