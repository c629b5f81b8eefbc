package pluginhost

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/go-plugin/runner"
)

// process is one child, run our way: a stdin pipe whose end tells it that the
// host is gone, a process group of its own, drained outputs, and nothing left
// of the group once the child has ended. It is go-plugin's Runner.
type process struct {
	cmd       *exec.Cmd
	sockets   string // the directory where the child may listen
	out       *stdoutReader
	err       *stderrReader
	stdin     *os.File
	exited    chan struct{} // closed when the child is reaped and its output read
	closeOnce sync.Once

	mu     sync.Mutex
	pid    int  // 0 until it runs
	doomed bool // killed before it ran
	reaped bool // the number may be somebody else's by now
}

var _ runner.Runner = (*process)(nil)

// outputGrace is how long outputs may stay open after the child's end: a
// grandchild in another group may still hold them.
const outputGrace = 200 * time.Millisecond

func newProcess(cmd *exec.Cmd, sockets string, stderr *stderrReader, stdout *stdoutReader) *process {
	return &process{cmd: cmd, sockets: sockets, err: stderr, out: stdout, exited: make(chan struct{})}
}

// Start runs the child. The launcher does it: where the death signal exists it
// follows the thread that started the child.
func (p *process) Start(context.Context) error {
	var files [3]*os.File // our ends: stdin, stdout, stderr
	var childs [3]*os.File
	for i := range files {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(files[:]...)
			closeAll(childs[:]...)
			return fmt.Errorf("no pipe for a plugin's output: %w", err)
		}
		if files[i], childs[i] = r, w; i == 0 {
			files[i], childs[i] = w, r
		}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childs[0], childs[1], childs[2]
	p.cmd.SysProcAttr = childAttributes()
	err := launch(p.cmd.Start)
	closeAll(childs[:]...)
	if err != nil {
		closeAll(files[:]...)
		p.out.end()
		close(p.exited)
		return err
	}
	p.begun(files[0])
	var drains sync.WaitGroup
	drains.Go(func() { p.out.drain(files[1]) })
	drains.Go(func() { p.err.drain(files[2]) })
	go p.reap(&drains, files[1:])
	return nil
}

func (p *process) begun(stdin *os.File) {
	p.mu.Lock()
	p.pid, p.stdin = p.cmd.Process.Pid, stdin
	doomed := p.doomed
	p.mu.Unlock()
	if doomed {
		p.signal(syscall.SIGKILL)
	}
}

func (p *process) reap(drains *sync.WaitGroup, outputs []*os.File) {
	reapGroup(p.cmd)
	p.mu.Lock()
	p.reaped = true
	p.mu.Unlock()
	read := make(chan struct{})
	go func() { drains.Wait(); close(read) }()
	select {
	case <-read:
	case <-time.After(outputGrace):
		closeAll(outputs...)
		_ = p.out.handshake.Close()
		<-read
	}
	closeAll(outputs...)
	p.closeStdin()
	close(p.exited)
}

// closeStdin tells the child that nobody needs it.
func (p *process) closeStdin() {
	p.closeOnce.Do(func() { closeAll(p.stdin) })
}

// signal goes to the whole group.
func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doomed = p.doomed || s == syscall.SIGKILL
	if p.pid != 0 && !p.reaped {
		_ = syscall.Kill(-p.pid, s) // ESRCH: nobody is left
	}
}

// outcome says how the child ended: "exit status 3", "signal: killed".
func (p *process) outcome() string {
	select {
	case <-p.exited:
		if p.cmd.ProcessState != nil {
			return p.cmd.ProcessState.String()
		}
		return "not started"
	default:
		return "still running"
	}
}

func (p *process) Stdout() io.ReadCloser { return p.out.handshake }

// Stderr is empty for go-plugin: the lines are ours to read.
func (p *process) Stderr() io.ReadCloser { return &untilExit{p.exited} }

func (p *process) Name() string { return filepath.Base(p.cmd.Path) }

func (p *process) ID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pid == 0 {
		return ""
	}
	return strconv.Itoa(p.pid)
}

func (p *process) Wait(context.Context) error {
	<-p.exited
	return nil
}

func (p *process) Kill(context.Context) error {
	p.signal(syscall.SIGKILL)
	return nil
}

// Diagnose has nothing to add: start errors are made by explain.
func (p *process) Diagnose(context.Context) string { return "" }

// PluginToHost refuses an address that is not where the child was told to listen.
func (p *process) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" || filepath.Dir(filepath.Clean(address)) != p.sockets {
		return "", "", errForeignAddress
	}
	return network, address, nil
}

func (p *process) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// untilExit is a reader without bytes that ends with the process.
type untilExit struct{ exited chan struct{} }

func (u *untilExit) Read([]byte) (int, error) { <-u.exited; return 0, io.EOF }
func (u *untilExit) Close() error             { return nil }

func closeAll(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
