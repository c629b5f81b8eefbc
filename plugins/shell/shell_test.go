package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/shell"
)

// bench is the plugin with one session on a workspace of its own.
type bench struct {
	t        *testing.T
	dir      string
	services sdk.Services
	tools    *tool.Registry
}

func setup(t *testing.T, config string) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	services, err := shell.Plugin("test").Start(t.Context(), sdk.Init{Config: json.RawMessage(config)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(services.Close)
	if err := services.Sessions.Open(t.Context(), compaction.Session{ID: "s", Workspace: dir}); err != nil {
		t.Fatal(err)
	}
	tools, err := tool.NewRegistry(t.Context(), "s", []tool.Provider{services.Tools})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, dir, services, tools}
}

type args = map[string]any

func (b *bench) call(ctx context.Context, a args, progress func(string)) tool.Result {
	b.t.Helper()
	if _, ok := a["description"]; !ok {
		a["description"] = "Try something"
	}
	arguments, err := json.Marshal(a)
	if err != nil {
		b.t.Fatal(err)
	}
	if bad, ok := b.tools.Validate("shell", arguments); ok {
		return bad
	}
	r, err := b.services.Tools.Call(ctx, tool.Call{Session: "s", Name: "shell", Arguments: arguments, Room: -1}, progress)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) gives(a args, lines ...string) {
	b.t.Helper()
	r := b.call(b.t.Context(), a, nil)
	if want := strings.Join(lines, "\n"); r.IsError || r.Text != want {
		b.t.Errorf("%v:\n%s\nwant\n%s", a, r.Text, want)
	}
}

func (b *bench) fails(a args, code, text string) {
	b.t.Helper()
	r := b.call(b.t.Context(), a, nil)
	if !r.IsError || r.Code != code || !strings.HasPrefix(r.Text, "Error: "+text) {
		b.t.Errorf("%v:\n got %s: %s\nwant %s: Error: %s…", a, r.Code, r.Text, code, text)
	}
}

