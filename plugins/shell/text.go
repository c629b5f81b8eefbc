package shell

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/internal/confine"
)

// text is the result as the model sees it: the output, then in brackets what
// else there is to know (T7). A clean end adds nothing. refused says why a command
// whose time was over did not become a job, nil where that was not tried.
func (o *outcome) text(timeout time.Duration, refused error, note string) (text string, lost int64) {
	lines, lost := o.printed()
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if o.ending == timedOut {
		add("[timed out after %dms]", timeout.Milliseconds())
		if refused != nil {
			add("[it could not go on in the background: %v]", refused)
		}
	}
	if o.leftovers {
		add("[processes left in the background were stopped]")
	}
	if o.failed() {
		add("[%s]", statusText(o.state))
	}
	if note != "" {
		add("%s", note)
	}
	return strings.Join(lines, "\n"), lost
}

// printed is what is kept of both streams, and how many bytes are not.
func (o *output) printed() (lines []string, lost int64) {
	stdout, stderr := o.stdout.all(), o.stderr.all()
	if stdout.text != "" {
		lines = append(lines, stdout.text)
	}
	if stderr.text != "" {
		lines = append(lines, "[stderr]", stderr.text)
	}
	if len(lines) == 0 {
		lines = append(lines, "(no output)")
	}
	for _, notice := range []string{stdout.notice("output"), stderr.notice("stderr")} {
		if notice != "" {
			lines = append(lines, notice)
		}
	}
	return lines, stdout.lost + stderr.lost
}

func (o *outcome) failed() bool { return o.state == nil || !o.state.Success() }

// statusText says how a command ended; state is nil where it would not.
func statusText(state *os.ProcessState) string {
	if state == nil {
		return "the command did not end after SIGKILL"
	}
	status, _ := state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		return "killed by signal: " + unix.SignalName(status.Signal())
	}
	return fmt.Sprintf("exit code: %d", status.ExitStatus())
}

// bound is what a command is bound to; enforced tells whether the system sees to it,
// final that nobody can be asked for more, as in a subagent.
type bound struct {
	confine.Bounds
	enforced, final bool
}

// note says that the bounds stood in the way of a command and what to do next, ""
// where nothing looks like it (T17). The last command of a line may have gone well
// all the same: what it printed on stderr tells.
func (b bound) note(o *outcome, args shellArgs) string {
	if !b.enforced {
		return ""
	}
	printed := o.stderr.last(memoryBytes)
	if printed == "" && o.failed() {
		printed = o.both.last(progressBytes)
	}
	return b.denied(printed, args)
}

func (b bound) denied(printed string, args shellArgs) string {
	if !b.enforced {
		return ""
	}
	switch b.Hit(printed) {
	case confine.HitFiles:
		return b.Denied(b.next(session.FilePolicy(args.FilePolicy)))
	case confine.HitSockets:
		return b.DeniedSocket()
	}
	return ""
}

// next is what to do after a denial of a call that asked for a policy, "" for none.
func (b bound) next(asked session.FilePolicy) string {
	wider := b.Wider()
	if b.final || asked == wider || asked == session.FilesFull {
		return confine.NextStop // it cannot be had, or was not given
	}
	return confine.NextRepeat(wider)
}
