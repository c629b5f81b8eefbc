//go:build !linux

package shell

import "syscall"

// ownGroup puts a command into a session of its own, and so into a group of its
// own and away from any terminal.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// detached does the same: there is no death signal here.
func detached() *syscall.SysProcAttr { return ownGroup() }

// alive tells whether the group still has a process.
func (g group) alive() bool { return g.signal(0) == nil }