// pids reads the process ids that a command wrote into a file, once there are n.
func (b *bench) pids(name string, n int) []int {
	b.t.Helper()
	for range 12_000 {
		data, _ := os.ReadFile(filepath.Join(b.dir, name))
		if fields := strings.Fields(string(data)); len(fields) == n && strings.HasSuffix(string(data), "\n") {
			pids := make([]int, n)
			for i, f := range fields {
				pids[i], _ = strconv.Atoi(f)
			}
			return pids
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.t.Fatalf("%s never held %d process ids", name, n)
	return nil
}

// gone waits until a process has ended; a zombie that nobody has reaped yet has.
func (b *bench) gone(pid int) {
	b.t.Helper()
	for range 12_000 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil && syscall.Kill(pid, 0) != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	b.t.Errorf("process %d is still there", pid)
	syscall.Kill(pid, syscall.SIGKILL)
}

func TestT7_ShellShowsWhatACommandPrinted(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	b.gives(args{"command": "echo one; echo; echo two"}, "one", "", "two")
	b.gives(args{"command": "printf one"}, "one")
	b.gives(args{"command": "true"}, "(no output)")
	b.gives(args{"command": "echo"}, "(no output)")
	b.gives(args{"command": "echo out; echo err >&2"}, "out", "[stderr]", "err")
	b.gives(args{"command": "echo err >&2; exit 3"}, "[stderr]", "err", "[exit code: 3]")
	b.gives(args{"command": "exit 255"}, "(no output)", "[exit code: 255]")
	b.gives(args{"command": "echo before; kill -9 $$"}, "before", "[killed by signal: SIGKILL]")
	b.gives(args{"command": "x=(a b); [[ ab == a* ]] && echo ${x[1]}"}, "b") // bash, not sh
	b.gives(args{"command": `printf '\xff a\0b \xc3\xa4\n'`}, "\uFFFD ab ä")
	b.gives(args{"command": "exec > >(tr a-z A-Z); echo late"}, "LATE")
	b.gives(args{"command": "cat; echo end of input"}, "end of input")
	b.gives(args{"command": "test -t 0 || test -t 1 || test -t 2 || echo no terminal"}, "no terminal")
}

func TestT7_ShellSetsEnvironmentAndDirectory(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	if err := os.MkdirAll(filepath.Join(b.dir, "sub/dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.gives(args{"command": "echo $NO_COLOR $TERM $PAGER $GIT_PAGER; echo ${PATH:+path}"}, "1 dumb cat cat", "path")
	b.gives(args{"command": "pwd; echo $PWD"}, b.dir, b.dir)
	b.gives(args{"command": "pwd", "workdir": "sub/dir"}, b.dir+"/sub/dir")
	b.gives(args{"command": "pwd", "workdir": "/"}, "/")
	b.gives(args{"command": "cd sub; A=1"}, "(no output)")
	b.gives(args{"command": "pwd; echo ${A-unset}"}, b.dir, "unset") // a fresh shell each time
	b.fails(args{"command": "pwd", "workdir": "none"}, "NOT_FOUND", `cannot run in "none": not found`)
	b.fails(args{"command": "pwd", "workdir": "file"}, "NOT_A_DIRECTORY", `cannot run in "file": not a directory`)
	b.fails(args{"command": "pwd", "workdir": "~"}, "BAD_PATH", `cannot run in "~": "~" is not expanded`)
	b.fails(args{"command": strings.Repeat("x", 1<<22)}, "START_FAILED", "cannot start ")
	b.fails(args{"command": "echo a\x00b"}, "START_FAILED", "cannot start ")
	b.fails(args{"command": "true", "run_in_background": true}, "INVALID_ARGUMENTS", "invalid arguments: ")
	b.fails(args{"workdir": "/"}, "INVALID_ARGUMENTS", "invalid arguments: ")
}

func TestT8_LongOutputKeepsStartAndEnd(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	const size = 40 << 20
	r := b.call(t.Context(), args{"command": fmt.Sprintf("echo the start; head -c %d /dev/zero | tr '\\0' x; echo; echo the end", size)}, nil)
	lost := size + len("the start\n\nthe end\n") - 32_000_000
	head, rest, _ := strings.Cut(r.Text, fmt.Sprintf("\n[... %d bytes dropped here ...]\n", lost))
	tail, end, _ := strings.Cut(rest, "\nthe end\n")
	if end != fmt.Sprintf("[output truncated; %d bytes in its middle dropped]", lost) || r.LeftOut != int64(lost) {
		t.Errorf("the end is %.200q; %d are said to be left out, want %d", end, r.LeftOut, lost)
	}
	if head, ok := strings.CutPrefix(head, "the start\n"); !ok || len(head) != 16_000_000-10 || strings.Trim(head, "x") != "" || len(tail) != 16_000_000-9 || strings.Trim(tail, "x") != "" {
		t.Errorf("kept are %d and %d bytes", len(head), len(tail))
	}

	b = setup(t, `{"max_output_bytes": 1000}`)
	b.gives(args{"command": "yes 12345678 | head -c 1800; yes 12345678 | head -c 1017 >&2"},
		strings.Repeat("12345678\n", 200)[:500], "[... 800 bytes dropped here ...]", strings.Repeat("12345678\n", 200)[1300:1799],
		"[stderr]", strings.Repeat("12345678\n", 200)[:500], "[... 17 bytes dropped here ...]", strings.Repeat("12345678\n", 200)[517:1016],
		"[output truncated; 800 bytes in its middle dropped]", "[stderr truncated; 17 bytes in its middle dropped]")
}

// All that a command prints is in its result, up to the limit, in whichever stream.
func TestW1_C153_AllOfALongOutputIsKept(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	r := b.call(t.Context(), args{"command": "seq 1300000; echo ERROR-KITE; seq 1300000; yes 'äöü' | head -c 1000001 >&2; exit 1"}, nil)
	var want strings.Builder
	for range 2 {
		for i := range 1_300_000 {
			fmt.Fprintln(&want, i+1)
		}
		if !strings.Contains(want.String(), "ERROR") {
			want.WriteString("ERROR-KITE\n")
		}
	}
	stdout, stderr, _ := strings.Cut(r.Text, "[stderr]\n")
	if stdout != want.String() || r.LeftOut != 0 {
		t.Errorf("%d bytes of %d, %d left out", len(stdout), want.Len(), r.LeftOut)
	}
	if !strings.HasSuffix(stderr, "\n[exit code: 1]") || strings.Count(stderr, "äöü\n") != 142_857 || !utf8.ValidString(stderr) {
		t.Errorf("%d bytes of stderr, end %q", len(stderr), stderr[max(0, len(stderr)-40):])
	}
	b.gives(args{"command": "head -c 64001 /dev/zero | tr '\\0' x"}, strings.Repeat("x", 64_001))
}

// Where no file can be made, a command runs all the same, and its result says what
// became of its output.
func TestW1_C153_WithoutAPlaceForFilesTheEndIsKept(t *testing.T) {
	b := setup(t, `{}`)
	t.Setenv("TMPDIR", filepath.Join(b.dir, "none"))
	r := b.call(t.Context(), args{"command": "seq 100000; echo the end; exit 3"}, nil)
	if want := fmt.Sprintf("\nthe end\n[output truncated; first %d bytes dropped: no file could keep them: no such file or directory]\n[exit code: 3]", r.LeftOut); !strings.HasSuffix(r.Text, want) || r.LeftOut < 500_000 || len(r.Text) < 60_000 {
		t.Errorf("%d bytes, %d left out, end %q, want %q", len(r.Text), r.LeftOut, r.Text[max(0, len(r.Text)-300):], want)
	}
	b.gives(args{"command": "echo little"}, "little")
}

func TestT8_TimeoutKillsTheWholeGroup(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	r := b.call(t.Context(), args{"command": "echo started; sleep 1000 & (trap '' HUP; sleep 1001) & echo $! $$ > pids; jobs -p | head -1 > first; wait", "timeoutMs": 5000}, nil)
	if want := "started\n[timed out after 5000ms]\n[killed by signal: SIGTERM]"; r.Text != want || r.IsError {
		t.Errorf("got %q", r.Text)
	}
	for _, pid := range append(b.pids("pids", 2), b.pids("first", 1)...) {
		b.gone(pid)
	}
}

func TestT8_AGroupThatIgnoresSIGTERMIsKilled(t *testing.T) {
	t.Parallel()
	b := setup(t, `{"timeout": "4s"}`)
	b.gives(args{"command": "trap '' TERM; echo $$ > pids; echo deaf; while :; do sleep 0.1; done"}, "deaf", "[timed out after 4000ms]", "[killed by signal: SIGKILL]")
	b.gone(b.pids("pids", 1)[0])
	// A command that minds SIGTERM has the grace to say so.
	b.gives(args{"command": "exec 2>/dev/null; trap 'echo tidying; exit 7' TERM; while :; do sleep 0.05; done"}, "tidying", "[timed out after 4000ms]", "[exit code: 7]")
}

func TestT8_TimeoutsAreBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, `{"timeout": "100ms", "max_timeout": "150ms"}`)
	b.gives(args{"command": "sleep 100"}, "(no output)", "[timed out after 100ms]", "[killed by signal: SIGTERM]")
	b.gives(args{"command": "sleep 100", "timeoutMs": 9_999_999}, "(no output)", "[timed out after 150ms]", "[killed by signal: SIGTERM]")
	b.fails(args{"command": "true", "timeoutMs": 0}, "INVALID_ARGUMENTS", "invalid arguments: ")
	if spec := b.tools.Specs()[0]; spec.Timeout <= 150*time.Millisecond+3*time.Second || spec.Parallel || spec.NoSpill {
		t.Errorf("the host's limits: %+v", spec)
	}
	if spec := setup(t, `{}`).tools.Specs()[0]; !strings.Contains(string(spec.Schema), "Default 60000, at most 600000.") || spec.Timeout <= 10*time.Minute {
		t.Errorf("the limits by default: %s, %s", spec.Timeout, spec.Schema)
	}
}

func TestT7_ABackgroundProcessDoesNotHoldTheCall(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	const stopped = "[processes left in the background were stopped]"
	b.gives(args{"command": "sleep 1000 & echo $! > pid; echo done"}, "done", stopped) // it holds the pipes
	b.gone(b.pids("pid", 1)[0])
	b.gives(args{"command": "sleep 1000 >/dev/null 2>&1 & echo $! > pid2; exit 4"}, "(no output)", stopped, "[exit code: 4]")
	b.gone(b.pids("pid2", 1)[0])
	// One that left the group and holds the pipes does not hold the call either. It is
	// stopped once no command of this process runs any more.
	if _, err := exec.LookPath("setsid"); err == nil {
		b.gives(args{"command": "setsid sleep 1000 & echo $! > pid3; sleep 0.2; echo done"}, "done")
		syscall.Kill(b.pids("pid3", 1)[0], syscall.SIGKILL)
	}
}

func TestT5_CancelKillsTheGroup(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan tool.Result)
	go func() {
		result <- b.call(ctx, args{"command": "echo out; sleep 1000 & echo $$ $! > pids; wait"}, nil)
	}()
	pids := b.pids("pids", 2)
	cancel()
	if r := <-result; r.Text != "Error: tool call aborted" || !r.IsError {
		t.Errorf("got %+v", r)
	}
	for _, pid := range pids {
		b.gone(pid)
	}
	if r := b.call(ctx, args{"command": "touch never"}, nil); r.Text != "Error: tool call aborted before dispatch" {
		t.Errorf("got %+v", r)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "never")); err == nil {
		t.Error("a call that was cancelled before its start ran")
	}
}

