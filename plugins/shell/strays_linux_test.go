package shell_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

func strays(t *testing.T, how string) (*bench, *exec.Cmd) {
	t.Helper()
	b := setup(t, `{}`)
	plugin := exec.Command("/proc/self/exe")
	plugin.Env = append(os.Environ(), "SHELL_TEST_RUN_IN="+b.dir, "SHELL_TEST_STRAYS="+how)
	plugin.Stderr = os.Stderr
	if err := plugin.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		plugin.Process.Kill()
		plugin.Wait()
	})
	return b, plugin
}

// awaitFile waits until a file holds something.
func (b *bench) awaitFile(name string) {
	b.t.Helper()
	c := crew{bench: *b}
	c.until(name+" is there", func() bool {
		data, _ := os.ReadFile(filepath.Join(b.dir, name))
		return len(data) > 0
	})
}

// running tells whether a process is there and is no zombie.
func running(pid int) bool { return syscall.Kill(pid, 0) == nil }

// TestT9_NothingHidesFromTheEndOfACommand: neither in a session of its own nor with an
// empty environment; what outlives the session does so wherever it has gone.
func TestT9_NothingHidesFromTheEndOfACommand(t *testing.T) {
	t.Parallel()
	b, _ := strays(t, "yes")
	b.awaitFile("after1")
	for _, name := range []string{"stray1", "stray2"} {
		if pid := b.pids(name, 1)[0]; running(pid) {
			t.Errorf("%s, process %d, goes on", name, pid)
			syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	b.awaitFile("closed")
	var kept int
	var output string
	data, err := os.ReadFile(filepath.Join(b.dir, "kept"))
	if err == nil {
		_, err = fmt.Sscan(string(data), &kept, &output)
	}
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	t.Cleanup(func() { os.Remove(output) })
	if err := syscall.Kill(kept, syscall.SIGKILL); err != nil {
		t.Errorf("process %d, which was to outlive the session: %v", kept, err)
	}
	if pid := b.pids("stray4", 1)[0]; running(pid) {
		t.Errorf("process %d goes on", pid)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestT9_NothingHidesFromAKill: what the plugin has seen of it, its guardian ends.
func TestT9_NothingHidesFromAKill(t *testing.T) {
	t.Parallel()
	b, plugin := strays(t, "killed")
	pid := b.pids("stray3", 1)[0]
	b.awaitFile("told")
	if !running(pid) {
		t.Fatal("the process is gone before the plugin is killed")
	}
	if err := plugin.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	plugin.Wait()
	b.gone(pid)
}
