// Package cli is the command line: one file a verb. A verb reads its arguments,
// has the host do the work and prints; what it may end with is in exit.go.
package cli