func TestT5_TheEndOfThePluginEndsItsCommands(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	result := make(chan tool.Result, 1)
	go func() {
		result <- b.call(t.Context(), args{"command": "sleep 1000 & echo $$ $! > pids; wait"}, nil)
	}()
	pids := b.pids("pids", 2)
	b.services.Close()
	if r := <-result; r.Text != "Error: tool call aborted" {
		t.Errorf("got %+v", r)
	}
	for _, pid := range pids {
		b.gone(pid)
	}
}

func TestT7_ShellReportsProgress(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	var mu sync.Mutex
	var reports []string
	r := b.call(t.Context(), args{"command": "echo first; echo problem >&2; until [ -e go ]; do sleep 0.02; done; echo last"}, func(text string) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, text)
		if err := os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o600); err != nil {
			t.Error(err)
		}
	})
	if r.Text != "first\nlast\n[stderr]\nproblem" {
		t.Errorf("result %q", r.Text)
	}
	if len(reports) == 0 || !strings.Contains(reports[0], "first") || !strings.Contains(reports[0], "problem") {
		t.Errorf("reports %q", reports)
	}
}

func TestT7_CallsOfSeveralSessionsRunBesideEachOther(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			// Each waits for a file of its neighbour's: in a row they would never end.
			b.gives(args{"command": fmt.Sprintf("touch f%d; until [ -e f%d ]; do sleep 0.02; done; echo %d", i, (i+1)%8, i)}, fmt.Sprint(i))
		})
	}
	wg.Wait()
}

