package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// environment is set for every command, on top of the process's own (T7).
var environment = []string{"NO_COLOR=1", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat"}

type shellArgs struct {
	Description string       `json:"description"`
	Command     string       `json:"command"`
	TimeoutMs   toolcall.Int `json:"timeoutMs"`
	Workdir     string       `json:"workdir"`
}

func (p *Provider) shell(ctx context.Context, call tool.Call, args shellArgs, progress func(string)) (string, error) {
	if args.Workdir == "" {
		args.Workdir = "."
	}
	dir, err := p.Resolve(call.Session, args.Workdir)
	if err == nil {
		err = isDir(dir)
	}
	if err != nil {
		return "", toolcall.Cannot("run in", args.Workdir, err)
	}
	c := command{
		argv:    []string{p.program, "-c", args.Command},
		dir:     dir,
		env:     append(append(os.Environ(), environment...), "PWD="+dir),
		timeout: p.config.Timeout,
		keep:    p.config.MaxOutputBytes,
	}
	if args.TimeoutMs > 0 {
		most := p.config.MaxTimeout.Milliseconds()
		c.timeout = time.Duration(min(int64(args.TimeoutMs), most)) * time.Millisecond
	}
	out, err := c.run(ctx, progress)
	switch {
	case errors.Is(err, syscall.E2BIG):
		return "", toolcall.Errorf("START_FAILED", "cannot start %s: the command has %d bytes, more than the system takes; put the text into a file with write first", p.program, len(args.Command))
	case err != nil && ctx.Err() == nil:
		return "", toolcall.Errorf("START_FAILED", "cannot start %s: %v", p.program, err)
	case err != nil:
		return "", err
	}
	return out.text(c.timeout), nil
}

func isDir(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return toolcall.Errorf("NOT_A_DIRECTORY", "not a directory")
	}
	return err
}

// text is the result as the model sees it: the output, then in brackets what
// else there is to know (T7). A clean end adds nothing.
func (o *outcome) text(timeout time.Duration) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	stdout, lostOut := o.stdout.end()
	stderr, lostErr := o.stderr.end()
	if stdout != "" {
		add("%s", stdout)
	}
	if stderr != "" {
		add("[stderr]\n%s", stderr)
	}
	if len(parts) == 0 {
		add("(no output)")
	}
	if lostOut > 0 {
		add("[output truncated; first %d bytes dropped]", lostOut)
	}
	if lostErr > 0 {
		add("[stderr truncated; first %d bytes dropped]", lostErr)
	}
	if o.timedOut {
		add("[timed out after %dms]", timeout.Milliseconds())
	}
	if o.leftovers {
		add("[processes left in the background were stopped]")
	}
	switch status, ok := o.status(); {
	case !ok:
		add("[the command did not end after SIGKILL]")
	case status.Signaled():
		add("[killed by signal: %s]", unix.SignalName(status.Signal()))
	case status.ExitStatus() != 0:
		add("[exit code: %d]", status.ExitStatus())
	}
	return strings.Join(parts, "\n")
}

func (o *outcome) status() (syscall.WaitStatus, bool) {
	if o.state == nil {
		return 0, false
	}
	status, ok := o.state.Sys().(syscall.WaitStatus)
	return status, ok
}
