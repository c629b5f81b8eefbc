package shell_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/sdk/plugintest"
	"github.com/tureen-host/tureen/plugins/shell"
)

const (
	startedFirst = "started background job job-1\nYou will be told when it ends. Read its output with job_output, stop it with job_kill."
	untilGo      = "until [ -e go ]; do sleep 0.02; done; "
)

func TestT9_AJobRunsInTheBackground(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	c.says("job_list", args{}, "(no background jobs)")
	c.says("shell", args{"command": "echo one; echo two >&2; " + untilGo + "echo three; exit 3", "description": "Count  to\nthree", "run_in_background": true}, startedFirst)
	c.says("job_list", args{}, "job-1 [running] Count to three")
	printed := ""
	c.until("it has printed", func() bool {
		printed += c.ok("job_output", args{"id": "job-1", "wait": true, "timeout_ms": 1})
		return strings.Contains(printed, "one\n") && strings.Contains(printed, "two\n")
	})
	c.says("job_output", args{"id": "job-1"}, "(no new output)", "[status: running]")
	if w := c.waits(); w != "1 background job (Count to three)" {
		t.Errorf("waits for %q", w)
	}
	c.put("go", "")
	c.settled()
	c.told("Background job job-1 (Count to three) has ended [status: exit code: 3]. Read its output with job_output.")
	c.says("job_output", args{"id": "job-1"}, "three", "[status: exit code: 3]")
	c.says("job_output", args{"id": "job-1"}, "(no new output)", "[status: exit code: 3]")
	c.says("job_list", args{}, "job-1 [exit code: 3] Count to three")
	c.says("job_kill", args{"id": "job-1"}, "job job-1 had ended already [status: exit code: 3]")
	r := c.log.records(t)
	if len(r) != 3 || !r[1].Tell || r[2].Tell || r[2].Status != r[1].Status || !strings.HasPrefix(r[0].Command, "echo one; ") || r[0].Status != "" || r[0].Started.IsZero() || r[0].Ended != nil || r[1].Status != "exit code: 3" || *r[1].Exit != 3 || r[1].Ended == nil {
		t.Errorf("records %+v", r)
	}
	c.told("Background job job-1 ")
}

func TestT8_TimedOutCommandMovesToTheBackground(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	c.says("shell", args{"command": "echo started; echo problem >&2; " + untilGo + "echo the end", "timeoutMs": 4000},
		"started", "[stderr]", "problem", "[still running after 4000ms; moved to background job job-1]",
		"The command goes on, and you will be told when it ends. Read newer output with job_output, stop it with job_kill.")
	c.says("job_output", args{"id": "job-1"}, "(no new output)", "[status: running]")
	c.put("go", "")
	c.says("job_output", args{"id": "job-1", "wait": true}, "the end", "[status: exit code: 0]")
	c.settled()
	c.told() // it was collected
	if spec := c.tools.Specs()[0]; !strings.Contains(string(spec.Schema), "After this many milliseconds the command goes on as a background job. Default 60000, at most 600000.") {
		t.Errorf("schema %s", spec.Schema)
	}
}

func TestT8_WithoutJobsATimeoutKills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, host := range map[string]plugintest.Host{
		"jobs = false":         {Config: []byte(`{"jobs": false}`)},
		"session.steer denied": {Deny: []sdk.Capability{sdk.CapSessionSteer}},
		"records.write denied": {Deny: []sdk.Capability{sdk.CapRecordsWrite}},
	} {
		host.Sessions = []compaction.Session{{ID: "s", Workspace: dir, Access: &ledger{}}}
		p := plugintest.Run(t, shell.Plugin("test"), host)
		specs, err := p.Tools().Tools(t.Context(), "s")
		if err != nil || len(specs) != 1 || strings.Contains(string(specs[0].Schema), "background job") {
			t.Errorf("%s: %+v, %v", name, specs, err)
		}
		r, err := p.Tools().Call(t.Context(), tool.Call{Session: "s", Name: "shell", Arguments: []byte(`{"description":"x","command":"sleep 100","timeoutMs":100}`)}, nil)
		if err != nil || r.Text != "(no output)\n[timed out after 100ms]\n[killed by signal: SIGTERM]" {
			t.Errorf("%s: %q, %v", name, r.Text, err)
		}
		r, err = p.Tools().Call(t.Context(), tool.Call{Session: "s", Name: "shell", Arguments: []byte(`{"description":"x","command":"true","run_in_background":true}`)}, nil)
		if err != nil || r.Code != "NO_JOBS" {
			t.Errorf("%s: %q, %v", name, r.Text, err)
		}
	}
}

