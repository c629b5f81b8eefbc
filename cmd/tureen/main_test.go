package main_test

import (
	"bytes"
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
)

// binary is the program under test, built once for all tests of this package.
var binary string

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == faultyArgument {
		serveFaulty(os.Args[2])
		return
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "tureen-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "tureen")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// sandbox is a user of its own: nothing outside it is read or written, and
// nothing but sessions and notes may be left in it.
type sandbox struct {
	dir string // short, for the sockets
	env []string
}

// newSandbox makes a sandbox. leftovers must be called when its programs ended.
func newSandbox() (*sandbox, error) {
	dir, err := os.MkdirTemp("/tmp", "tt")
	if err != nil {
		return nil, err
	}
	s := &sandbox{dir: dir}
	s.env = []string{"PATH=" + filepath.Dir(binary) + string(os.PathListSeparator) + os.Getenv("PATH"), "TERM=xterm",
		"OPENAI_BASE_URL=http://127.0.0.1:1/v1"} // nobody listens there, and nothing else is asked
	for name, sub := range map[string]string{
		"HOME": "home", "TMPDIR": "tmp", "XDG_RUNTIME_DIR": "run", "XDG_DATA_HOME": "home/data", "XDG_CONFIG_HOME": "home/config",
		"XDG_STATE_HOME": "home/state", "XDG_CACHE_HOME": "home/cache", "TUREEN_DATA_DIR": "data", "TUREEN_NOTES_HOME": "notes",
	} {
		s.env = append(s.env, name+"="+filepath.Join(dir, sub))
	}
	for _, sub := range []string{"home", "tmp", "run", "work"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *sandbox) path(parts ...string) string {
	return filepath.Join(append([]string{s.dir}, parts...)...)
}

// leftovers names what a program left behind that it should not have, "" for
// nothing: processes, sockets, temporary files, anything in the home.
func (s *sandbox) leftovers() string {
	var found []string
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if found = s.processes(); len(found) == 0 || time.Now().After(deadline) {
			break
		}
	}
	for _, sub := range []string{"tmp", "run", "home"} {
		entries, _ := os.ReadDir(s.path(sub))
		for _, e := range entries {
			found = append(found, filepath.Join(sub, e.Name()))
		}
	}
	return strings.Join(found, "\n")
}

// processes lists those whose environment names the sandbox: every plugin's
// does, for its socket stands there.
func (s *sandbox) processes() []string {
	var found []string
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range environs {
		env, err := os.ReadFile(file)
		pid := filepath.Base(filepath.Dir(file))
		if err == nil && bytes.Contains(env, []byte(s.dir)) && pid != fmt.Sprint(os.Getpid()) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			found = append(found, "process "+pid+": "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// user is a sandbox for a Go test; at its end nothing may be left behind.
func user(t *testing.T) *sandbox {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs Unix sockets")
	}
	s, err := newSandbox()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if left := s.leftovers(); left != "" {
			t.Errorf("left behind:\n%s", left)
		}
		os.RemoveAll(s.dir)
	})
	return s
}

// outcome is what a call of the program came to.
type outcome struct {
	exit           int
	stdout, stderr string
}

// command is a call that has not been started.
func (s *sandbox) command(args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir, cmd.Env = s.path("work"), s.env
	return cmd
}

// run calls the program and waits for its end.
func (s *sandbox) run(t *testing.T, args ...string) outcome {
	t.Helper()
	cmd := s.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("tureen %s: %v", strings.Join(args, " "), err)
	}
	o := outcome{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
	if slices.Contains(args, "stream-json") {
		checkStream(t, o.stdout)
	}
	return o
}

// ok calls the program and fails unless it exits with 0.
func (s *sandbox) ok(t *testing.T, args ...string) outcome {
	t.Helper()
	o := s.run(t, args...)
	if o.exit != 0 {
		t.Fatalf("tureen %s: exit %d\nstdout: %s\nstderr: %s", strings.Join(args, " "), o.exit, o.stdout, o.stderr)
	}
	return o
}
