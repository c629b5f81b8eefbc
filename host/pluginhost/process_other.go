//go:build unix && !linux

package pluginhost

import (
	"os/exec"
	"syscall"
)

// childAttributes puts the child into a group of its own. There is no death
// signal here: the end of stdin and of Attach tell the child.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func launch(start func() error) error { return start() }

// reapGroup waits for the child's end, then kills what is left of its group.
func reapGroup(cmd *exec.Cmd) {
	_ = cmd.Wait() // what it says is in ProcessState
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