func TestT9_NoMoreJobsThanAllowed(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	for i := range 10 {
		if got := c.ok("shell", args{"command": "sleep 1000", "run_in_background": true}); !strings.HasPrefix(got, fmt.Sprintf("started background job job-%d\n", i+1)) {
			t.Fatal(got)
		}
	}
	const limit = "10 background jobs are running, as many as a session may have; stop one with job_kill (job_list shows them), or wait for one with job_output"
	c.refuses("shell", args{"command": "true", "run_in_background": true}, "JOB_LIMIT", limit)
	c.says("shell", args{"command": "sleep 100", "timeoutMs": 100}, "(no output)", "[timed out after 100ms]", "[it could not go on in the background: "+limit+"]", "[killed by signal: SIGTERM]")
	if w := c.waits(); w != "10 background jobs (Try something, Try something, Try something, Try something, Try something, …)" {
		t.Errorf("waits for %q", w)
	}
	c.says("job_kill", args{"id": "job-4"}, "stopped job job-4; what it printed can still be read with job_output")
	c.says("job_output", args{"id": "job-4"}, "(no new output)", "[status: stopped by job_kill]")
	if got := c.ok("shell", args{"command": "sleep 1000", "run_in_background": true}); !strings.HasPrefix(got, "started background job job-11\n") {
		t.Error(got)
	}
	c.told() // nobody needs to be told of what it has killed itself
}

func TestT9_AJobKeepsStartAndEnd(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{"max_output_bytes": 100000}`)
	c.ok("shell", args{"command": "yes 1234567 | head -c 400000; echo; echo the end", "run_in_background": true})
	c.settled()
	const lost = 400_009 - 100_000
	head := strings.Repeat("1234567\n", 50_000/8)
	if got, want := c.ok("job_output", args{"id": "job-1"}), head+fmt.Sprintf("[%d more bytes wait; call job_output again]\n[status: exit code: 0]", 350_009); got != want {
		t.Errorf("%d bytes, end %q", len(got), got[max(0, len(got)-90):])
	}
	got := c.ok("job_output", args{"id": "job-1"})
	first, rest, _ := strings.Cut(got, "\n")
	if want := fmt.Sprintf("[%d bytes before this were dropped]", lost); first != want {
		t.Errorf("%q, want %q", first, want)
	}
	if len(rest) != 50_000+len("[status: exit code: 0]") || !strings.HasSuffix(rest, "\nthe end\n[status: exit code: 0]") {
		t.Errorf("%d bytes, end %q", len(rest), rest[max(0, len(rest)-60):])
	}
	c.says("job_output", args{"id": "job-1"}, "(no new output)", "[status: exit code: 0]")
	c.told("Background job job-1 ")
}

// A job that nobody has looked at shows all it has printed, and so does a command that
// became one: what it printed before and, in its own result, after.
func TestW1_C153_AllOfAJobsOutputIsKept(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	numbers := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintln(&b, i+1)
		}
		return b.String()
	}
	c.ok("shell", args{"command": "seq 600000", "run_in_background": true})
	c.settled()
	if got := c.ok("job_output", args{"id": "job-1"}); got != numbers(600_000)+"[status: exit code: 0]" {
		t.Errorf("%d bytes, end %q", len(got), got[max(0, len(got)-60):])
	}
	got := c.ok("shell", args{"command": "seq 60000; until [ -e go ]; do sleep 0.02; done; seq 300000", "timeoutMs": 6000})
	if !strings.HasPrefix(got, numbers(60_000)+"[still running after ") {
		t.Errorf("%d bytes, end %q", len(got), got[max(0, len(got)-260):])
	}
	c.put("go", "")
	if got := c.ok("job_output", args{"id": "job-2", "wait": true}); got != numbers(300_000)+"[status: exit code: 0]" {
		t.Errorf("%d bytes, start %.60q, end %q", len(got), got, got[max(0, len(got)-60):])
	}
}

// What is read while the job goes on is not lost to what comes later.
func TestT9_LongOutputComesInParts(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{"max_output_bytes": 1001}`)
	c.ok("shell", args{"command": "for i in 1 2 3 4; do yes äöü | head -n 70; until [ -e go$i ]; do sleep 0.02; done; done", "run_in_background": true}) // 7 bytes a line
	all := ""
	for i := 1; i <= 4; i++ {
		c.until("the next part", func() bool {
			text, _ := strings.CutSuffix(c.ok("job_output", args{"id": "job-1"}), "\n[status: running]")
			if text != "(no new output)" {
				all += strings.ReplaceAll(text, "\n", "")
			}
			return len(all) >= i*70*6
		})
		c.put(fmt.Sprintf("go%d", i), "")
	}
	c.settled()
	if all != strings.Repeat("äöü", 280) {
		t.Errorf("%q", all)
	}
}

