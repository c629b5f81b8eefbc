package shell

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/confine"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// environment is set for every command, on top of the process's own (T7). An editor
// would wait for a person: it fails instead, and so does what has called it (C094).
var environment = []string{"NO_COLOR=1", "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat",
	"EDITOR=false", "VISUAL=false", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false"}

type shellArgs struct {
	Description    string       `json:"description"`
	Command        string       `json:"command"`
	TimeoutMs      toolcall.Int `json:"timeoutMs"`
	Workdir        string       `json:"workdir"`
	Background     bool         `json:"run_in_background"`
	OutliveSession bool         `json:"outlive_session"`
	FilePolicy     string       `json:"file_policy"`
	Justification  string       `json:"justification"`
}

func (a shellArgs) check() error {
	switch {
	case a.OutliveSession && !a.Background:
		return toolcall.Errorf("INVALID_ARGUMENTS", "invalid arguments: outlive_session goes with run_in_background; set both")
	case a.FilePolicy != "" && a.Justification == "":
		return toolcall.Errorf("INVALID_ARGUMENTS", "invalid arguments: file_policy needs a justification, one sentence for the person who decides")
	}
	return nil
}

// shell runs a command. It returns the result's text and how many bytes are not in it.
func (p *Provider) shell(ctx context.Context, call tool.Call, args shellArgs, progress func(string)) (text string, lost int64, err error) {
	if err := args.check(); err != nil {
		return "", 0, err
	}
	c, bounds, err := p.command(call, args)
	if err != nil {
		return "", 0, err
	}
	b := p.board(call.Session)
	if args.Background {
		text, err = b.start(ctx, c, args, bounds)
		return text, 0, err
	}
	running, err := c.start()
	if err != nil {
		return "", 0, p.cannotStart(args, err)
	}
	limit := p.timeout(args)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	why := running.watch(ctx, timer.C, progress)
	var refused error
	if why == timedOut && b != nil {
		if text, lost, refused = b.adopt(ctx, running, args, bounds, limit); refused == nil {
			return text, lost, nil
		}
	}
	out := running.finish(why)
	defer out.drop()
	if why == aborted {
		return "", 0, ctx.Err()
	}
	text, lost = out.text(limit, refused, bounds.note(out, args))
	return text, lost, nil
}

func (p *Provider) timeout(args shellArgs) time.Duration {
	if args.TimeoutMs <= 0 {
		return p.config.Timeout
	}
	return time.Duration(min(int64(args.TimeoutMs), p.config.MaxTimeout.Milliseconds())) * time.Millisecond
}

// command makes the command that a call asks for, within what binds the call.
func (p *Provider) command(call tool.Call, args shellArgs) (command, bound, error) {
	if args.Workdir == "" {
		args.Workdir = "."
	}
	dir, err := p.Resolve(call.Session, args.Workdir)
	if err == nil {
		err = isDir(dir)
	}
	if err != nil {
		return command{}, bound{}, toolcall.Cannot("run in", args.Workdir, err)
	}
	c := command{
		argv: []string{p.program, "-c", args.Command},
		dir:  dir,
		env:  append(append(inherited(), environment...), "PWD="+dir),
		keep: p.config.MaxOutputBytes,
	}
	if call.Confinement.Free() {
		return c, bound{}, nil
	}
	b := bound{final: p.isNested(call.Session)}
	root, _ := p.Root(call.Session)
	if b.Bounds = confine.For(call.Confinement, root, ""); b.Files == session.FilesReadOnly {
		if private, ok := p.private.place(); ok {
			b.Bounds = b.Lend(private)
			c.env = append(c.env, "TMPDIR="+private.Path)
		}
	}
	c.argv, b.enforced = confine.Command(b.Bounds, c.argv)
	return c, b, nil
}

func (p *Provider) cannotStart(args shellArgs, err error) error {
	if errors.Is(err, syscall.E2BIG) {
		return toolcall.Errorf("START_FAILED", "cannot start %s: the command has %d bytes, more than the system takes; put the text into a file with write first", p.program, len(args.Command))
	}
	return toolcall.Errorf("START_FAILED", "cannot start %s: %v", p.program, err)
}

func isDir(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		return toolcall.Errorf("NOT_A_DIRECTORY", "not a directory")
	}
	return err
}
