package pluginhost_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
			for _, pid := range pids {
				if alive(pid) {
					t.Errorf("process %s lives on", pid)
				}
			}
			if _, err := call(t.Context(), i, "echo", ""); err == nil {
				t.Error("a stopped plugin answers")
			}
		})
	}
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

// runHost is a host that lives until it is killed.
func runHost() {
	ctx := context.Background()
	for _, fault := range []string{"none", "stubborn"} {
		i, err := pluginhost.New(pluginhost.Options{}).Start(ctx, spec(fault))
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		pid, err := call(ctx, i[0], "pid", "")
		fmt.Println("pid", pid, err)
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

func TestAKilledHostLeavesNoPluginAndTheNextSweepsItsDirectory(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("/tmp", "tph")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(base)
	host := exec.Command(os.Args[0])
	host.Env = []string{hostEnv + "=1", "TMPDIR=" + base, "PATH=" + os.Getenv("PATH")}
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = host.Process.Kill(); _ = host.Wait() }()
	var pids []string
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		var pid, rest string
		if _, err := fmt.Sscan(lines.Text(), &rest, &pid); err != nil || rest != "pid" || !alive(pid) {
			t.Fatalf("the host says %q", lines.Text())
		}
		pids = append(pids, pid)
	}
	if len(pids) != 2 {
		t.Fatalf("plugins: %v", pids)
	}
	if err := host.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "the plugins' end", func() bool { return !alive(pids[0]) && !alive(pids[1]) })
	_ = host.Wait()
	if left, _ := filepath.Glob(base + "/tureen-host-*"); len(left) != 2 {
		t.Fatalf("the killed host left %v", left)
	}
	next := pluginhost.New(pluginhost.Options{Env: []string{"TMPDIR=" + base}})
	if _, err := next.Start(t.Context(), spec("none")); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(base + "/tureen-host-*"); len(left) != 1 {
		t.Errorf("after the sweep: %v", left)
	}
	if err := next.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestALongTemporaryDirectoryIsPassedOver(t *testing.T) {
	t.Parallel()
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	s := pluginhost.New(pluginhost.Options{Env: []string{"TMPDIR=" + long}})
	if _, err := s.Start(t.Context(), spec("none")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
