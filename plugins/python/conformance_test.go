package python_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/session"
)

// running is a strategy in a process of its own, as the conformance suite wants it.
type running struct {
	*pluginhost.Supervisor
	plugin *pluginhost.Instance
	base   string

	mu   sync.Mutex
	lent map[string]session.Access
}

func (r *running) Open(ctx context.Context, s compaction.Session) (compaction.Strategy, error) {
	r.mu.Lock()
	r.lent[s.ID] = s.Access
	r.mu.Unlock()
	if err := r.plugin.OpenSession(ctx, s); err != nil {
		return nil, err
	}
	return r.plugin.Strategy(), nil
}

func (r *running) Close(ctx context.Context, id string) { r.plugin.CloseSession(ctx, id) }

func (r *running) Stop(ctx context.Context) error {
	defer os.RemoveAll(r.base)
	return r.Supervisor.Close(ctx)
}

// Kill leaves out every rung of the ladder but the last.
func (r *running) Kill() error {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return r.Stop(ctx)
}

func strategyIn(t *testing.T, dir string) func(context.Context) (compactiontest.Instance, error) {
	return func(ctx context.Context) (compactiontest.Instance, error) {
		base, err := os.MkdirTemp("/tmp", "tpy") // short, for the sockets
		if err != nil {
			return nil, err
		}
		r := &running{base: base, lent: map[string]session.Access{}}
		r.Supervisor = pluginhost.New(pluginhost.Options{
			Env: []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + base, "XDG_RUNTIME_DIR=" + base},
			Access: func(_, id string) (session.Access, error) {
				r.mu.Lock()
				defer r.mu.Unlock()
				if a := r.lent[id]; a != nil {
					return a, nil
				}
				return nil, session.ErrNotFound
			},
		})
		instances, err := r.Start(ctx, spec(t, dir, ""))
		if err != nil {
			os.RemoveAll(base)
			return nil, err
		}
		r.plugin = instances[0]
		return r, nil
	}
}

// The strategy in Python keeps what every strategy promises, asked over the wire.
func TestConformanceOfThePythonWindow(t *testing.T) {
	t.Parallel()
	needsPython(t)
	compactiontest.Run(t, &compactiontest.Subject{
		Start: strategyIn(t, "examples/window"), Kinds: []compaction.Kind{compaction.KindSummary}, Deterministic: true, Patience: patience,
	})
}
