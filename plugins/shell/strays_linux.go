package shell

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sweepRounds bounds a sweep: each stray that is stopped may leave others.
const sweepRounds = 100

// adopt has the kernel give this process the descendants that lose their parent.
func adopt() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// sweep reaps strays, and stops those that go on where it is to. The caller holds mu, so
// that no command starts meanwhile.
func (s *strays) sweep(stop bool) {
	for range sweepRounds {
		found := false
		for _, o := range s.adopted() {
			if reaped, _ := unix.Wait4(o.pid, nil, unix.WNOHANG, nil); reaped == o.pid || !stop || s.spared(o) {
				continue
			}
			found = unix.Kill(o.pid, unix.SIGKILL) == nil || found
		}
		if !found {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// adopted are the children of this process that it did not start: each command is
// the leader of a session, so that none of its descendants is in this process's.
func (s *strays) adopted() (orphans []stranger) {
	for _, p := range children() {
		if !s.own[p.pid] {
			orphans = append(orphans, p)
		}
	}
	return orphans
}

// children are this process's own, of other sessions. The kernel lists them by thread,
// where it does; else all processes are looked through.
func children() (found []stranger) {
	session, err := unix.Getsid(0)
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	if len(lists) == 0 || err != nil {
		self := os.Getpid()
		return slices.DeleteFunc(strangers(), func(p stranger) bool { return p.parent != self })
	}
	for _, list := range lists {
		pids, _ := os.ReadFile(list) // a thread that has ended has handed them on
		for _, pid := range strings.Fields(string(pids)) {
			if p, ok := strangerOf("/proc/"+pid+"/stat", session); ok {
				found = append(found, p)
			}
		}
	}
	return found
}

// hidden are the descendants of this process that left the group of their command.
func (s *strays) hidden() (found []stranger) {
	children := map[int][]stranger{}
	for _, p := range strangers() {
		children[p.parent] = append(children[p.parent], p)
	}
	for below := children[os.Getpid()]; len(below) > 0; {
		p := below[0]
		below = append(below[1:], children[p.pid]...)
		delete(children, p.pid) // whatever the table says, this ends
		if !s.own[int(p.group)] {
			found = append(found, p)
		}
	}
	return found
}

// strangers are the processes of other sessions than this one's.
func strangers() (found []stranger) {
	session, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		if p, ok := strangerOf(path, session); ok {
			found = append(found, p)
		}
	}
	return found
}

// strangerOf reads the stat of a process, which has to be of another session.
func strangerOf(path string, session int) (p stranger, ok bool) {
	stat, err := os.ReadFile(path) // pid (name) state ppid pgrp session …
	if err != nil {
		return p, false
	}
	pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if err != nil || len(fields) < 4 || string(fields[3]) == strconv.Itoa(session) {
		return p, false
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	leader, _ := strconv.Atoi(string(fields[2]))
	return stranger{pid, parent, group(leader)}, leader > 1
}

// spared tells whether a stray belongs to a command that was to outlive its session.
// Where there was such a command, one that cannot be told apart is spared too.
func (s *strays) spared(o stranger) bool {
	if s.running == 0 && s.own[int(o.group)] {
		return true
	}
	environ, err := os.ReadFile("/proc/" + strconv.Itoa(o.pid) + "/environ")
	if err != nil {
		return s.outlived
	}
	marked := func(mark string) bool {
		return bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+mark))
	}
	return marked(outlivesMark+"=") || s.outlived && !marked(guard.mark+"\x00")
}
