package shell

import (
	"crypto/rand"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
)

// guardian is a process that outlives this one by a moment: once its stdin ends,
// however this process did, it kills the groups that it was told of and, where
// there is /proc, whatever carries this process's mark in its environment: a
// command that began just before the end is not known by its group yet. Of strays it is
// told within a second or so. The death
// signal reaches a command's shell alone, not what that has started. At last it removes
// the private directory, and follows no symlink that stands in its place.
type guardian struct {
	once sync.Once
	mark string // NAME=value, in the environment of every command
	mu   sync.Mutex
	in   io.Writer // nil where the guardian could not be started
}

// guard is the guardian of all commands of this process.
var guard guardian

const guardScript = `while read -r op group; do
	case $op in
	+) live="$live $group " ;;
	-) live="${live%% $group *} ${live#* $group }" ;;
	d) private=$group ;;
	esac
done
for group in $live; do kill -s KILL -- "-$group"; done
for round in 1 2 3 4 5; do
	found=$(grep -lsz "^$1\$" /proc/[0-9]*/environ)
	[ -n "$found" ] || break
	for file in $found; do
		pid=${file#/proc/}
		kill -s KILL "${pid%/environ}"
	done
done
[ -z "$private" ] || [ -L "$private" ] || rm -rf -- "$private"`

// watch has the guardian, which is started already, mind a group until release is called.
func (g *guardian) watch(group group) (release func()) {
	g.tell("+", group)
	return func() { g.tell("-", group) }
}

// start starts the guardian, out of reach of what is sent to this process's group.
func (g *guardian) start() {
	g.mark = "TUREEN_SHELL=" + rand.Text()
	cmd := exec.Command("/bin/sh", "-c", guardScript, "guardian", g.mark)
	cmd.Dir, cmd.Env = "/", []string{"LC_ALL=C"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := cmd.StdinPipe()
	if err != nil || stray.start(cmd, false) != nil {
		return // commands run all the same
	}
	g.in = in
	go func() {
		_ = cmd.Wait()
		stray.waited(cmd.Process.Pid)
	}()
}

func (g *guardian) tell(op string, what any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.in != nil {
		fmt.Fprintf(g.in, "%s %v\n", op, what)
	}
}
