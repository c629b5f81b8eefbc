package shell

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// keepEnded is how many jobs are kept after their end (T9).
const keepEnded = 20

// board holds the jobs of one session.
type board struct {
	p       *Provider
	session string
	access  session.Access
	ready   chan struct{} // closed once earlier jobs are known
	open    context.Context
	shut    context.CancelFunc

	mu      sync.Mutex
	next    int    // number of the next job
	jobs    []*job // oldest first
	past    []record
	over    []string       // ids of jobs that are forgotten and still have a record
	waiting sync.WaitGroup // for jobs to end
	patience

	telling sync.Mutex // guards what follows
	untold
}

func newBoard(p *Provider, id string) *board {
	b := &board{p: p, session: id, access: p.host.Session(id), ready: make(chan struct{}), next: 1}
	b.since = time.Now()
	b.open, b.shut = context.WithCancel(p.stopping)
	return b
}

// close ends the jobs that do not outlive the session, and returns when they are gone.
func (b *board) close() {
	b.shut()
	b.waiting.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.process != nil {
			j.process.out.drop()
		}
	}
}

// start starts a command as a job.
func (b *board) start(ctx context.Context, c command, args shellArgs, bounds bound) (string, error) {
	if b == nil {
		return "", toolcall.Errorf("NO_JOBS", "there are no background jobs here; run the command without run_in_background")
	}
	j, err := b.enter(ctx, args, bounds)
	if err != nil {
		return "", err
	}
	p, err := c.startJob(j.file)
	if err != nil {
		b.leave(j)
		return "", b.p.cannotStart(args, err)
	}
	j.printed = p.out.readable(j.file)
	b.launch(j, p)
	lines := []string{"started background job " + j.id}
	if j.outlives() {
		lines = append(lines, fmt.Sprintf("It goes on when the session ends: process %d, output in %s.", p.cmd.Process.Pid, j.file.Name()))
	}
	return strings.Join(append(lines, "You will be told when it ends. Read its output with job_output, stop it with job_kill."), "\n"), nil
}

// adopt makes a job of a command whose time is over.
func (b *board) adopt(ctx context.Context, p *process, args shellArgs, bounds bound, limit time.Duration) (text string, lost int64, err error) {
	args.OutliveSession = false
	j, err := b.enter(ctx, args, bounds)
	if err != nil {
		return "", 0, err
	}
	lines, lost, from := p.out.becomeJob(b.p.config.MaxOutputBytes)
	j.read, j.printed = from, p.out.both
	b.launch(j, p)
	lines = append(lines, fmt.Sprintf("[still running after %dms; moved to background job %s]", limit.Milliseconds(), j.id),
		"The command goes on, and you will be told when it ends. Read newer output with job_output, stop it with job_kill.")
	return strings.Join(lines, "\n"), lost, nil
}

// enter makes a job, which is in the log before its process is there.
func (b *board) enter(ctx context.Context, args shellArgs, bounds bound) (*job, error) {
	select {
	case <-b.ready:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	j := &job{args: args, bounds: bounds, started: time.Now(), ended: make(chan struct{})}
	j.ctx, j.cancel = context.WithCancel(b.open)
	b.mu.Lock()
	if n := b.count(); n >= b.p.config.MaxJobs {
		b.mu.Unlock()
		return nil, toolcall.Errorf("JOB_LIMIT", "%d background jobs are running, as many as a session may have; stop one with job_kill (job_list shows them), or wait for one with job_output", n)
	}
	j.id = fmt.Sprintf("job-%d", b.next)
	b.next++
	b.jobs = append(b.jobs, j)
	b.since, b.urged = time.Now(), false
	b.forget()
	b.mu.Unlock()
	if args.OutliveSession {
		file, err := os.CreateTemp("", "tureen-"+j.id+"-*.log")
		if err != nil {
			b.remove(j)
			return nil, toolcall.Errorf("START_FAILED", "cannot make a file for the job's output: %v", err)
		}
		j.file = file
	}
	if err := b.put(ctx, j.record()); err != nil {
		b.remove(j)
		return nil, toolcall.Errorf("START_FAILED", "cannot start a background job, because the host does not take note of it: %v", err)
	}
	b.retire(ctx)
	return j, nil
}

// leave takes back a job whose process did not start.
func (b *board) leave(j *job) {
	b.remove(j)
	r := j.record()
	r.Status = "not started"
	_ = b.put(b.open, r)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = append(b.over, j.id)
}

func (b *board) remove(j *job) {
	j.cancel()
	j.drop()
	if j.outlives() {
		os.Remove(j.file.Name())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.jobs = slices.DeleteFunc(b.jobs, func(other *job) bool { return other == j })
}

// launch lets the job run.
func (b *board) launch(j *job, p *process) {
	b.mu.Lock()
	j.process = p
	b.mu.Unlock()
	b.waiting.Add(1)
	b.p.running.Go(func() {
		defer b.waiting.Done()
		defer j.cancel()
		if j.run(b) {
			b.stir()
			b.settle(j)
		}
	})
}

// count is how many jobs run. The caller holds mu.
func (b *board) count() int {
	n := 0
	for _, j := range b.jobs {
		if j.running() {
			n++
		}
	}
	return n
}

// forget drops the jobs that ended longest ago. The caller holds mu.
func (b *board) forget() {
	ended := len(b.jobs) - b.count()
	b.jobs = slices.DeleteFunc(b.jobs, func(j *job) bool {
		if ended <= keepEnded || j.running() || !j.isSettled() {
			return false
		}
		ended--
		if j.outlives() {
			j.file.Close()
		}
		b.over = append(b.over, j.id)
		return true
	})
}

// find returns a job by its id.
func (b *board) find(id string) (*job, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range b.jobs {
		if j.id == id && j.process != nil {
			return j, nil
		}
	}
	for _, r := range b.past {
		switch {
		case r.ID != id:
		case r.Status == statusElsewhere:
			return nil, toolcall.Errorf("JOB_ELSEWHERE", "job %s belongs to the session that this one was branched from, and nothing is known of it here%s", id, r.where())
		default:
			return nil, toolcall.Errorf("JOB_GONE", "job %s belonged to an earlier process of the plugin, and its output is gone with it [status: %s]%s", id, r.Status, r.where())
		}
	}
	return nil, toolcall.Errorf("UNKNOWN_JOB", "there is no background job %q; job_list shows those there are", id)
}
