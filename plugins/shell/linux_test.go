package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/sdk"
	"github.com/tureen-host/tureen/plugins/shell"
)

// TestMain makes the test binary a plugin process that runs one command, or jobs.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SHELL_TEST_RUN_IN"); dir != "" {
		run := runForever
		switch {
		case os.Getenv("SHELL_TEST_JOBS") != "":
			run = runJobs
		case os.Getenv("SHELL_TEST_STRAYS") != "":
			run = runStrays
		}
		if err := run(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func runForever(dir string) error {
	p, err := shell.New(shell.DefaultConfig())
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := p.Open(ctx, compaction.Session{ID: "s", Workspace: dir}); err != nil {
		return err
	}
	arguments := json.RawMessage(`{"description": "Wait", "command": "echo $$ > pid; sleep 1000 & echo $! > child; wait"}`)
	_, err = p.Call(ctx, tool.Call{Session: "s", Name: "shell", Arguments: arguments}, nil)
	return err
}

// lender is a host that lends one log.
type lender struct{ log *ledger }

func (l lender) Session(string) session.Access { return l.log }

// runJobs starts a job, one that outlives the session and a command under read-only.
func runJobs(dir string) error {
	ctx := context.Background()
	plugin := shell.Plugin("test")
	services, err := plugin.Start(ctx, sdk.Init{Config: json.RawMessage(`{}`), Host: lender{&ledger{}}, Granted: plugin.Capabilities})
	if err == nil {
		err = services.Sessions.Open(ctx, compaction.Session{ID: "s", Workspace: dir})
	}
	for _, call := range []tool.Call{
		{Arguments: json.RawMessage(`{"description": "Wait", "run_in_background": true, "command": "sleep 1000 & echo $$ $! > job; wait"}`)},
		{Arguments: json.RawMessage(`{"description": "Wait", "run_in_background": true, "outlive_session": true, "command": "sleep 1000 & echo $$ $! > survivors; readlink /proc/$$/fd/1 > output; wait"}`)},
		{Arguments: json.RawMessage(`{"description": "Try", "command": "until [ -e survivors ]; do sleep 0.01; done; echo $TMPDIR > $TMPDIR/file; cat $TMPDIR/file"}`), Confinement: session.Confinement{Files: session.FilesReadOnly}},
	} {
		if err != nil {
			return err
		}
		var r tool.Result
		call.Session, call.Name = "s", "shell"
		if r, err = services.Tools.Call(ctx, call, nil); call.Confinement.Files != "" {
			err = os.WriteFile(filepath.Join(dir, "private"), []byte(r.Text+"\n"), 0o600)
		}
	}
	select {}
}

// hide is a process that is in no group of ours and carries no mark.
const hide = "env -i setsid sleep 1000 > /dev/null 2>&1 & "

// runStrays runs commands that hide processes, and writes a file after each.
func runStrays(dir string) error {
	ctx := context.Background()
	plugin := shell.Plugin("test")
	services, err := plugin.Start(ctx, sdk.Init{Config: json.RawMessage(`{}`), Host: lender{&ledger{}}, Granted: plugin.Capabilities})
	if err == nil {
		err = services.Sessions.Open(ctx, compaction.Session{ID: "s", Workspace: dir})
	}
	if err != nil {
		return err
	}
	call := func(arguments string, progress func(string)) string {
		r, err := services.Tools.Call(ctx, tool.Call{Session: "s", Name: "shell", Arguments: json.RawMessage(arguments)}, progress)
		if err != nil {
			return err.Error()
		}
		return r.Text
	}
	note := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	note("after1", call(`{"description": "Hide", "command": "`+hide+`echo $! > stray1; (setsid sh -c 'sleep 1000 & sleep 1001' & echo $! > stray2) >/dev/null 2>&1"}`, nil))
	if os.Getenv("SHELL_TEST_STRAYS") == "killed" {
		call(`{"description": "Hide", "command": "`+hide+`echo $! > stray3; echo told; sleep 1000"}`, func(text string) { note("told", text) })
	}
	call(`{"description": "Keep", "run_in_background": true, "outlive_session": true, "command": "setsid sleep 1000 > /dev/null 2>&1 & echo $! $(readlink /proc/$$/fd/1) > kept"}`, nil)
	note("after2", call(`{"description": "Wait", "command": "until [ -s kept ]; do sleep 0.01; done; setsid sleep 1000 > /dev/null 2>&1 & echo $! > stray4; sleep 0.1"}`, nil))
	services.Close()
	note("closed", "yes")
	select {}
}

// TestT9_JobsDieWithAKilledPlugin: with all that they have started, unless they were
// to outlive it; and the private directory goes too.
func TestT9_JobsDieWithAKilledPlugin(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	plugin := exec.Command("/proc/self/exe")
	plugin.Env = append(os.Environ(), "SHELL_TEST_RUN_IN="+b.dir, "SHELL_TEST_JOBS=1")
	plugin.Stderr = os.Stderr
	if err := plugin.Start(); err != nil {
		t.Fatal(err)
	}
	pids, survivors := b.pids("job", 2), b.pids("survivors", 2)
	b.pids("private", 1)
	t.Cleanup(func() { syscall.Kill(-survivors[0], syscall.SIGKILL) })
	private, err := os.ReadFile(filepath.Join(b.dir, "private"))
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(private))
	if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
		t.Fatalf("the private directory is not there: %v", err)
	}
	if err := plugin.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	plugin.Wait()
	for _, pid := range pids {
		b.gone(pid)
	}
	for range 12_000 {
		if _, err = os.Stat(dir); err != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err == nil {
		t.Errorf("%s is still there", dir)
	}
	for _, pid := range survivors {
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("process %d, which was to outlive the plugin: %v", pid, err)
		}
	}
	output, err := os.ReadFile(filepath.Join(b.dir, "output"))
	if err == nil {
		err = os.Remove(strings.TrimSpace(string(output)))
	}
	if err != nil {
		t.Error(err)
	}
}

// TestT8_ACommandDiesWithAKilledPlugin: so does what it left in the background.
func TestT8_ACommandDiesWithAKilledPlugin(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plugin := exec.Command(self)
	plugin.Env = append(os.Environ(), "SHELL_TEST_RUN_IN="+b.dir)
	plugin.Stderr = os.Stderr
	if err := plugin.Start(); err != nil {
		t.Fatal(err)
	}
	pid, child := b.pids("pid", 1)[0], b.pids("child", 1)[0]
	if err := plugin.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	plugin.Wait()
	b.gone(pid)
	b.gone(child)
}

func TestT7_ShellHasNoTerminal(t *testing.T) {
	t.Parallel()
	b := setup(t, `{}`)
	// The shell leads a session of its own; that has no terminal to ask at.
	b.gives(args{"command": `read -r pid _ _ _ group session terminal _ < /proc/$$/stat; [ $pid = $group ] && [ $pid = $session ] && echo $terminal`}, "0")
}
