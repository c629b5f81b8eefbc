package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/tureen-host/tureen/cmd/bench/internal/measure"
)

// unit says how a figure is shown: of is its unit in a Round.
type unit struct {
	of, shown string
	divisor   float64
	digits    int
}

var (
	millis    = unit{"ms", "ms", 1, 2}
	micros    = unit{"ms", "µs", 0.001, 2}
	megabytes = unit{"bytes", "MB", 1 << 20, 1}
	kilobytes = unit{"bytes", "KB", 1 << 10, 2}
	count     = unit{"count", "", 1, 0}
)

func (u unit) text(n Number) string {
	v := float64(n)
	if math.IsNaN(v) {
		return "?"
	}
	digits := u.digits
	if digits == 0 && v != math.Trunc(v) {
		digits = 2
	}
	return strings.TrimSpace(fmt.Sprintf("%.*f %s", digits, v/u.divisor, u.shown))
}

// Table writes the rows for people, then the steps by their number.
func Table(w io.Writer, rows []Row, rounds []measure.Round, plan measure.Plan) error {
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "WHAT\tTUREEN\tAGAINST\t\tVALUE\tBUDGET\tVERDICT")
	for _, r := range rows {
		base := ""
		if r.Base != nil {
			base = r.rule.unit.text(*r.Base)
		}
		budget := ""
		if r.Limit != nil {
			budget = "≤ " + r.limit(*r.Limit)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.What, r.rule.unit.text(r.Figure), base, r.Of, r.limit(r.Value), budget, r.Verdict)
	}
	fmt.Fprintln(tab, "\t\t\t\t\t\t")
	fmt.Fprintln(tab, "STEPS\tREAD P50\tREAD P99\t\tSHELL P50\tSHELL P99\t")
	for _, n := range plan.Steps {
		fmt.Fprintf(tab, "%d", n)
		for _, figure := range []string{"read.%d.p50", "read.%d.p99", "", "shell.%d.p50", "shell.%d.p99"} {
			text := ""
			if figure != "" {
				text = millis.text(over(rounds, "tureen."+fmt.Sprintf(figure, n)))
			}
			fmt.Fprint(tab, "\t"+text)
		}
		fmt.Fprintln(tab, "\t")
	}
	strategies(tab, rounds)
	scale(tab, rounds, plan.Sizes)
	if err := tab.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "\nTimes differ between machines and hours; only what was measured in one run can be compared. Under 1.3 times is no difference.")
	return err
}

// sized are the figures of a grown log by size, each with its heading.
var sized = []struct {
	head, figure string
	unit         unit
}{
	{"RESUME", "first", millis}, {"STEP", "step", millis}, {"SHOW", "show", millis}, {"LIST", "list", millis}, {"CONTEXT", "context", millis},
	{"READ", "history_read", millis}, {"TEXT", "history_list", millis}, {"WORD", "history_word", millis}, {"WINDOWS", "history_windows", millis}, {"HOST", "host", megabytes},
	{"FIRST", "search_first", millis}, {"INDEX", "index", millis},
}

// boundaries are the figures of one compaction, each with its heading. HOST is what it
// adds to a step at the host, model excluded; SPENT is what its event tells; SENT is what
// its own calls sent; PREFIX is what the next request has in common with the one before.
var boundaries = []struct {
	head, figure string
	unit         unit
}{
	{"HOST", "cost", millis}, {"SPENT", "told", millis}, {"CALLS", "calls", count}, {"TOKENS", "before", count}, {"AFTER", "after", count},
	{"SENT", "sent", count}, {"PREFIX", "prefix", kilobytes}, {"COMMITS", "commits", count},
}

// strategies writes the figures of a compaction, a row a strategy and size.
func strategies(w io.Writer, rounds []measure.Round) {
	fmt.Fprint(w, "\t\nCOMPACTION")
	for _, f := range boundaries {
		fmt.Fprint(w, "\t"+f.head)
	}
	fmt.Fprintln(w, "\t")
	for _, strategy := range measure.Strategies {
		for _, tokens := range measure.Surfaces {
			fmt.Fprintf(w, "%s at %d", strategy, tokens)
			for _, f := range boundaries {
				fmt.Fprint(w, "\t"+f.unit.text(over(rounds, fmt.Sprintf("tureen.strategy.%s.%d.%s", strategy, tokens, f.figure))))
			}
			fmt.Fprintln(w, "\t")
		}
	}
}

// scale writes the figures of the grown logs, a row a size.
func scale(w io.Writer, rounds []measure.Round, sizes []int) {
	fmt.Fprint(w, "\t\nEVENTS")
	for _, f := range sized {
		fmt.Fprint(w, "\t"+f.head)
	}
	fmt.Fprintln(w, "\t")
	for _, n := range sizes {
		fmt.Fprintf(w, "%d", n)
		for _, f := range sized {
			fmt.Fprint(w, "\t"+f.unit.text(over(rounds, fmt.Sprintf("tureen.scale.%d.%s", n, f.figure))))
		}
		fmt.Fprintln(w, "\t")
	}
}

// limit shows a value in the terms of the comparison.
func (r Row) limit(v Number) string {
	if r.rule.by == ratio {
		return unit{digits: 2, divisor: 1, shown: "×"}.text(v)
	}
	return r.rule.unit.text(v)
}

func over(rounds []measure.Round, name string) Number {
	var all []float64
	for _, r := range rounds {
		all = append(all, at(r, name))
	}
	return Number(measure.Median(all))
}
