package python_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// patience is how long a test waits for what must come.
const patience = time.Minute

// needsPython fails, and does not skip, where the machine cannot run the SDK.
func needsPython(t testing.TB) {
	t.Helper()
	if out, err := exec.Command("/usr/bin/python3", "-c", "import grpc, google.protobuf").CombinedOutput(); err != nil {
		t.Fatalf("/usr/bin/python3 has no gRPC: install the packages python3-grpcio and python3-protobuf, or run .ci/setup: %v\n%s", err, out)
	}
}

// house runs plugins as the host does, each in a process of its own.
type house struct {
	*pluginhost.Supervisor
	t   testing.TB
	log *lockedBuffer

	mu   sync.Mutex
	lent map[string]session.Access
}

func newHouse(t testing.TB, o pluginhost.Options) *house {
	t.Helper()
	needsPython(t)
	base, err := os.MkdirTemp("/tmp", "tpy") // short, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, log: &lockedBuffer{}, lent: map[string]session.Access{}}
	o.Env = append(o.Env, "PATH="+os.Getenv("PATH"), "TMPDIR="+base, "XDG_RUNTIME_DIR="+base)
	o.Logger = slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.Access = func(_, id string) (session.Access, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if a := h.lent[id]; a != nil {
			return a, nil
		}
		return nil, session.ErrNotFound
	}
	o.Deadlines.Backoff = []time.Duration{time.Millisecond}
	o.Deadlines.Ready = patience // a slow machine is no failure
	h.Supervisor = pluginhost.New(o)
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if left, _ := filepath.Glob(base + "/*"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		os.RemoveAll(base)
	})
	return h
}

func (h *house) lend(id string, a session.Access) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lent[id] = a
}

// start starts the plugin of a directory.
func (h *house) start(dir, config string) *pluginhost.Instance {
	h.t.Helper()
	instances, err := h.Start(h.t.Context(), spec(h.t, dir, config))
	if err != nil {
		h.t.Fatalf("%v\n%s", err, h.log)
	}
	return instances[0]
}

func spec(t testing.TB, dir, config string) pluginhost.Spec {
	t.Helper()
	s, err := pluginhost.Resolve("./"+dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if config != "" {
		s.Config = json.RawMessage(config)
	}
	return s
}

type object map[string]any

// call calls a tool of a session "s1".
func call(ctx context.Context, i *pluginhost.Instance, name string, arguments object, progress func(string)) (tool.Result, error) {
	if arguments == nil {
		arguments = object{}
	}
	data, err := json.Marshal(arguments)
	if err != nil {
		return tool.Result{}, err
	}
	return i.Tools().Call(ctx, tool.Call{Session: "s1", ID: "c1", Name: name, Arguments: data, Room: 7}, progress)
}

// must calls a tool that succeeds.
func must(t testing.TB, i *pluginhost.Instance, name string, arguments object) string {
	t.Helper()
	r, err := call(t.Context(), i, name, arguments, nil)
	if err != nil || r.IsError {
		t.Fatalf("%s: %+.300v, %v", name, r, err)
	}
	return r.Text
}

// pid is the plugin's own.
func pid(t testing.TB, i *pluginhost.Instance) string {
	t.Helper()
	var about struct{ PID json.Number }
	if err := json.Unmarshal([]byte(must(t, i, "about", nil)), &about); err != nil {
		t.Fatal(err)
	}
	return about.PID.String()
}

// until waits for what another process brings about.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not come about: %s", what)
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// alive tells whether a process runs; one that is dead and unreaped does not.
func alive(pid string) bool {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
