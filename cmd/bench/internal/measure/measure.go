// Package measure runs the cases of the bench, a round at a time, and turns each
// into figures.
package measure

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/tureen-host/tureen/cmd/bench/internal/endpoint"
	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
)

// Round holds the figures of one round by their names: times in milliseconds,
// sizes in bytes.
type Round map[string]float64

// Plan says how much is measured.
type Plan struct {
	Steps  []int // of the step runs, ascending, at least two; floors are compared at the second
	Resets int   // compactions in a run of a strategy
	Starts int   // starts and resumes that are timed
	Sizes  []int // events of the logs that are grown, ascending, at least two
	Crowd  Crowd
}

// Usual is the number of steps at which figures are compared.
func (p Plan) Usual() int { return p.Steps[1] }

// Long is the greatest number of steps.
func (p Plan) Long() int { return p.Steps[len(p.Steps)-1] }

// Bench measures in a lab. It is not safe for concurrent use: whatever runs beside
// a measurement spoils it.
type Bench struct {
	Lab  *lab.Lab
	Plan Plan
	Only string       // a word in the names of the cases that are run, "" = all
	Tell func(string) // hears of each case that begins
}

// Round runs each case once, floors and Tureen by turns.
func (b *Bench) Round(ctx context.Context) (Round, error) {
	r := Round{"machine.cores": float64(runtime.NumCPU())}
	if load, ok := load(); ok {
		r["machine.load"] = load
	}
	cases := []struct {
		name string
		run  func(context.Context, Round) error
	}{
		{"floors", b.floors},
		{"read steps", b.readSteps},
		{"floors with shell steps", b.shellFloors},
		{"shell steps", b.shellSteps},
		{"resume", b.resume},
		{"a long log under an even surface", b.even},
		{"notesoup resets", b.notesoup},
		{"summary compactions", b.summary},
		{"a compaction of each strategy", b.strategies},
		{"long logs", b.scale},
		{"a thousand sessions", b.crowd},
	}
	for _, c := range cases {
		if !strings.Contains(c.name, b.Only) {
			continue
		}
		b.Tell(c.name)
		if err := c.run(ctx, r); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return r, nil
}

// load is how many processes of the whole machine wanted to run, over the last minute:
// times that were measured under much of it mean little.
func load() (float64, bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(text), " ")
	v, err := strconv.ParseFloat(first, 64)
	return v, err == nil
}

// smallFile and largeFile are the lines of a file that a read step reads: about
// 600 bytes and 8 KB.
const (
	smallFile = 12
	largeFile = 160
)

// wide is a window that no run fills.
const wide = 8 << 20

var shellCall = endpoint.Call{Name: "shell", Arguments: `{"description":"do nothing","command":"true"}`}

func readCall(path string) endpoint.Call {
	return endpoint.Call{Name: "read", Arguments: fmt.Sprintf(`{"file_path":%q}`, path)}
}

// inSandbox gives a case a sandbox of its own.
func (b *Bench) inSandbox(do func(*lab.Sandbox) error) error {
	box, err := b.Lab.Sandbox()
	if err != nil {
		return err
	}
	defer box.Close()
	return do(box)
}
