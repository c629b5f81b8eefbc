package shell_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/shell"
)

// TestMain makes the test binary a plugin process that runs one command.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SHELL_TEST_RUN_IN"); dir != "" {
		if err := runForever(dir); err != nil {
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
