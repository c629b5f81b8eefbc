package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/compactiontest"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/session"
)

// program is a plugin of any language that the conformance suite starts as the host
// does, in a process of its own.
type program struct {
	name   string // in profiles: a shipped name or a path
	config string
	base   string // for its directories
	notes  string
}

func newProgram(t *testing.T, name, config string) program {
	t.Helper()
	base, err := os.MkdirTemp("/tmp", "tcf") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	return program{name, config, base, filepath.Join(base, "notes")}
}

// start implements compactiontest.Subject.Start.
func (p program) start(ctx context.Context) (compactiontest.Instance, error) {
	spec, err := pluginhost.Resolve(p.name, []string{binary})
	if err != nil {
		return nil, err
	}
	spec.Config = json.RawMessage(p.config)
	r := &running{lent: map[string]session.Access{}, pid: filepath.Join(p.base, fmt.Sprintf("pid-%d", started.Add(1)))}
	spec.Argv = append([]string{"/bin/sh", "-c", `echo $$ > "$0" && exec "$@"`, r.pid}, spec.Argv...)
	r.host = pluginhost.New(pluginhost.Options{
		NotesHome: p.notes, Access: r.access, Deadlines: pluginhost.Deadlines{Handshake: time.Minute, GetInfo: time.Minute, Initialize: time.Minute, OpenSession: time.Minute, Open: time.Minute},
		Env: []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + p.base, "XDG_RUNTIME_DIR=" + p.base, "HOME=" + p.base},
	})
	plugins, err := r.host.Start(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("%w; stop: %v", err, r.host.Close(context.WithoutCancel(ctx)))
	}
	r.plugin = plugins[0]
	return r, nil
}

var started atomic.Int64

// running is one such process.
type running struct {
	host   *pluginhost.Supervisor
	plugin *pluginhost.Instance

	mu   sync.Mutex
	lent map[string]session.Access
	pid  string // the file that it is in
}

func (r *running) access(_, id string) (session.Access, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.lent[id]; a != nil {
		return a, nil
	}
	return nil, session.ErrNotFound
}

func (r *running) Open(ctx context.Context, s compaction.Session) (compaction.Strategy, error) {
	r.mu.Lock()
	r.lent[s.ID] = s.Access
	r.mu.Unlock()
	return r.plugin.Strategy(), r.plugin.OpenSession(ctx, s)
}

func (r *running) Close(ctx context.Context, id string) { r.plugin.CloseSession(ctx, id) }
func (r *running) Stop(ctx context.Context) error       { return r.host.Close(ctx) }

func (r *running) Kill() error {
	text, err := os.ReadFile(r.pid)
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	return r.host.Close(context.Background())
}

// A shipped strategy keeps its promises as the process that the host starts; the soak
// holds the others to them.
func TestConformanceOfAShippedStrategyAsAProcess(t *testing.T) {
	t.Parallel()
	conform(t, "notesoup")
}

func conform(t *testing.T, name string) {
	t.Helper()
	compactiontest.Run(t, &compactiontest.Subject{Start: newProgram(t, name, "{}").start, Deterministic: true, Patience: time.Minute})
}

// So does one in another language.
func TestConformanceOfAPythonStrategy(t *testing.T) {
	t.Parallel()
	path, err := filepath.Abs("../../plugins/examples/python/headlines.py")
	if err != nil {
		t.Fatal(err)
	}
	compactiontest.Run(t, &compactiontest.Subject{Start: newProgram(t, path, "{}").start, Kinds: []compaction.Kind{compaction.KindSummary}, Patience: time.Minute})
}
