package pluginhost

import (
	"sync"
	"testing"
)

// TestASweepTakesNoDirectoryInUse has hosts start side by side while others sweep.
func TestASweepTakesNoDirectoryInUse(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	var hosts, sweeps sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		sweeps.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					sweep(base)
				}
			}
		})
	}
	for range 4 {
		hosts.Go(func() {
			for i := range 40 {
				root, err := makeRoot(base)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := root.generation(1, i); err != nil {
					t.Errorf("a directory in use is gone: %v", err)
				}
				if err := root.remove(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	hosts.Wait()
	close(done)
	sweeps.Wait()
}
