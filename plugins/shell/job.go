package shell

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"
)

// readable is where the output of a job is read.
type readable interface {
	from(at int64, limit int, ended bool) part
	last(n int) string
}

// job is a command in the background (T9).
type job struct {
	id      string
	args    shellArgs
	bounds  bound
	started time.Time
	file    *os.File // of one that outlives the session
	process *process
	printed readable
	cancel  context.CancelFunc
	ctx     context.Context
	ended   chan struct{} // closed once state is final

	mu       sync.Mutex
	read     int64 // how far the model has read
	state    *os.ProcessState
	over     time.Time // when it ended, zero while it runs
	killed   bool      // by job_kill
	closed   bool      // stopped, because the session ended
	known    bool      // the model has seen how it ended
	waiting  int       // calls of job_output that wait for its end
	settling bool      // its end is being told
	settled  bool      // what there was to tell is told
}

// outlives tells whether the job goes on when the session ends.
func (j *job) outlives() bool { return j.file != nil }

// drop lets go of what the job has printed.
func (j *job) drop() {
	if j.outlives() {
		j.file.Close()
	} else if j.process != nil {
		j.process.out.drop()
	}
}

// run waits for the end of the job's process, or ends it. It tells whether the job
// has come to its end; otherwise it was let go with the session.
func (j *job) run(b *board) bool {
	why := j.process.watch(j.ctx, nil, nil)
	j.mu.Lock()
	letGo := why == aborted && !j.killed
	j.closed = letGo && !j.outlives()
	j.mu.Unlock()
	if letGo && j.outlives() {
		return false
	}
	if letGo {
		b.noteClosed(j)
	}
	var state *os.ProcessState
	if j.outlives() && why == exited {
		state = j.process.cmd.ProcessState // what it has started goes on
	} else {
		state = j.process.finish(why).state
	}
	j.mu.Lock()
	j.state, j.over = state, time.Now()
	j.mu.Unlock()
	close(j.ended)
	return !letGo
}

// running tells whether the job has not ended yet.
func (j *job) running() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.over.IsZero()
}

// status is the job's state in a few words.
func (j *job) status() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.over.IsZero():
		return "running"
	case j.closed:
		return statusClosed
	case j.killed:
		return "stopped by job_kill"
	}
	return statusText(j.state)
}

// exitCode is nil where the job did not exit by itself.
func (j *job) exitCode() *int {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state == nil {
		return nil
	}
	if status, ok := j.state.Sys().(syscall.WaitStatus); !ok || !status.Exited() {
		return nil
	}
	code := j.state.ExitCode()
	return &code
}

// note is bound.note for the whole of the job.
func (j *job) note() string {
	j.mu.Lock()
	runs, failed := j.over.IsZero(), j.state == nil || !j.state.Success()
	j.mu.Unlock()
	switch {
	case runs:
		return ""
	case failed:
		return j.bounds.denied(j.printed.last(progressBytes), j.args)
	case j.outlives(): // which stream it was is not known
		return ""
	}
	return j.bounds.denied(j.process.out.stderr.last(progressBytes), j.args)
}
