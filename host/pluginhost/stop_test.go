package pluginhost_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/pluginhost"
)

// quick are deadlines for the rungs that a stubborn process climbs down.
var quick = pluginhost.Deadlines{Drain: 100 * time.Millisecond, Shutdown: 200 * time.Millisecond, Term: 100 * time.Millisecond}

func TestTheStopLadderEndsEveryProcess(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"none", "stubborn", "stopped"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, pluginhost.Options{Deadlines: quick})
			i := h.one(spec(fault))
			pids := []string{must(t, i, "pid", ""), must(t, i, "child", "")}
			if fault == "stopped" {
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				_, _ = call(ctx, i, "stop", "")
			}
			for _, pid := range pids {
				if !alive(pid) {
					t.Fatalf("process %s is not there to begin with", pid)
				}
			}
			if err := h.Close(t.Context()); err != nil {
				t.Error(err)
			}
			// a killed grandchild is gone as soon as the kernel gets to it
			until(t, "the end of every process", func() bool { return !slices.ContainsFunc(pids, alive) })
			if _, err := call(t.Context(), i, "echo", ""); err == nil {
				t.Error("a stopped plugin answers")
			}
		})
	}
}

func TestAPluginIsToldToClose(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	word := filepath.Join(t.TempDir(), "word")
	s := spec("none")
	s.Env = append(s.Env, wordEnv+"="+word)
	h.one(s)
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(word); err != nil || string(got) != "goodbye" {
		t.Errorf("it left %q, %v", got, err)
	}
}

// Not parallel: it counts what this process holds.
func TestNothingIsLeftInTheHost(t *testing.T) {
	descriptors := func() int { all, _ := os.ReadDir("/proc/self/fd"); return len(all) }
	use := func() {
		h := newHouse(t, pluginhost.Options{})
		i := h.one(spec("none"))
		must(t, i, "echo", "")
		_, _ = call(t.Context(), i, "exit", "")
		must(t, i, "echo", "")
		bad := spec("exit")
		bad.Name = "bad"
		_, _ = h.Start(t.Context(), bad)
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	use() // what is made once per process
	goroutines, files := runtime.NumGoroutine(), descriptors()
	for range 5 {
		use()
	}
	until(t, "goroutines and descriptors are given back", func() bool {
		return runtime.NumGoroutine() <= goroutines && descriptors() <= files
	})
}

func TestCloseGoesStraightToTheEndWhereItsContextHasEnded(t *testing.T) {
	t.Parallel()
	hour := time.Hour
	h := newHouse(t, pluginhost.Options{Deadlines: pluginhost.Deadlines{Drain: hour, Shutdown: hour, Term: hour}})
	i := h.one(spec("stubborn"))
	pid := must(t, i, "pid", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Close(ctx); err != nil {
		t.Error(err)
	}
	if alive(pid) {
		t.Error("the process lives on")
	}
}

// runHost is a host of a plugin that ends only when the kernel kills it, and of
// one in Go and one in Python that the death signal does not reach, because a
// shell stands between. It lives until it is killed.
func runHost() {
	python, err := pluginhost.Resolve("../../plugins/examples/python/wordcount.py", nil)
	if err == nil {
		wrapped := spec("none")
		wrapped.Env = append(wrapped.Env, nameEnv+"=wrapped")
		for _, s := range []*pluginhost.Spec{&python, &wrapped} {
			s.Argv = []string{"/bin/sh", "-c", `"$0"; :`, s.Argv[0]}
		}
		_, err = pluginhost.New(pluginhost.Options{}).Start(context.Background(), spec("stubborn"), wrapped, python)
	}
	fmt.Println("ready", err)
	time.Sleep(time.Hour)
}

// descendants are the processes below pid, as they stand.
func descendants(pid string) []string {
	var found []string
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == pid {
			child := filepath.Base(filepath.Dir(path))
			found = append(append(found, child), descendants(child)...)
		}
	}
	return found
}

func TestAKilledHostLeavesNoPluginAndTheNextSweepsItsDirectory(t *testing.T) {
	t.Parallel()
	python(t, "wordcount.py", "") // fails where it cannot run
	base, err := os.MkdirTemp("/tmp", "tph")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	host := exec.Command(os.Args[0])
	host.Env = []string{hostEnv + "=1", "TMPDIR=" + base, "XDG_RUNTIME_DIR=" + base, "PATH=" + os.Getenv("PATH")}
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = host.Process.Kill(); _ = host.Wait() }()
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready <nil>\n" {
		t.Fatalf("the host says %q, %v", line, err)
	}
	pids := descendants(fmt.Sprint(host.Process.Pid))
	if len(pids) != 5 {
		t.Fatalf("three plugins and two shells are %v", pids)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "the plugins' end", func() bool { return !slices.ContainsFunc(pids, alive) })
	_ = host.Wait()
	roots := func() int { left, _ := filepath.Glob(base + "/tureen-host-*"); return len(left) }
	if roots() != 1 {
		t.Fatalf("the killed host left %d directories", roots())
	}
	next := pluginhost.New(pluginhost.Options{Env: []string{"XDG_RUNTIME_DIR=" + base}})
	if _, err := next.Start(t.Context(), spec("none")); err != nil {
		t.Fatal(err)
	}
	if roots() != 1 { // its own
		t.Errorf("after the sweep there are %d directories", roots())
	}
	if err := next.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if roots() != 0 {
		t.Errorf("at the end there are %d directories", roots())
	}
}

func TestALongTemporaryDirectoryIsPassedOver(t *testing.T) {
	t.Parallel()
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	s := pluginhost.New(pluginhost.Options{Env: []string{"XDG_RUNTIME_DIR=" + long, "TMPDIR=" + long}})
	if _, err := s.Start(t.Context(), spec("none")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCloseFollowsNoSymlink has a command exchange the plugins' private directory for a
// symlink while they run.
func TestCloseFollowsNoSymlink(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("/tmp", "tph")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	letter := filepath.Join(base, "documents", "1.1", "letter")
	if err := errors.Join(os.MkdirAll(filepath.Dir(letter), 0o700), os.WriteFile(letter, []byte("dear"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s := pluginhost.New(pluginhost.Options{Env: []string{"XDG_RUNTIME_DIR=" + base}})
	if _, err := s.Start(t.Context(), spec("none")); err != nil {
		t.Fatal(err)
	}
	dirs, _ := filepath.Glob(base + "/tureen-host-*")
	if len(dirs) != 1 {
		t.Fatalf("its directories: %v", dirs)
	}
	if err := errors.Join(os.Rename(dirs[0], base+"/aside"), os.Symlink(base+"/documents", dirs[0])); err != nil {
		t.Fatal(err)
	}
	const moved = "the plugins' private directory was moved or replaced while the run went on"
	if _, err := s.Start(t.Context(), spec("none")); err == nil || !strings.Contains(err.Error(), moved) {
		t.Errorf("another start: %v", err)
	}
	if err := s.Close(t.Context()); err == nil || !strings.Contains(err.Error(), moved) {
		t.Errorf("the end: %v", err)
	}
	if data, err := os.ReadFile(letter); err != nil || string(data) != "dear" {
		t.Errorf("the letter: %q, %v", data, err)
	}
	if left, err := os.ReadDir(base + "/aside"); err != nil || len(left) != 0 {
		t.Errorf("ours is not empty: %v, %v", left, err)
	}
}
