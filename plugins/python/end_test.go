package python_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/plugins/sdk"
)

// A process that is killed is started again; the call that it was in fails as such.
func TestG1_AKilledProcessComesBack(t *testing.T) {
	t.Parallel()
	i := newHouse(t, pluginhost.Options{}).start(lab, "")
	before := pid(t, i)
	if _, err := call(t.Context(), i, "die", nil, nil); !errors.Is(err, sdk.ErrExited) {
		t.Errorf("the call that kills it: %v", err)
	}
	until(t, "another process answers", func() bool {
		r, err := call(t.Context(), i, "echo", object{"text": "back"}, nil)
		return err == nil && r.Text == "back"
	})
	if after := pid(t, i); after == before || alive(before) {
		t.Errorf("process %s was followed by %s", before, after)
	}
}

// Whatever is under way, the host's ladder ends it, and the children with it: quick
// rungs where it is done, the last one where a call holds everything up.
func TestG1_NothingOutlivesTheEnd(t *testing.T) {
	t.Parallel()
	for _, busy := range []string{"", "hang", "hang_thread", "block"} {
		t.Run("with "+busy, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, pluginhost.Options{Deadlines: pluginhost.Deadlines{Drain: 100 * time.Millisecond}})
			i := h.start(lab, "")
			pids := []string{pid(t, i), must(t, i, "child", nil)}
			if busy != "" {
				trace := filepath.Join(t.TempDir(), "trace")
				done := make(chan struct{})
				go func() { _, _ = call(context.Background(), i, busy, object{"trace": trace}, nil); close(done) }()
				defer func() { <-done }()
				until(t, "the call has begun", func() bool { return exists(trace + ".begun") })
			}
			if err := h.Close(context.Background()); err != nil {
				t.Error(err)
			}
			until(t, fmt.Sprintf("the end of %v", pids), func() bool { return !slices.ContainsFunc(pids, alive) })
		})
	}
}

// Many calls that hang, in the loop and in threads, hold up neither health nor others.
func TestG1_CallsThatHangHoldNobodyUp(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{Deadlines: pluginhost.Deadlines{Drain: 100 * time.Millisecond, HealthEvery: 50 * time.Millisecond}})
	i := h.start(lab, "")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	const calls = 64
	traces := make([]string, calls)
	for n := range calls {
		traces[n] = filepath.Join(t.TempDir(), "trace")
		name := []string{"hang", "hang_thread"}[n%2]
		go func() { _, err := call(ctx, i, name, object{"trace": traces[n]}, nil); done <- err }()
	}
	until(t, "all have begun", func() bool {
		return !slices.ContainsFunc(traces, func(trace string) bool { return !exists(trace + ".begun") })
	})
	if got := must(t, i, "echo", object{"text": "still here"}); got != "still here" {
		t.Errorf("it says %q", got)
	}
	cancel()
	for range calls {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("a call that was cancelled: %v", err)
		}
	}
	if got := must(t, i, "echo", object{"text": "and here"}); got != "and here" {
		t.Errorf("it says %q", got)
	}
}
