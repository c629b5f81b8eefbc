package files_test

import (
	"os"
	"strings"
	"testing"
)

// A kill while a file is written leaves nothing half done in the user's directory:
// what is written has no name before it is whole.
func TestT11_WhatIsNotWholeHasNoName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	content := strings.Repeat("0123456789abcde\n", 1<<20) // 16 MiB
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.ok("write", args{"file_path": "big.txt", "content": content})
	}()
	for {
		entries, err := os.ReadDir(b.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if info, err := e.Info(); err == nil && info.Size() < int64(len(content)) {
				t.Fatalf("%s has %d bytes of %d", e.Name(), info.Size(), len(content))
			}
		}
		select {
		case <-done:
			return
		default:
		}
	}
}
