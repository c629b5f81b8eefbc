// Package report turns the figures of the bench into rows with a verdict, for
// people and as JSON.
package report

import (
	"math"
	"slices"

	"github.com/tureen-host/tureen/cmd/bench/internal/measure"
)

// compare is how a figure is held against its base and limit.
type compare int

const (
	alone compare = iota // the figure itself
	ratio                // the figure over the base
	minus                // the figure less the base
)

// rule is a row of the budgets. A base that is not compared with is shown for
// information; a limit of NaN is no budget.
type rule struct {
	what, figure, base, baseName string
	by                           compare
	limit                        float64
	unit                         unit
}

var none = math.NaN()

// rules are the budgets whose parts exist, then what is good to know.
var rules = []rule{
	{"step, file read, p50", "tureen.read.p50", "floor.full2.read.p50", "two commits", ratio, 2, millis},
	{"step, file read, p99", "tureen.read.p99", "tureen.read.p50", "its p50", ratio, 3, millis},
	{"step, shell, p50", "tureen.shell.p50", "floor.full.shell.p50", "one commit", ratio, 2, millis},
	{"growth of a step with each step", "tureen.read.growth", "floor.full2.read.growth", "two commits", alone, 0.005, micros},
	{"late steps, even surface", "tureen.even.late", "tureen.even.early", "early ones", ratio, 1.05, millis},
	{"start to first request", "tureen.start", "floor.full.read.first", "one commit", alone, 100, millis},
	{"resume to first request", "tureen.resume", "tureen.start", "its own start", minus, 10, millis},
	{"notesoup reset", "tureen.reset.cost", "tureen.reset.usual", "its usual step", alone, 10, millis},
	{"model calls of a notesoup reset", "tureen.reset.calls", "", "", alone, 0, count},
	{"summary compaction, host side", "tureen.summary.cost", "tureen.summary.usual", "its usual step", alone, 15, millis},
	{"CPU of a read step, plugins included", "tureen.read.cpu", "floor.full.read.cpu", "one commit", ratio, 3, millis},
	{"memory of the host", "tureen.memory.host", "", "", alone, 60 << 20, megabytes},
	{"memory of the largest plugin", "tureen.memory.plugin", "", "", alone, 25 << 20, megabytes},
	{"memory of the host, late, even surface", "tureen.even.host.late", "tureen.even.host.early", "early", ratio, 1.1, megabytes},
	{"disk for a small step", "tureen.disk", "", "", alone, 3 << 10, kilobytes},
	{"requests that break the common prefix", "tureen.prefix.breaks", "tureen.prefix.requests", "requests", alone, 0, count},

	{"resume, the largest log", "tureen.large.first", "tureen.start", "its own start", minus, 10, millis},
	{"resume, the largest log", "tureen.large.first", "tureen.short.first", "the shortest", ratio, 1.1, millis},
	{"step after it, the largest log", "tureen.large.step", "tureen.short.step", "the shortest", ratio, 1.1, millis},
	{"session show --last 20, the largest log", "tureen.large.show", "tureen.short.show", "the shortest", ratio, 1.1, millis},
	{"session list, the largest log", "tureen.large.list", "tureen.short.list", "the shortest", ratio, 1.1, millis},
	{"context show, the largest log", "tureen.large.context", "tureen.short.context", "the shortest", ratio, 1.1, millis},
	{"history_read page, the largest log", "tureen.large.history_read", "tureen.large.step", "its usual step", minus, 5, millis},
	{"history_read page, the largest log", "tureen.large.history_read", "tureen.short.history_read", "the shortest", ratio, 1.1, millis},
	{"history_list with a usual text, the largest log", "tureen.large.history_list", "tureen.large.step", "its usual step", minus, 50, millis},
	{"history_list with a text said once, the largest log", "tureen.large.history_word", "tureen.large.step", "its usual step", minus, 50, millis},
	{"memory of the host, the largest log", "tureen.large.host", "tureen.short.host", "the shortest", ratio, 1.1, megabytes},
	{"time of a step and core, many sessions in one process", "tureen.crowd.step", "", "", alone, 1000. / 300, millis},
	{"host's part of a step at half that rate, p99", "tureen.crowd.p99", "tureen.crowd.p50", "its p50", alone, 20, millis},
	{"memory of an idle session", "tureen.crowd.idle", "tureen.crowd.idle.host", "the host's part", alone, 2 << 20, megabytes},

	{"first search of a log that was never searched, the largest", "tureen.large.search_first", "", "", alone, none, millis},
	{"until all of it is indexed, in the background, the largest log", "tureen.large.index", "", "", alone, none, millis},
	{"history_windows, the largest log", "tureen.large.history_windows", "tureen.large.step", "its usual step", minus, none, millis},
	{"steps a second, many sessions in one process", "tureen.crowd.rate", "", "", alone, none, count},
	{"making a session, many in one process", "tureen.crowd.create", "", "", alone, none, millis},
	{"step, file read, p50", "tureen.read.p50", "floor.full2call.read.p50", "two commits, one gRPC call", ratio, none, millis},
	{"step, file read, p50", "tureen.read.p50", "floor.memory.read.p50", "nothing saved", ratio, none, millis},
	{"step, shell, p50", "tureen.shell.p50", "floor.memory.shell.p50", "nothing saved", ratio, none, millis},
	{"notesoup reset as its event tells", "tureen.reset.told", "", "", alone, none, millis},
	{"summary compaction as its event tells", "tureen.summary.told", "", "", alone, none, millis},
	{"synced commits a read step", "tureen.commits", "", "", alone, none, count},
	{"load of the machine when a round began", "machine.load", "machine.cores", "cores", alone, none, count},
}

