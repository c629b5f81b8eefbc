package shell

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/tool"
	"github.com/tureen-host/tureen/plugins/internal/toolcall"
	"github.com/tureen-host/tureen/plugins/sdk"
)

var (
	// schema has places for what a timeout does, for the limits in milliseconds, and
	// for the arguments that jobs add.
	//go:embed shell.json
	schema string
	//go:embed shell_jobs.json
	jobArguments string
	//go:embed job_output.json
	jobOutputSchema []byte
	//go:embed job_list.json
	jobListSchema []byte
	//go:embed job_kill.json
	jobKillSchema []byte
)

// grace is the time between SIGTERM and SIGKILL (T8).
const grace = 3 * time.Second

// Provider is the plugin's tool.Provider and sdk.Sessions. It is safe for
// concurrent use by several sessions.
type Provider struct {
	toolcall.Workspaces
	config  Config
	program string // bash, or sh where there is none
	host    sdk.Host
	logger  *slog.Logger
	// restarted tells that an earlier process of the plugin may have had jobs.
	restarted bool

	running  sync.WaitGroup // calls and jobs
	stopping context.Context
	stop     context.CancelFunc
	private  private

	mu     sync.Mutex
	boards map[string]*board // jobs by session
	nested map[string]bool   // sessions of subagents: nobody is asked there
}

// New makes a Provider without sessions. It looks for bash, then for sh. It has no
// host to tell anything, and so no jobs until it is given one.
func New(config Config) (*Provider, error) {
	for _, name := range []string{"bash", "sh"} {
		program, err := exec.LookPath(name)
		if err == nil {
			program, err = filepath.Abs(program)
		}
		if err == nil {
			p := &Provider{config: config, program: program, boards: map[string]*board{}, nested: map[string]bool{}, logger: slog.New(slog.DiscardHandler)}
			p.stopping, p.stop = context.WithCancel(context.Background())
			return p, nil
		}
	}
	return nil, fmt.Errorf("plugin %q found neither bash nor sh in PATH; install one or take the plugin out of the profile", Name)
}

// Name is the plugin's name.
func (p *Provider) Name() string { return Name }

// jobs tells whether there are background jobs.
func (p *Provider) jobs() bool { return p.config.Jobs && p.host != nil }

// Open takes note of a session. Its jobs stay where it is open already; those of an
// earlier process are looked for where it is not.
func (p *Provider) Open(ctx context.Context, s compaction.Session) error {
	if err := p.Workspaces.Open(ctx, s); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.nested[s.ID] = s.Parent != ""
	if !p.jobs() {
		return nil
	}
	if p.boards[s.ID] == nil && p.stopping.Err() == nil {
		b := newBoard(p, s.ID)
		p.boards[s.ID] = b
		if !s.Resumed && !p.restarted {
			close(b.ready) // nothing was here before
			return nil
		}
		p.running.Go(b.recall)
	}
	return nil
}

// Close ends what runs for a session and forgets it.
func (p *Provider) Close(ctx context.Context, id string) {
	p.Workspaces.Close(ctx, id)
	p.mu.Lock()
	b := p.boards[id]
	delete(p.boards, id)
	delete(p.nested, id)
	p.mu.Unlock()
	if b != nil {
		b.close()
	}
}

// Stop ends all commands and waits until their processes are gone, those excepted
// that are to outlive the session.
func (p *Provider) Stop() {
	p.stop()
	p.running.Wait()
	p.private.remove()
}

// board returns the jobs of a session, nil where there can be none.
func (p *Provider) board(session string) *board {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.boards[session]
}

// isNested tells whether a session is a subagent's.
func (p *Provider) isNested(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.nested[session]
}

// Tools lists the tools. Their texts name the limits of the config, which stay the
// same as long as the process lives.
func (p *Provider) Tools(context.Context, string) ([]tool.Spec, error) {
	onTimeout, more := "Stop the command after this many milliseconds.", ""
	background := "Whatever the command leaves running in the background is stopped when it ends"
	if p.jobs() {
		onTimeout, more = "After this many milliseconds the command goes on as a background job.", fmt.Sprintf(jobArguments, p.waitText())
		background += "; what is to go on by itself is started with run_in_background"
	}
	shell := tool.Spec{
		Name: Name,
		Description: "Run a command line with " + filepath.Base(p.program) + " -c, in a new shell each time, and get what it printed. To work in another directory give workdir instead of cd. " +
			fmt.Sprintf("Of output over %d bytes a stream only start and end are kept. ", p.config.MaxOutputBytes) +
			"There is no terminal and no input. " + background + ". " +
			"Put description before command in the arguments. Before you delete or move anything, be sure which absolute path is meant, " +
			"and write ${VAR:?} for variables in such paths: an unset one would otherwise vanish silently.",
		Schema: fmt.Appendf(nil, schema, onTimeout, p.config.Timeout.Milliseconds(), p.config.MaxTimeout.Milliseconds(), more),
		// The command's own limit comes first; this one is for a stuck plugin.
		Timeout:       p.config.MaxTimeout + grace + 10*time.Second,
		Guidance:      "After each shell command look for a line [exit code: N]: it means that the command failed. Find out why before you go on.",
		GuidanceOrder: 1100,
	}
	if !p.jobs() {
		return []tool.Spec{shell}, nil
	}
	return append([]tool.Spec{shell}, jobTools()...), nil
}

// Call runs a tool.
func (p *Provider) Call(ctx context.Context, call tool.Call, progress func(string)) (tool.Result, error) {
	p.running.Add(1)
	defer p.running.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.stopping, cancel)()
	b := p.board(call.Session)
	switch {
	case call.Name == Name:
		return run(ctx, call, func(ctx context.Context, call tool.Call, args shellArgs) (string, int64, error) {
			return p.shell(ctx, call, args, progress)
		}), nil
	case !p.jobs() || b == nil:
	case call.Name == "job_output":
		return run(ctx, call, b.output), nil
	case call.Name == "job_list":
		return toolcall.Run(ctx, call, b.list), nil
	case call.Name == "job_kill":
		return toolcall.Run(ctx, call, b.kill), nil
	}
	return tool.Result{}, fmt.Errorf("plugin %q has no tool %q, or session %q is not open in it", Name, call.Name, call.Session)
}

// run is toolcall.Run for a body that also says how many bytes its text lacks.
func run[A any](ctx context.Context, call tool.Call, body func(context.Context, tool.Call, A) (string, int64, error)) tool.Result {
	var lost int64
	r := toolcall.Run(ctx, call, func(ctx context.Context, call tool.Call, args A) (text string, err error) {
		text, lost, err = body(ctx, call, args)
		return text, err
	})
	r.LeftOut = lost
	return r
}