func TestT8_ConfigIsChecked(t *testing.T) {
	t.Parallel()
	for config, want := range map[string]string{
		`{"timeout": "soon"}`:                           `timeout is "soon"`,
		`{"max_timeout": "-1s"}`:                        `max_timeout is "-1s"`,
		`{"timeout": "2m", "max_timeout": "1m"}`:        "timeout 2m0s is longer than max_timeout 1m0s",
		`{"wait": "-1m"}`:                               `wait is "-1m"`,
		`{"wait": "long"}`:                              `wait is "long"`,
		`{"timeout": 5}`:                                "timeout",
		`{"timeout": "1ns"}`:                            `timeout is "1ns"`,
		`{"max_output_bytes": "many"}`:                  "max_output_bytes",
		`{"timeout": "", "max_timeout": "about a day"}`: `max_timeout is "about a day"`,
	} {
		if _, err := shell.Plugin("test").Start(t.Context(), sdk.Init{Config: json.RawMessage(config)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", config, err, want)
		}
	}
	for config, want := range map[string]shell.Config{
		`{}`:                                    {Timeout: time.Minute, MaxTimeout: 10 * time.Minute, MaxOutputBytes: 32_000_000, Jobs: true, MaxJobs: 10, Wait: 30 * time.Minute},
		`{"timeout": "20m"}`:                    {Timeout: 20 * time.Minute, MaxTimeout: 20 * time.Minute, MaxOutputBytes: 32_000_000, Jobs: true, MaxJobs: 10, Wait: 30 * time.Minute},
		`{"max_timeout": "10s"}`:                {Timeout: 10 * time.Second, MaxTimeout: 10 * time.Second, MaxOutputBytes: 32_000_000, Jobs: true, MaxJobs: 10, Wait: 30 * time.Minute},
		`{"timeout": "5s","max_timeout": "9s"}`: {Timeout: 5 * time.Second, MaxTimeout: 9 * time.Second, MaxOutputBytes: 32_000_000, Jobs: true, MaxJobs: 10, Wait: 30 * time.Minute},
		`{"wait": "0s", "max_jobs": 3}`:         {Timeout: time.Minute, MaxTimeout: 10 * time.Minute, MaxOutputBytes: 32_000_000, Jobs: true, MaxJobs: 3},
		`{"jobs": false, "max_jobs": 3}`:        {Timeout: time.Minute, MaxTimeout: 10 * time.Minute, MaxOutputBytes: 32_000_000, MaxJobs: 3, Wait: 30 * time.Minute},
	} {
		if got, err := shell.ParseConfig(json.RawMessage(config)); err != nil || got != want {
			t.Errorf("%s: %+v, %v", config, got, err)
		}
	}
}
