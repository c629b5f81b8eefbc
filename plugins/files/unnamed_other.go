//go:build !linux

package files

import "os"

func openNew(path string) (f *os.File, name func() error, err error) { return openNamed(path) }