// Row is a rule with its medians over the rounds.
type Row struct {
	What    string  `json:"what"`
	Figure  Number  `json:"figure"`
	Base    *Number `json:"base,omitempty"`
	Of      string  `json:"base_is,omitempty"`
	By      string  `json:"compared"` // alone | ratio | minus
	Value   Number  `json:"value"`    // what is held against the limit
	Limit   *Number `json:"limit,omitempty"`
	Verdict string  `json:"verdict,omitempty"` // met | missed | unknown
	Unit    string  `json:"unit"`              // of figure and base: ms, bytes, count
	rule    rule
}

// Rows judges rounds. A figure that no round has makes the verdict unknown.
func Rows(rounds []measure.Round) []Row {
	var rows []Row
	for _, r := range rules {
		rows = append(rows, r.row(rounds))
	}
	return rows
}

// Missing names the rows whose figures were not measured.
func Missing(rows []Row) []string {
	var names []string
	for _, r := range rows {
		if math.IsNaN(float64(r.Value)) {
			names = append(names, r.What)
		}
	}
	return names
}

// Measured leaves out the rows of cases that were not run.
func Measured(rows []Row) []Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool { return math.IsNaN(float64(r.Figure)) })
}

// row compares within each round first: only figures of one round belong together.
func (r rule) row(rounds []measure.Round) Row {
	row := Row{What: r.what, Of: r.baseName, By: [...]string{"alone", "ratio", "minus"}[r.by], Unit: r.unit.of, rule: r}
	var figures, bases, values []float64
	for _, round := range rounds {
		figure, base := at(round, r.figure), at(round, r.base)
		figures, bases = append(figures, figure), append(bases, base)
		switch r.by {
		case ratio:
			values = append(values, figure/base)
		case minus:
			values = append(values, figure-base)
		default:
			values = append(values, figure)
		}
	}
	value := measure.Median(values)
	row.Figure, row.Value = Number(measure.Median(figures)), Number(value)
	if r.base != "" {
		base := Number(measure.Median(bases))
		row.Base = &base
	}
	if math.IsNaN(r.limit) {
		return row
	}
	limit := Number(r.limit)
	row.Limit = &limit
	switch {
	case math.IsNaN(value):
		row.Verdict = "unknown"
	case value <= r.limit:
		row.Verdict = "met"
	default:
		row.Verdict = "missed"
	}
	return row
}

func at(r measure.Round, name string) float64 {
	if v, ok := r[name]; ok {
		return v
	}
	return math.NaN()
}
