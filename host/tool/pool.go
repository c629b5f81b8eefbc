package tool

import (
	"context"
	"sync"
)

// PoolSize is how many parallel-safe calls run at once (L19).
const PoolSize = 10

// Waves splits the calls 0..n-1 into runs that may be dispatched together:
// consecutive parallel-safe calls, at most PoolSize of them, or one exclusive
// call alone. The order of the calls is kept.
func Waves(n int, parallel func(i int) bool) [][]int {
	var waves [][]int
	open := false // the last wave takes more parallel calls
	for i := range n {
		if !parallel(i) {
			waves, open = append(waves, []int{i}), false
			continue
		}
		if !open || len(waves[len(waves)-1]) == PoolSize {
			waves, open = append(waves, nil), true
		}
		waves[len(waves)-1] = append(waves[len(waves)-1], i)
	}
	return waves
}

// RunWave runs one wave and returns when every call has ended, also after a
// cancel: a started body always settles (T5). run is called once for each index.
func RunWave(ctx context.Context, wave []int, run func(ctx context.Context, i int)) {
	if len(wave) == 1 {
		run(ctx, wave[0])
		return
	}
	var wg sync.WaitGroup
	for _, i := range wave {
		wg.Go(func() { run(ctx, i) })
	}
	wg.Wait()
}