func TestT9_EndedJobsAreKeptForAWhile(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	for range 22 {
		c.ok("shell", args{"command": "true", "run_in_background": true})
		c.settled()
	}
	list := strings.Split(c.ok("job_list", args{}), "\n")
	if len(list) != 21 || !strings.HasPrefix(list[0], "job-2 ") || !strings.HasPrefix(list[20], "job-22 ") { // 20, and one since
		t.Errorf("%d jobs: %q", len(list), list)
	}
	c.refuses("job_output", args{"id": "job-1"}, "UNKNOWN_JOB", `there is no background job "job-1"; job_list shows those there are`)
	c.refuses("job_kill", args{"id": ""}, "UNKNOWN_JOB", `there is no background job ""`)
}

func TestT9_ArgumentsThatDoNotFit(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	c.refuses("shell", args{"command": "true", "outlive_session": true}, "INVALID_ARGUMENTS", "invalid arguments: outlive_session goes with run_in_background")
	c.refuses("shell", args{"command": "true", "file_policy": "full"}, "INVALID_ARGUMENTS", "invalid arguments: file_policy needs a justification")
	c.refuses("shell", args{"command": "true", "file_policy": "read-only", "justification": "x"}, "INVALID_ARGUMENTS", "invalid arguments: ")
	c.refuses("shell", args{"command": "true", "workdir": "none", "run_in_background": true}, "NOT_FOUND", `cannot run in "none"`)
	c.refuses("shell", args{"command": "a\x00b", "run_in_background": true}, "START_FAILED", "cannot start ")
	c.refuses("job_output", args{"id": "job-1", "timeout_ms": 600_001}, "INVALID_ARGUMENTS", "invalid arguments: ")
	if w := c.waits(); w != "" {
		t.Errorf("waits for %q", w)
	}
	c.says("job_list", args{}, "(no background jobs)")
	if r := c.log.records(t); len(r) != 2 || r[1].Status != "not started" {
		t.Errorf("records %+v", r)
	}
}

func TestT9_AJobEndsWithWhatItHasStarted(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	c.ok("shell", args{"command": "sleep 1000 & echo $! > left; exit 0", "run_in_background": true})
	c.settled()
	c.gone(c.pids("left", 1)[0])
	c.ok("shell", args{"command": "sleep 1000 | sleep 1001 & echo $$ $(jobs -p) $! > killed; wait", "run_in_background": true})
	pids := c.pids("killed", 3)
	c.ok("job_kill", args{"id": "job-2"})
	for _, pid := range pids {
		c.gone(pid)
	}
	c.told("Background job job-1 ")
}

