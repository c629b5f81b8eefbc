package sqlitelog_test

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/tureen-host/tureen/host/session/sqlitelog"
)

func TestLockFileHasOneHolder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	var holders, taken atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1500 {
				release, err := sqlitelog.Acquire(path)
				if err != nil {
					t.Error(err)
					return
				}
				if release == nil {
					continue
				}
				taken.Add(1)
				if n := holders.Add(1); n > 1 {
					t.Errorf("%d holders", n)
				}
				holders.Add(-1)
				release()
			}
		})
	}
	wg.Wait()
	if taken.Load() == 0 {
		t.Error("nobody had it")
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is left over: %v", err)
	}
}

// TestOpenOutlastsALookAtTheOwner: whoever looks after an owner holds a lock for a moment.
func TestOpenOutlastsALookAtTheOwner(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.lock")
	if err := os.WriteFile(path, []byte("pid 1 on gone\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	look := flock.New(path, flock.SetFlag(os.O_RDONLY))
	if ok, err := look.TryRLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	time.AfterFunc(5*time.Millisecond, func() { _ = look.Close() })
	release, err := sqlitelog.Acquire(path)
	if err != nil || release == nil {
		t.Fatalf("not acquired: %v", err)
	}
	release()
}
