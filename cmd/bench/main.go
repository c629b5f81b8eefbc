// Command bench measures what Tureen costs besides the model: it drives the real
// program against an endpoint that answers at once, and against the least that an
// agent could do, in the same run. It prints a table and writes bench.json.
//
// Whatever the figures, it exits with 0; only a run that fails is an error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/tureen-host/tureen/cmd/bench/internal/crowd"
	"github.com/tureen-host/tureen/cmd/bench/internal/floor"
	"github.com/tureen-host/tureen/cmd/bench/internal/lab"
	"github.com/tureen-host/tureen/cmd/bench/internal/measure"
	"github.com/tureen-host/tureen/cmd/bench/internal/report"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run is the bench, or one of the programs that it starts of itself.
func run(ctx context.Context, args []string) error {
	switch {
	case len(args) > 0 && args[0] == "floor":
		return floor.Main(ctx, args[1:])
	case len(args) > 0 && args[0] == "crowd":
		return crowd.Main(ctx, args[1:], os.Stdout)
	case len(args) == 2 && args[0] == "echo":
		return floor.Echo(args[1])
	}
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&o.bin, "bin", "tureen", "the program to measure")
	flags.StringVar(&o.out, "out", "bench.json", "where the figures go as JSON")
	flags.IntVar(&o.rounds, "rounds", 5, "rounds; each figure is the median over them")
	flags.IntVar(&o.steps, "steps", 2000, "steps of the longest runs")
	flags.StringVar(&o.only, "only", "", "run only the cases with this in their name, such as \"long logs\"")
	flags.BoolVar(&o.quick, "quick", false, "one short round, to see that all works; its times mean nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || o.rounds < 1 || o.steps < usual {
		return fmt.Errorf("give flags only, -rounds of at least 1 and -steps of at least %d", usual)
	}
	return o.bench(ctx)
}

// Steps of the shorter runs.
const (
	few   = 20
	usual = 200
)

type options struct {
	bin, out      string
	only          string
	rounds, steps int
	quick         bool
}

func (o options) plan() measure.Plan {
	p := measure.Plan{Steps: []int{few, usual, o.steps}, Resets: 3, Starts: 5,
		Sizes: []int{1000, 10_000, 100_000, 1_000_000}, Crowd: measure.Crowd{Sessions: 1000, Steps: 20}}
	if o.quick || o.steps == usual {
		p.Steps = p.Steps[:2]
	}
	if o.quick {
		p.Resets, p.Starts, p.Sizes, p.Crowd = 1, 1, []int{1000, 100_000}, measure.Crowd{Sessions: 50, Steps: 10}
	}
	return p
}

func (o options) bench(ctx context.Context) (err error) {
	l, err := lab.New(o.bin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	version, err := exec.CommandContext(ctx, l.Tureen, "version").Output()
	if err != nil {
		return fmt.Errorf("%s version: %w", l.Tureen, err)
	}
	if o.quick {
		o.rounds = 1
	}
	var rounds []measure.Round
	b := measure.Bench{Lab: l, Plan: o.plan(), Only: o.only, Tell: func(name string) {
		fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", len(rounds)+1, o.rounds, name)
	}}
	for range o.rounds {
		r, err := b.Round(ctx)
		if err != nil {
			return fmt.Errorf("round %d: %w", len(rounds)+1, err)
		}
		rounds = append(rounds, r)
	}
	rows := report.Rows(rounds)
	missing := report.Missing(rows)
	if o.only != "" {
		rows, missing = report.Measured(rows), nil
	}
	if err := report.Table(os.Stdout, rows, rounds, b.Plan); err != nil {
		return err
	}
	if len(missing) > 0 && runtime.GOOS == "linux" {
		return fmt.Errorf("figures are missing: %s", strings.Join(missing, ", "))
	}
	return report.Document{
		Time: time.Now().UTC(), Program: strings.TrimSpace(string(version)), Go: runtime.Version(), OS: runtime.GOOS + "/" + runtime.GOARCH,
		CPUs: runtime.NumCPU(), Dir: os.TempDir(), Steps: b.Plan.Steps, Sizes: b.Plan.Sizes, Rows: rows,
	}.Write(o.out, rounds)
}
