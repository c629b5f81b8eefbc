package spill

import (
	"cmp"
	"slices"
)

// What results show at most, in tokens as llm.EstimateText counts them: the same
// for every endpoint.
const (
	// MaxInline is for one result (C14).
	MaxInline = 12_500
	// MaxPaged is for one result of a tool that pages by itself.
	MaxPaged = 50_000
	// MaxBatch is for the results of one answer together, without those of tools
	// that page by themselves.
	MaxBatch = 50_000
	// Brief is what a result still shows when it has to make room for others.
	Brief = 1_000
)

// Batch shares out what the results of one answer show.
type Batch struct{ left int }

// NewBatch begins an answer's results. Where the reset line is near, they get half
// of the way to it, but room for one whole result; resetAt 0 = no line.
func NewBatch(resetAt int) *Batch {
	if resetAt <= 0 {
		return &Batch{left: MaxBatch}
	}
	return &Batch{left: min(MaxBatch, max(MaxInline, resetAt/2))}
}

// Fit tells how much each of the next results may show, given their sizes: those
// over MaxInline get that, and then, while all together are too much, the longest
// one, of equals the first, gets Brief. Results that came before keep what they got.
// So an answer shows at most its share and Brief for each call.
func (b *Batch) Fit(sizes []int) []int {
	limits, order, sum := make([]int, len(sizes)), make([]int, len(sizes)), 0
	for i, size := range sizes {
		limits[i], order[i] = min(size, MaxInline), i
		sum += limits[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(sizes[j], sizes[i]) })
	for _, i := range order {
		if sum <= b.left || limits[i] <= Brief {
			break
		}
		sum -= limits[i] - Brief
		limits[i] = Brief
	}
	b.left = max(0, b.left-sum)
	return limits
}

// FitPaged tells how much a result of a tool that pages by itself may show.
func FitPaged(size int) int {
	if size > MaxPaged {
		return MaxInline
	}
	return size
}
