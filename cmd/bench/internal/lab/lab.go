// Package lab runs the programs under measurement: each in a user of its own,
// against the instant endpoint, and looks at their processes and files.
package lab

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
)

// Lab is what all measurements share. Close removes everything that was made.
type Lab struct {
	Self     string // the bench itself, which holds the floor
	Tureen   string // the binary under measurement, absolute
	Endpoint *endpoint.Server
	dir      string
}

// New makes a lab in the directory for temporary files. The file system there is
// part of what is measured.
func New(tureen string) (*Lab, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program, which holds the floor: %w", err)
	}
	if tureen, err = filepath.Abs(tureen); err == nil {
		_, err = os.Stat(tureen)
	}
	if err != nil {
		return nil, fmt.Errorf("find the program to measure: %w; build it, or name it with -bin", err)
	}
	dir, err := os.MkdirTemp("", "tb-") // short, for the sockets in it
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	server, err := endpoint.Listen()
	if err != nil {
		os.RemoveAll(dir)
		return nil, err
	}
	return &Lab{Self: self, Tureen: tureen, Endpoint: server, dir: dir}, nil
}

// Dir is where the lab keeps its files.
func (l *Lab) Dir() string { return l.dir }

// Close stops the endpoint and removes all files.
func (l *Lab) Close() error {
	_ = l.Endpoint.Close()
	return os.RemoveAll(l.dir)
}
