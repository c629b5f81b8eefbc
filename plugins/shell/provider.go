package shell

import (
	"context"
	_ "embed"
	"fmt"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
)

// schema has two places for the limits in milliseconds.
//
//go:embed shell.json
var schema string

// grace is the time between SIGTERM and SIGKILL (T8).
const grace = 3 * time.Second

// Provider is the plugin's tool.Provider and sdk.Sessions. It is safe for
// concurrent use by several sessions.
type Provider struct {
	toolcall.Workspaces
	config  Config
	program string // bash, or sh where there is none

	running  sync.WaitGroup
	stopping context.Context
	stop     context.CancelFunc
}

// New makes a Provider without sessions. It looks for bash, then for sh.
func New(config Config) (*Provider, error) {
	for _, name := range []string{"bash", "sh"} {
		if program, err := exec.LookPath(name); err == nil {
			p := &Provider{config: config, program: program}
			p.stopping, p.stop = context.WithCancel(context.Background())
			return p, nil
		}
	}
	return nil, fmt.Errorf("plugin %q found neither bash nor sh in PATH; install one or take the plugin out of the profile", Name)
}

// Name is the plugin's name.
func (p *Provider) Name() string { return Name }

// Stop ends all commands and waits until their processes are gone.
func (p *Provider) Stop() {
	p.stop()
	p.running.Wait()
}

// Tools lists the one tool. Its texts name the limits of the config, which stay
// the same as long as the process lives.
func (p *Provider) Tools(context.Context, string) ([]tool.Spec, error) {
	return []tool.Spec{{
		Name: Name,
		Description: "Run a command line with " + filepath.Base(p.program) + " -c, in a new shell each time, and get what it printed. To work in another directory give workdir instead of cd. " +
			fmt.Sprintf("Of long output only the end is kept (%d bytes of each stream). ", p.config.MaxOutputBytes) +
			"There is no terminal and no input. Whatever the command leaves running in the background is stopped when it ends. " +
			"Put description before command in the arguments. Before you delete or move anything, be sure which absolute path is meant, " +
			"and write ${VAR:?} for variables in such paths: an unset one would otherwise vanish silently.",
		Schema: fmt.Appendf(nil, schema, p.config.Timeout.Milliseconds(), p.config.MaxTimeout.Milliseconds()),
		// The command's own limit comes first; this one is for a stuck plugin.
		Timeout:       p.config.MaxTimeout + grace + 10*time.Second,
		Guidance:      "After each shell command look for a line [exit code: N]: it means that the command failed. Find out why before you go on.",
		GuidanceOrder: 1100,
	}}, nil
}

// Call runs the tool.
func (p *Provider) Call(ctx context.Context, call tool.Call, progress func(string)) (tool.Result, error) {
	if call.Name != Name {
		return tool.Result{}, fmt.Errorf("plugin %q has no tool %q", Name, call.Name)
	}
	p.running.Add(1)
	defer p.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.stopping, cancel)()
	return toolcall.Run(ctx, call, func(ctx context.Context, call tool.Call, args shellArgs) (string, error) {
		return p.shell(ctx, call, args, progress)
	}), nil
}
