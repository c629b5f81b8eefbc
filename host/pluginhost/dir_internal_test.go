package pluginhost

import (
	"os"
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

// TestASweepTakesWhatAKilledHostLeft covers the two moments in which a host can
// die without a lock that tells of it: before it made the lock, and while it
// removed its directory.
func TestASweepTakesWhatAKilledHostLeft(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	if _, err := os.MkdirTemp(base, rootPrefix); err != nil { // no lock yet
		t.Fatal(err)
	}
	root, err := makeRoot(base)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := root.generation(1, 1); err != nil {
		t.Fatal(err)
	}
	if err := root.lock.Close(); err != nil { // its host is dead
		t.Fatal(err)
	}
	sweep(base)
	left, err := os.ReadDir(base)
	if err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
