package shell

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// drain is how long output is waited for once the command has ended: a
	// process in the background may hold the pipe open for ever.
	drain = 250 * time.Millisecond
	// settle is how long the last processes of a group may take to vanish.
	settle = 50 * time.Millisecond
	// progressEvery and progressBytes say how often the newest output is reported
	// and how much of it.
	progressEvery = time.Second
	progressBytes = 2000
)

// command is one run of the shell.
type command struct {
	argv []string
	dir  string
	env  []string
	keep int64 // bytes kept of each stream, or of a job
	job  bool
	// file, where not nil, takes the output, and the command outlives this process.
	file *os.File
}

// ending is why a command is not waited for any more.
type ending int

const (
	exited ending = iota
	timedOut
	aborted // the context was done before the command
)

// outcome is what a run came to. state is nil where even SIGKILL did not end it.
type outcome struct {
	*output
	state     *os.ProcessState
	ending    ending
	leftovers bool // processes in the background had to be stopped
}

// process is a started command with its process group and its output.
type process struct {
	cmd     *exec.Cmd
	group   group
	out     *output
	release func()        // from the guardian
	exited  chan struct{} // closed once the shell has ended
	drained chan struct{} // closed once both streams have ended
	readers []*os.File
}

// startJob is start for a job. Its output goes to a file, unless that is nil.
func (c command) startJob(file *os.File) (*process, error) {
	c.job, c.file = true, file
	return c.start()
}

// start starts the command in a process group of its own. The group dies with this
// process, unless it is to outlive it.
func (c command) start() (*process, error) {
	p := &process{
		cmd:     exec.Command(c.argv[0], c.argv[1:]...),
		out:     newOutput(c.keep, c.job),
		release: func() {},
		exited:  make(chan struct{}),
		drained: make(chan struct{}),
	}
	p.cmd.Dir, p.cmd.Env = c.dir, c.env
	stray.begin()
	if c.file != nil {
		p.cmd.Env = append(slices.Clip(c.env), outlivesMark+"=1")
		p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = c.file, c.file, detached()
		close(p.drained)
		if err := p.launch(true); err != nil {
			stray.end()
			return nil, err
		}
		p.group = group(p.cmd.Process.Pid)
		return p, nil
	}
	guard.once.Do(guard.start)
	p.cmd.SysProcAttr, p.cmd.Env = ownGroup(), append(slices.Clip(c.env), guard.mark)
	if err := p.launchPiped(); err != nil {
		stray.end()
		return nil, err
	}
	p.group = group(p.cmd.Process.Pid)
	unwatch := guard.watch(p.group)
	p.release = func() { unwatch(); stray.end() }
	return p, nil
}

// launchPiped starts the command and reads what it prints.
func (p *process) launchPiped() error {
	outR, outW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer outW.Close()
	errR, errW, err := os.Pipe()
	if err != nil {
		outR.Close()
		return err
	}
	defer errW.Close()
	p.readers = []*os.File{outR, errR}
	p.cmd.Stdout, p.cmd.Stderr = outW, errW
	if err := p.launch(false); err != nil {
		p.closeReaders()
		return err
	}
	var streams sync.WaitGroup
	streams.Go(func() { p.out.copyFrom(outR, p.out.stdout) })
	streams.Go(func() { p.out.copyFrom(errR, p.out.stderr) })
	go func() {
		streams.Wait()
		close(p.drained)
	}()
	return nil
}

// launch starts the command and reaps it. The thread that starts it stays until
// it has ended, because the death signal is bound to that thread.
func (p *process) launch(outlives bool) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := stray.start(p.cmd, outlives)
		started <- err
		if err == nil {
			p.cmd.Wait()
			stray.waited(p.cmd.Process.Pid)
			close(p.exited)
		}
	}()
	return <-started
}

// watch waits until the shell has ended or has to be stopped, and says which.
// progress and timeout may be nil.
func (p *process) watch(ctx context.Context, timeout <-chan time.Time, progress func(string)) ending {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	reported := int64(0)
	for {
		select {
		case <-p.exited:
			return exited
		case <-timeout:
			return timedOut
		case <-ctx.Done():
			return aborted
		case <-tick.C:
			stray.report()
			if size := p.out.both.size(); size > reported && progress != nil {
				reported = size
				progress(p.out.both.last(progressBytes))
			}
		}
	}
}

// finish stops a command that has not exited, collects the last output, stops what
// is left of the group and lets go of the pipes. It returns when the group is gone.
// Processes that left it are strays.
func (p *process) finish(why ending) *outcome {
	out := &outcome{output: p.out, ending: why}
	if why != exited {
		p.group.terminate()
	}
	if within(p.exited, grace) {
		out.state = p.cmd.ProcessState
	}
	within(p.drained, drain)
	if !p.group.goneWithin(settle) {
		out.leftovers = out.state != nil && why == exited
		p.group.terminate()
		within(p.drained, drain)
	}
	for _, r := range p.readers {
		_ = r.SetReadDeadline(time.Unix(1, 0))
	}
	<-p.drained
	p.closeReaders()
	p.release()
	return out
}

func (p *process) closeReaders() {
	for _, r := range p.readers {
		r.Close()
	}
}

func within(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