// The session is opened again when its directory changes, and its jobs go on.
func TestT9_JobsStayWhenTheSessionIsOpenedAgain(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	c.ok("shell", args{"command": untilGo + "pwd", "run_in_background": true})
	if err := os.Mkdir(filepath.Join(c.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := c.host.Sessions[0]
	s.Directory = filepath.Join(c.dir, "sub")
	if err := c.running.OpenSession(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	c.says("shell", args{"command": "pwd"}, s.Directory)
	c.put("go", "")
	c.says("job_output", args{"id": "job-1", "wait": true}, c.dir, "[status: exit code: 0]")
}

func TestT9_TheEndOfTheSessionEndsItsJobs(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	c.ok("shell", args{"command": "sleep 1000 & echo $! $$ > pids; wait", "run_in_background": true})
	outliving := c.ok("shell", args{"command": "echo hello; echo $$ > survivor; exec sleep 1000", "run_in_background": true, "outlive_session": true})
	pids, survivor := c.pids("pids", 2), c.pids("survivor", 1)[0]
	t.Cleanup(func() { syscall.Kill(survivor, syscall.SIGKILL) })
	found := regexp.MustCompile(`It goes on when the session ends: process (\d+), output in (/\S+)\.\n`).FindStringSubmatch(outliving)
	if found == nil || found[1] != strconv.Itoa(survivor) {
		t.Fatalf("%q, process %d", outliving, survivor)
	}
	t.Cleanup(func() { os.Remove(found[2]) })
	c.until("it has printed", func() bool { return c.ok("job_output", args{"id": "job-2"}) == "hello\n[status: running]" })
	if w := c.waits(); w != "1 background job (Try something)" {
		t.Errorf("a run waits for %q; one that outlives the session keeps nobody waiting", w)
	}
	if err := c.running.CloseSession(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		c.gone(pid)
	}
	if err := syscall.Kill(survivor, 0); err != nil {
		t.Errorf("the outliving job is gone: %v", err)
	}
	c.told()
	info, err := os.Stat(found[2])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of its output: %v, %v", info, err)
	}
	if r := c.log.records(t); len(r) != 3 || r[2].ID != "job-1" || r[2].Status != "stopped: the session ended" || r[2].Ended == nil || !r[2].Tell {
		t.Errorf("records %+v", r)
	}
	// The next process wakes the model for the second alone, and does not claim that it
	// was killed. That the first was stopped in order the next step is told, once.
	again := reopen(t, `{}`, c.dir, c.log)
	again.settled()
	again.told("Background job job-2 (Try something) was started to go on by itself")
	if texts := c.log.notices(t); !strings.Contains(texts[0], found[2]) {
		t.Errorf("the notice does not name the file: %q", texts[0])
	}
	const stopped = "Background job job-1 (Try something) still ran when the session was closed, and was stopped with it."
	if got := again.step(1, 1); len(got) != 1 || !strings.HasPrefix(got[0], stopped) {
		t.Errorf("the step is told %q", got)
	}
	again.refuses("job_output", args{"id": "job-1"}, "JOB_GONE", "job job-1 belonged to an earlier process of the plugin, and its output is gone with it [status: stopped: the session ended]")
	for range 2 {
		if got := again.step(1, 2); len(got) != 0 {
			t.Errorf("another step is told %q", got)
		}
		again = reopen(t, `{}`, c.dir, c.log)
	}
}

func TestT9_AnOutlivingJobCanBeKilled(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	started := c.ok("shell", args{"command": "sleep 1000 & echo $$ $! > pids; wait", "run_in_background": true, "outlive_session": true})
	t.Cleanup(func() {
		os.Remove(strings.TrimSuffix(strings.Fields(started[strings.Index(started, "output in "):])[2], "."))
	})
	pids := c.pids("pids", 2)
	c.ok("job_kill", args{"id": "job-1"})
	for _, pid := range pids {
		c.gone(pid)
	}
}

func TestT9_AWaitEndsWithItsCall(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	c.ok("shell", args{"command": untilGo, "run_in_background": true})
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan tool.Result)
	go func() {
		r, err := c.running.Tools().Call(ctx, tool.Call{Session: "s", Name: "job_output", Arguments: []byte(`{"id":"job-1","wait":true,"timeout_ms":600000}`)}, nil)
		if err == nil {
			t.Errorf("the call went on: %+v", r)
		}
		result <- r
	}()
	time.Sleep(50 * time.Millisecond)
	cancel()
	<-result
	// A wait that came to nothing does not swallow the notice.
	time.Sleep(50 * time.Millisecond)
	c.put("go", "")
	c.settled()
	c.told("Background job job-1 ")
}

// Two calls wait for the same job: both see its end, and nobody is told again.
func TestC097_TheEndIsToldOnceHoweverManyWait(t *testing.T) {
	t.Parallel()
	c := jobs(t, `{}`)
	c.ok("shell", args{"command": untilGo, "run_in_background": true})
	results := make(chan string)
	for range 4 {
		go func() {
			results <- c.use(t.Context(), "job_output", session.Confinement{}, args{"id": "job-1", "wait": true}).Text
		}()
	}
	time.Sleep(50 * time.Millisecond)
	c.put("go", "")
	for range 4 {
		if text := <-results; text != "(no new output)\n[status: exit code: 0]" {
			t.Error(text)
		}
	}
	c.settled()
	c.told()
	if r := c.log.records(t); len(r) != 2 || r[1].Tell {
		t.Errorf("records %+v", r)
	}
}
