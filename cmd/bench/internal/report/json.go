package report

import (
	"encoding/json"
	"math"
	"os"
	"time"

	"github.com/tureen-host/tureen/cmd/bench/internal/measure"
)

// Number is a figure; one that could not be measured, NaN, is null in JSON.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if f := float64(n); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return json.Marshal(f)
	}
	return []byte("null"), nil
}

// Document is the content of bench.json.
type Document struct {
	Schema  int                 `json:"schema"` // 1
	Time    time.Time           `json:"time"`
	Program string              `json:"program"` // what "tureen version" says
	Go      string              `json:"go"`      // of the bench
	OS      string              `json:"os"`      // GOOS/GOARCH
	CPUs    int                 `json:"cpus"`
	Dir     string              `json:"dir"` // the file system under it was measured
	Steps   []int               `json:"steps"`
	Sizes   []int               `json:"sizes"` // events of the logs that were grown
	Rows    []Row               `json:"rows"`
	Rounds  []map[string]Number `json:"rounds"` // figures by name: times in ms, sizes in bytes
}

// Write writes the document to a file.
func (d Document) Write(path string, rounds []measure.Round) error {
	d.Schema = 1
	for _, r := range rounds {
		figures := map[string]Number{}
		for name, v := range r {
			figures[name] = Number(v)
		}
		d.Rounds = append(d.Rounds, figures)
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}
