package confine_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/internal/confine"
)

// A place is lent as long as it is the one that was opened.
func TestT17_OnlyTheVeryPlaceIsLent(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	path := mkdir(t, c.home, "private")
	t.Cleanup(func() { os.RemoveAll(c.home) })
	dir, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	place, err := confine.PlaceOf(dir, path)
	if err != nil {
		t.Fatal(err)
	}
	try := func() (string, int) {
		argv, _ := confine.Command(confine.For(session.Confinement{Files: session.FilesReadOnly}, c.ws, "").Lend(place), []string{"/bin/sh", "-c", "echo x > " + path + "/f && cat " + path + "/f"})
		cmd := exec.Command(argv[0], argv[1:]...)
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, exit := try(); out != "x\n" || exit != 0 {
		t.Errorf("the place itself: exit %d: %s", exit, out)
	}
	for _, replace := range []func() error{
		func() error { return os.Symlink(c.out, path) },
		func() error { return os.Mkdir(path, 0o700) },
	} {
		_ = os.Rename(path, c.ws+"/aside")
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := replace(); err != nil {
			t.Fatal(err)
		}
		if out, exit := try(); exit != 126 || !strings.Contains(out, "was moved or replaced") {
			t.Errorf("another: exit %d: %s", exit, out)
		}
		if _, err := confine.PlaceOf(dir, path); err == nil {
			t.Error("another is named as the place")
		}
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(c.out + "/f"); err == nil {
		t.Error("something was written outside")
	}
}
