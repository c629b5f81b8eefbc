package shell

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

const (
	defaultWait = 30 * time.Second
	maxWait     = 10 * time.Minute
)

func jobTools() []tool.Spec {
	return []tool.Spec{{
		Name: "job_output",
		Description: "Show what a background job has printed since it was last looked at, and its status. " +
			"With wait it waits for the job's end first, at most for timeout_ms.",
		Schema:        jobOutputSchema,
		Parallel:      true,
		Timeout:       maxWait + 10*time.Second,
		Guidance:      "You are told when a background job ends: do something else meanwhile, or end your turn, rather than ask for its status again and again.",
		GuidanceOrder: 1101,
	}, {
		Name:        "job_list",
		Description: "List the background jobs of this session, oldest first, with their status.",
		Schema:      jobListSchema,
		Parallel:    true,
	}, {
		Name:        "job_kill",
		Description: "Stop a background job with everything that it has started.",
		Schema:      jobKillSchema,
		Timeout:     grace + 20*time.Second,
	}}
}

type jobOutputArgs struct {
	ID        string       `json:"id"`
	Wait      bool         `json:"wait"`
	TimeoutMs toolcall.Int `json:"timeout_ms"`
}

// output is the tool job_output.
func (b *board) output(ctx context.Context, _ tool.Call, args jobOutputArgs) (text string, lost int64, err error) {
	j, err := b.find(args.ID)
	if err != nil {
		return "", 0, err
	}
	if args.Wait {
		limit := defaultWait
		if args.TimeoutMs > 0 {
			limit = min(maxWait, time.Duration(args.TimeoutMs)*time.Millisecond)
		}
		if err := b.await(ctx, j, limit); err != nil {
			return "", 0, err
		}
	}
	text, lost = b.show(j)
	return text, lost, nil
}

// await waits for a job's end, which is then known by the call that waited.
func (b *board) await(ctx context.Context, j *job, limit time.Duration) error {
	j.mu.Lock()
	j.waiting++
	j.mu.Unlock()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var err error
	select {
	case <-j.ended:
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	}
	j.mu.Lock()
	j.waiting--
	over := !j.over.IsZero()
	if over && err == nil {
		j.known = true
	}
	last := over && j.waiting == 0
	j.mu.Unlock()
	if last {
		b.settle(j)
	}
	return err
}

// show takes what the job has printed since the last time, and how much of that is lost.
func (b *board) show(j *job) (text string, lost int64) {
	ended := !j.running()
	j.mu.Lock()
	p := j.printed.from(j.read, int(b.p.config.MaxOutputBytes), ended)
	j.read = p.next
	j.known = j.known || ended
	j.mu.Unlock()
	if ended && p.left == 0 && !j.outlives() {
		j.drop()
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if p.lost > 0 {
		add("[%d bytes before this were dropped]", p.lost)
	}
	if p.text == "" {
		p.text = "(no new output)"
	}
	lines = append(lines, p.text)
	if p.left >= utf8.UTFMax || ended && p.left > 0 {
		add("[%d more bytes wait; call job_output again]", p.left)
	}
	add("[status: %s]", j.status())
	if note := j.note(); note != "" {
		add("%s", note)
	}
	return strings.Join(lines, "\n"), p.lost
}

type noArgs struct{}

// list is the tool job_list.
func (b *board) list(context.Context, tool.Call, noArgs) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var lines []string
	for _, r := range b.past {
		lines = append(lines, fmt.Sprintf("%s [%s] %s%s", r.ID, r.Status, r.Label, r.where()))
	}
	for _, j := range b.jobs {
		if j.process == nil {
			continue
		}
		line := fmt.Sprintf("%s [%s] %s", j.id, j.status(), j.label())
		if j.outlives() {
			line += "; what it prints is in " + j.file.Name()
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return "(no background jobs)", nil
	}
	return strings.Join(lines, "\n"), nil
}

type jobKillArgs struct {
	ID string `json:"id"`
}

// kill is the tool job_kill.
func (b *board) kill(ctx context.Context, _ tool.Call, args jobKillArgs) (string, error) {
	j, err := b.find(args.ID)
	if err != nil {
		return "", err
	}
	j.mu.Lock()
	before := j.over.IsZero()
	if before {
		j.killed = true
	}
	j.known = true
	j.mu.Unlock()
	if !before {
		return fmt.Sprintf("job %s had ended already [status: %s]", j.id, j.status()), nil
	}
	j.cancel()
	select {
	case <-j.ended:
		return fmt.Sprintf("stopped job %s; what it printed can still be read with job_output", j.id), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
