package measure

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
)

const prompt = "Go on until you are done."

// stepFigures takes the figures of runs of the same kind by their number of steps.
func (b *Bench) stepFigures(r Round, name string, runs map[int]*lab.Run) {
	for n, run := range runs {
		steps := millis(run.Steps())
		at := fmt.Sprintf("%s.%d", name, n)
		r[at+".p50"], r[at+".p99"] = quantile(steps, 0.5), quantile(steps, 0.99)
		if n == b.Plan.Usual() {
			r[name+".p50"], r[name+".p99"], r[name+".first"] = r[at+".p50"], r[at+".p99"], ms(run.First())
		}
		if n == b.Plan.Long() {
			r[name+".growth"] = growth(steps)
		}
	}
	few, usual := b.Plan.Steps[0], b.Plan.Usual()
	if runs[few] != nil && runs[usual] != nil {
		r[name+".cpu"] = ms(runs[usual].CPU-runs[few].CPU) / float64(usual-few)
	}
}

// tureenRun runs a new session of n calls in a sandbox. watch, if not nil, looks
// around while a request waits for its answer.
func (b *Bench) tureenRun(ctx context.Context, box *lab.Sandbox, n int, call endpoint.Call, watch func(request, pid int) error) (*lab.Run, lab.Result, error) {
	profile, err := box.Profile(lab.Profile{Strategy: "notesoup", Window: wide})
	if err != nil {
		return nil, lab.Result{}, err
	}
	subject := box.Tureen("run", "-P", profile, "-o", "json", prompt)
	script := endpoint.Calls(n, call)
	if watch != nil {
		script = endpoint.Watched(script, func(x endpoint.Exchange) error { return watch(x.Ordinal, subject.Pid()) })
	}
	run, err := subject.Run(ctx, script)
	if err != nil {
		return nil, lab.Result{}, err
	}
	result, err := run.Result()
	if err == nil && result.Steps != n+1 {
		err = fmt.Errorf("%d steps were taken for %d calls", result.Steps, n)
	}
	return run, result, err
}

// readSteps measures read steps, memory, commits, bytes on disk and the prefix.
func (b *Bench) readSteps(ctx context.Context, r Round) error {
	runs, size := map[int]*lab.Run{}, map[int]int64{}
	few, usual := b.Plan.Steps[0], b.Plan.Usual()
	half, full := 0, 0 // commits
	for _, n := range b.Plan.Steps {
		err := b.inSandbox(func(box *lab.Sandbox) error {
			file, err := box.File("small.txt", smallFile)
			if err != nil {
				return err
			}
			runs[n], _, err = b.tureenRun(ctx, box, n, readCall(file), func(request, pid int) (err error) {
				switch {
				case n == few && request == few/2:
					half, err = box.Commits()
				case n == few && request == few:
					full, err = box.Commits()
				case n == usual && request == usual:
					err = memory(r, "tureen.memory", pid)
				}
				return err
			})
			if err != nil {
				return err
			}
			info, err := os.Stat(box.Session())
			if err == nil {
				size[n] = info.Size()
			}
			return err
		})
		if err != nil {
			return err
		}
		b.prefix(r, runs[n])
	}
	b.stepFigures(r, "tureen.read", runs)
	r["tureen.disk"] = float64(size[usual]-size[few]) / float64(usual-few)
	r["tureen.commits"] = float64(full-half) / float64(few-few/2)
	return nil
}

// prefix counts the requests that did not repeat the one before them. No run that
// is counted here compacts.
func (b *Bench) prefix(r Round, run *lab.Run) {
	r["tureen.prefix.breaks"] += 0
	for _, x := range run.Tape[1:] {
		r["tureen.prefix.requests"]++
		if !x.Continues {
			r["tureen.prefix.breaks"]++
		}
	}
}

// memory takes the proportional set sizes of host and plugins. Only Linux tells
// them.
func memory(r Round, name string, pid int) error {
	if runtime.GOOS != "linux" {
		return nil
	}
	tree, err := lab.Tree(pid)
	if err != nil {
		return err
	}
	r[name+".plugin"] = 0
	for _, p := range tree {
		if p.PID == pid {
			r[name+".host"] = float64(p.PSS)
			continue
		}
		r[name+".plugin."+p.Plugin] = float64(p.PSS)
		r[name+".plugin"] = max(r[name+".plugin"], float64(p.PSS))
	}
	return nil
}

// shellSteps measures shell steps.
func (b *Bench) shellSteps(ctx context.Context, r Round) error {
	runs := map[int]*lab.Run{}
	for _, n := range b.Plan.Steps {
		err := b.inSandbox(func(box *lab.Sandbox) (err error) {
			runs[n], _, err = b.tureenRun(ctx, box, n, shellCall, nil)
			return err
		})
		if err != nil {
			return err
		}
		b.prefix(r, runs[n])
	}
	b.stepFigures(r, "tureen.shell", runs)
	return nil
}

// resume measures the way to the first request of a session that has its steps
// behind it, and by turns that of a new one.
func (b *Bench) resume(ctx context.Context, r Round) error {
	return b.inSandbox(func(box *lab.Sandbox) error {
		file, err := box.File("small.txt", smallFile)
		if err != nil {
			return err
		}
		_, result, err := b.tureenRun(ctx, box, b.Plan.Usual(), readCall(file), nil)
		if err != nil {
			return err
		}
		var starts, resumes []float64
		for range b.Plan.Starts {
			if err := b.inSandbox(func(fresh *lab.Sandbox) error {
				run, _, err := b.tureenRun(ctx, fresh, 0, endpoint.Call{}, nil)
				if err == nil {
					starts = append(starts, ms(run.First()))
				}
				return err
			}); err != nil {
				return err
			}
			run, err := box.Tureen("resume", result.Session, "-o", "json", prompt).Run(ctx, endpoint.Calls(0, endpoint.Call{}))
			if err != nil {
				return err
			}
			if _, err := run.Result(); err != nil {
				return err
			}
			resumes = append(resumes, ms(run.First()))
		}
		r["tureen.start"], r["tureen.resume"] = Median(starts), Median(resumes)
		return nil
	})
}
