package shell

import (
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// pipeBytes is what a pipe holds, and pipeReads how often that is taken after the
// deadline: somebody may still be writing.
const (
	pipeBytes = 64 << 10
	pipeReads = 4
)

// output is what a command has printed: each stream, and both as they came. What is
// kept is the streams of a command that a call waits for, and both of a job.
type output struct {
	mu             sync.Mutex // a part of one stream reaches two places in one act
	stdout, stderr *kept
	both           *kept
}

func newOutput(keep int64, job bool) *output {
	if job {
		return &output{stdout: newKept(0), stderr: newKept(0), both: newKept(keep)}
	}
	return &output{stdout: newKept(keep), stderr: newKept(keep), both: newKept(0)}
}

// becomeJob returns what is kept so far and where that begins which job_output reads.
func (o *output) becomeJob(keep int64) (lines []string, lost, from int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines, lost = o.printed()
	o.stdout.stop()
	o.stderr.stop()
	return lines, lost, o.both.begin(keep)
}

// drop lets go of what is kept.
func (o *output) drop() {
	for _, k := range []*kept{o.stdout, o.stderr, o.both} {
		k.stop()
	}
}

// copyFrom reads one stream to its end, or, once its deadline has passed, what was
// printed until then: on a busy machine that may be all of it.
func (o *output) copyFrom(r *os.File, stream *kept) {
	_, err := io.Copy(&joint{o, stream}, r)
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return
	}
	_ = r.SetReadDeadline(time.Time{})
	raw, err := r.SyscallConn()
	if err != nil {
		return
	}
	buffer := make([]byte, pipeBytes)
	_ = raw.Read(func(fd uintptr) bool {
		for range pipeReads {
			n, err := syscall.Read(int(fd), buffer)
			if err != nil || n <= 0 { // EAGAIN: nothing is left
				break
			}
			_, _ = (&joint{o, stream}).Write(buffer[:n])
		}
		return true
	})
}

type joint struct {
	o      *output
	stream *kept
}

func (j *joint) Write(p []byte) (int, error) {
	j.o.mu.Lock()
	defer j.o.mu.Unlock()
	_, _ = j.stream.Write(p)
	return j.o.both.Write(p)
}

// readable is where a job's output is read: in the file where it has one.
func (o *output) readable(file *os.File) readable {
	if file != nil {
		return spool{file}
	}
	return o.both
}

// spool is the output of a job that outlives its session: a file.
type spool struct{ *os.File }

func (s spool) from(at int64, limit int, ended bool) part {
	info, err := s.Stat()
	if err != nil {
		return part{next: at}
	}
	written := max(at, info.Size())
	piece := make([]byte, min(int64(limit), written-at))
	n, _ := s.ReadAt(piece, at)
	return newPart(piece[:n], at, 0, written, ended)
}

func (s spool) last(n int) string {
	info, err := s.Stat()
	if err != nil {
		return ""
	}
	return s.from(max(0, info.Size()-int64(n)), n, true).text
}
