package shell

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tureen-host/tureen/host/hook"
)

// maxNamed is how many jobs are named where a run says what it waits for.
const maxNamed = 5

// idle keeps a run waiting for jobs that will tell of their end (L16).
type idle struct {
	hook.Passive
	p *Provider
}

func (i *idle) Name() string { return Name }

func (i *idle) Points() []hook.Point { return []hook.Point{hook.Idle} }

// OnFailure: a run is not worth less because nobody knows of its jobs.
func (i *idle) OnFailure() string { return "continue" }

func (i *idle) Idle(ctx context.Context, at hook.Where) (hook.IdleDecision, error) {
	b := i.p.board(at.Session)
	if b == nil {
		return hook.IdleDecision{}, nil
	}
	select { // rather than let the run wait for the next time it asks
	case <-b.ready:
	case <-time.After(2 * recallPause):
	case <-ctx.Done():
	}
	return hook.IdleDecision{Wait: b.wait()}, nil
}

// wait says which jobs the model has yet to hear of, "" for none. A job that outlives
// the session keeps nobody waiting.
func (b *board) wait() string {
	select {
	case <-b.ready:
	default:
		return "a look at earlier background jobs"
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var labels []string
	for _, j := range b.jobs {
		if j.process != nil && !j.isSettled() && !(j.outlives() && j.running()) {
			labels = append(labels, j.label())
		}
	}
	n := len(labels)
	switch {
	case n == 0:
		return ""
	case n == 1:
		return "1 background job (" + labels[0] + ")"
	case n > maxNamed:
		labels = append(labels[:maxNamed], "…")
	}
	return fmt.Sprintf("%d background jobs (%s)", n, strings.Join(labels, ", "))
}
