package measure

import (
	"math"
	"slices"
	"time"
)

// Median is the middle of values, the mean of the two middle ones where their
// number is even; NaN where there are none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// quantile is the least of values that at least the part p of them does not
// exceed; NaN where there are none.
func quantile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	i := int(math.Ceil(p*float64(len(sorted)))) - 1
	return sorted[min(max(i, 0), len(sorted)-1)]
}

// millis turns durations into milliseconds.
func millis(all []time.Duration) []float64 {
	out := make([]float64, len(all))
	for i, d := range all {
		out[i] = ms(d)
	}
	return out
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// growth is by how much a step costs more than the one before it, taken from the
// first and the last tenth of a run; NaN for a run of less than ten steps.
func growth(steps []float64) float64 {
	n := len(steps)
	tenth := n / 10
	if tenth == 0 {
		return math.NaN()
	}
	return (Median(steps[n-tenth:]) - Median(steps[:tenth])) / float64(n-tenth)
}
