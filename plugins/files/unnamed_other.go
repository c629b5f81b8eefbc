//go:build !linux

package files

import "os"

func openNew(_ *os.File, dir *os.Root, temp string) (f *os.File, name func() error, err error) {
	return openNamed(dir, temp)
}
