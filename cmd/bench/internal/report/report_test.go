package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/cmd/bench/internal/measure"
)

func TestARowComparesWithinItsRounds(t *testing.T) {
	t.Parallel()
	rounds := []measure.Round{{"f": 10, "b": 5}, {"f": 100, "b": 100}, {"f": 30, "b": 10}}
	for _, c := range []struct {
		by      compare
		limit   float64
		value   float64
		verdict string
	}{
		{ratio, 2, 2, "met"}, // of 2, 1 and 3
		{ratio, 1.9, 2, "missed"},
		{minus, 5, 5, "met"}, // of 5, 0 and 20
		{alone, 29, 30, "missed"},
		{alone, none, 30, ""},
	} {
		r := rule{what: "w", figure: "f", base: "b", by: c.by, limit: c.limit, unit: millis}.row(rounds)
		if float64(r.Value) != c.value || r.Verdict != c.verdict || r.Figure != 30 || *r.Base != 10 {
			t.Errorf("compared %d to %v: %+v, base %v", c.by, c.limit, r, *r.Base)
		}
	}
}

func TestAMissingFigureIsNotMet(t *testing.T) {
	t.Parallel()
	r := rule{what: "w", figure: "f", base: "gone", by: ratio, limit: 2, unit: millis}.row([]measure.Round{{"f": 1}})
	if r.Verdict != "unknown" || strings.Join(Missing([]Row{r}), ",") != "w" || len(Measured([]Row{r})) != 1 {
		t.Errorf("%+v", r)
	}
	if gone := (rule{what: "w", figure: "gone", unit: millis}).row([]measure.Round{{"f": 1}}); len(Measured([]Row{r, gone})) != 1 {
		t.Error("a row that was not measured is shown")
	}
}

// all has each figure that a rule names.
func all() []measure.Round {
	r := measure.Round{}
	for _, rule := range rules {
		r[rule.figure] = 1
		if rule.base != "" {
			r[rule.base] = 2
		}
	}
	return []measure.Round{r}
}

func TestTableAndJSONHoldEveryRow(t *testing.T) {
	t.Parallel()
	rows := Rows(all())
	if missing := Missing(rows); len(missing) > 0 {
		t.Fatalf("missing: %v", missing)
	}
	var table bytes.Buffer
	if err := Table(&table, rows, all(), measure.Plan{Steps: []int{20, 200}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "bench.json")
	rounds := []measure.Round{{"x": math.NaN(), "y": 3}}
	if err := (Document{Rows: rows}).Write(path, rounds); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Schema int
		Rows   []struct {
			What, Verdict string
			Limit         *float64
		}
		Rounds []map[string]*float64
	}
	if err := json.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	if document.Schema != 1 || len(document.Rows) != len(rules) || document.Rounds[0]["x"] != nil || *document.Rounds[0]["y"] != 3 {
		t.Errorf("document %s", data)
	}
	for i, row := range document.Rows {
		if !strings.Contains(table.String(), row.What) {
			t.Errorf("the table lacks %q", row.What)
		}
		if (row.Limit == nil) != math.IsNaN(rules[i].limit) || (row.Limit == nil) != (row.Verdict == "") {
			t.Errorf("row %+v", row)
		}
	}
}

func TestUnits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		got, want string
	}{
		{millis.text(1.234), "1.23 ms"},
		{micros.text(0.0045), "4.50 µs"},
		{megabytes.text(15 << 20), "15.0 MB"},
		{count.text(2), "2"},
		{count.text(2.5), "2.50"},
		{count.text(Number(math.NaN())), "?"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
