package shell

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// ownGroup puts a command into a session of its own, and so into a group of its
// own and away from any terminal. The shell dies with this process, whatever
// ends it.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// detached puts a command into a session of its own that goes on without this process.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// alive tells whether a process of the group still runs. Zombies do not count:
// where the first process of a container does not reap, they stay for ever.
func (g group) alive() bool {
	if g.signal(0) != nil {
		return false
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return true
	}
	want := []byte(strconv.Itoa(int(g)))
	for _, path := range stats {
		stat, err := os.ReadFile(path) // pid (name) state ppid pgrp …
		if err != nil {
			continue
		}
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 2 && bytes.Equal(fields[2], want) && fields[0][0] != 'Z' && fields[0][0] != 'X' {
			return true
		}
	}
	return false
}
