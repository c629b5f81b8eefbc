package shell

import (
	"context"
	"io"
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
	argv    []string
	dir     string
	env     []string
	timeout time.Duration
	keep    int // bytes kept of each stream
}

// outcome is what a run came to. state is nil where even SIGKILL did not end it.
type outcome struct {
	stdout, stderr tail
	state          *os.ProcessState
	timedOut       bool
	aborted        bool // ctx was done before the command
	leftovers      bool // processes in the background had to be stopped
}

// process is a started command with its process group and its output.
type process struct {
	cmd     *exec.Cmd
	group   group
	release func()        // from the guardian
	exited  chan struct{} // closed once the shell has ended
	drained chan struct{} // closed once both streams have ended
	readers []*os.File
	recent  tail // newest output of both streams
}

// run starts the command in a process group of its own, and returns when that
// group is gone: at the command's end, after the timeout, or after ctx is done,
// which is ctx's error. It does not wait for processes that left the group.
// progress may be nil.
func (c command) run(ctx context.Context, progress func(string)) (*outcome, error) {
	out := &outcome{stdout: tail{keep: c.keep}, stderr: tail{keep: c.keep}}
	p, err := c.start(out)
	if err != nil {
		return nil, err
	}
	timer := time.NewTimer(c.timeout)
	defer timer.Stop()
	p.watch(ctx, timer.C, progress, out)
	p.finish(out)
	if out.aborted {
		return nil, ctx.Err()
	}
	return out, nil
}

func (c command) start(out *outcome) (*process, error) {
	p := &process{
		cmd:     exec.Command(c.argv[0], c.argv[1:]...),
		exited:  make(chan struct{}),
		drained: make(chan struct{}),
		recent:  tail{keep: progressBytes},
	}
	guard.once.Do(guard.start)
	p.cmd.Dir, p.cmd.SysProcAttr = c.dir, ownGroup()
	p.cmd.Env = append(slices.Clip(c.env), guard.mark)
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	errR, errW, err := os.Pipe()
	if err != nil {
		outR.Close()
		outW.Close()
		return nil, err
	}
	p.readers = []*os.File{outR, errR}
	p.cmd.Stdout, p.cmd.Stderr = outW, errW
	err = p.launch()
	outW.Close()
	errW.Close()
	if err != nil {
		p.closeReaders()
		return nil, err
	}
	p.group = group(p.cmd.Process.Pid)
	p.release = guard.watch(p.group)
	var streams sync.WaitGroup
	streams.Go(func() { io.Copy(io.MultiWriter(&out.stdout, &p.recent), outR) })
	streams.Go(func() { io.Copy(io.MultiWriter(&out.stderr, &p.recent), errR) })
	go func() {
		streams.Wait()
		close(p.drained)
	}()
	return p, nil
}

// launch starts the command and reaps it. The thread that starts it stays until
// it has ended, because the death signal is bound to that thread.
func (p *process) launch() error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.cmd.Wait()
			close(p.exited)
		}
	}()
	return <-started
}

// watch waits until the shell has ended or has to be stopped, and stops it.
func (p *process) watch(ctx context.Context, timeout <-chan time.Time, progress func(string), out *outcome) {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	reported := int64(0)
	for {
		select {
		case <-p.exited:
			return
		case <-timeout:
			out.timedOut = true
			p.group.terminate()
			return
		case <-ctx.Done():
			out.aborted = true
			p.group.terminate()
			return
		case <-tick.C:
			if size := p.recent.size(); size > reported && progress != nil {
				reported = size
				text, _ := p.recent.end()
				progress(text)
			}
		}
	}
}

// finish collects the last output, stops what is left of the group and lets go
// of the pipes.
func (p *process) finish(out *outcome) {
	if within(p.exited, grace) {
		out.state = p.cmd.ProcessState
	}
	within(p.drained, drain)
	if !p.group.goneWithin(settle) {
		out.leftovers = out.state != nil && !out.timedOut && !out.aborted
		p.group.terminate()
		within(p.drained, drain)
	}
	p.closeReaders()
	<-p.drained
	p.release()
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
