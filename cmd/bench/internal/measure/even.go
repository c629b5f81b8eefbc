package measure

import (
	"context"
	"slices"

	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
)

// narrow is a window with its line at 38,400 tokens.
const narrow = 48_000

// even runs a long session whose surface stays within one window, so that early
// and late steps differ in the length of the log alone.
func (b *Bench) even(ctx context.Context, r Round) error {
	return b.inSandbox(func(box *lab.Sandbox) error {
		file, err := box.File("small.txt", smallFile)
		if err != nil {
			return err
		}
		profile, err := box.Profile(lab.Profile{Strategy: "notesoup", Window: narrow})
		if err != nil {
			return err
		}
		subject := box.Tureen("run", "-P", profile, "-o", "json", prompt)
		var host []float64 // memory at the beginning of each window
		script := compacting(readCall(file), max(4, b.Plan.Long()/100), false, func(int, []byte) error {
			at := Round{}
			err := memory(at, "now", subject.Pid())
			host = append(host, at["now.host"])
			return err
		})
		run, err := subject.Run(ctx, script)
		if err != nil {
			return err
		}
		windows := windowsOf(run)
		r["tureen.even.early"], r["tureen.even.late"] = ends(windows[1:], func(w [][]float64) float64 { return Median(slices.Concat(w...)) })
		r["tureen.even.host.early"], r["tureen.even.host.late"] = ends(host[1:], Median)
		r["tureen.even.steps"] = float64(len(run.Tape))
		_, err = run.Result()
		return err
	})
}

// ends takes a figure of the first and of the last quarter of all, of one at least.
func ends[T any](all []T, figure func([]T) float64) (early, late float64) {
	k := max(1, len(all)/4)
	return figure(all[:k]), figure(all[len(all)-k:])
}

// windowsOf are the steps of each window that a reset ended, without the steps
// that held the resets.
func windowsOf(run *lab.Run) [][]float64 {
	var all [][]float64
	var window []float64
	s := sorter{}
	s.sort(run.Tape[0])
	for i, step := range millis(run.Steps()) {
		if s.sort(run.Tape[i+1]) == compacted {
			all, window = append(all, window), nil
			continue
		}
		window = append(window, step)
	}
	return all
}
