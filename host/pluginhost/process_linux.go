package pluginhost

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttributes puts the child into a group of its own and has the kernel
// kill it when the launcher's thread ends, which it does with the host.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// The launcher is the one goroutine that starts children. It keeps its thread
// for the life of the host: a death signal comes when the *thread* ends.
var (
	launchOnce sync.Once
	launches   = make(chan func())
)

func launch(start func() error) error {
	launchOnce.Do(func() {
		closeOnExec()
		go func() {
			runtime.LockOSThread()
			for f := range launches {
				f()
			}
		}()
	})
	done := make(chan error, 1)
	launches <- func() { done <- start() }
	return <-done
}

// closeOnExec keeps descriptors that the host itself inherited from its children.
func closeOnExec() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return // no /proc: Go's own descriptors are marked anyway
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// reapGroup waits for the child's end and kills what is left of its group,
// before the child is reaped: until then its number cannot be another's.
func reapGroup(cmd *exec.Cmd) {
	for errors.Is(unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	_ = cmd.Wait() // what it says is in ProcessState
}
