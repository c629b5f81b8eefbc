package files_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestT17_ASwappedDirectoryLeadsNowhere: while files are written, a directory of the
// workspace becomes a symlink to the outside and back, over and over.
func TestT17_ASwappedDirectoryLeadsNowhere(t *testing.T) {
	t.Parallel()
	b, out := walled(t)
	for _, dir := range []string{"d", "d/sub"} {
		if err := os.Mkdir(b.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.link(out, "evil")
	stop, swapped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(swapped)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, b.path("d"), unix.AT_FDCWD, b.path("evil"), unix.RENAME_EXCHANGE)
			}
		}
	}()
	written, refused := 0, 0
	for i := range 600 {
		path := []string{"d/file", "d/new", "d/sub/deep/new"}[i%3]
		b.call("read", args{"file_path": path})
		r := b.within(workspaceWrite, "write", args{"file_path": path, "content": "by the tool\n"})
		if r.IsError {
			refused++
		} else {
			written++
		}
	}
	close(stop)
	<-swapped
	if written == 0 || refused == 0 {
		t.Errorf("%d written, %d refused: nothing was raced", written, refused)
	}
	untouched(t, out)
}
