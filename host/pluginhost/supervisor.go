// Package pluginhost keeps plugin processes: it starts them, hands out clients
// that outlive a crash, and leaves nothing behind. Supervisor owns them all,
// Instance is one plugin over its generations, generation one process.
package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"github.com/tureen-host/tureen/host/session"
)

// Options are the host's side of every plugin.
type Options struct {
	HostVersion string
	NotesHome   string // absolute path, handed to plugins
	// NotesProject is what the user calls the project of the notes, "" = find out.
	NotesProject string
	Logger       *slog.Logger
	// Access lends a plugin a session; it is asked for sessions that are open in
	// the plugin only. A failure that is session.ErrNotFound says so to the plugin.
	Access func(plugin, session string) (session.Access, error)
	// OnState hears of started, crashed and disabled processes. It is called from
	// one goroutine per plugin and must not call the Supervisor.
	OnState   func(session.PluginState)
	Deadlines Deadlines
	// Env is the host's environment, nil = os.Environ(). Plugins get little of it.
	Env []string
	// SecretEnv names the variables that hold keys; no plugin ever gets one (M25).
	SecretEnv []string
}

// Supervisor owns plugin processes. It is safe for concurrent use.
type Supervisor struct {
	opts Options
	life context.Context // until Close
	end  context.CancelFunc

	mu        sync.Mutex
	root      *rootDir
	instances []*Instance
	count     int // instances ever made
	closed    bool
}

// New makes a Supervisor without processes.
func New(o Options) *Supervisor {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnState == nil {
		o.OnState = func(session.PluginState) {}
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	o.Deadlines = o.Deadlines.withDefaults()
	life, end := context.WithCancel(context.Background())
	return &Supervisor{opts: o, life: life, end: end}
}

// Start starts all specs side by side and returns the instances in their order.
// Where one fails, all of this call are stopped, and the error names every one
// that failed.
func (s *Supervisor) Start(ctx context.Context, specs ...Spec) ([]*Instance, error) {
	instances := make([]*Instance, len(specs))
	problems := make([]error, len(specs))
	var starts sync.WaitGroup
	for n, spec := range specs {
		starts.Go(func() { instances[n], problems[n] = s.start(ctx, spec) })
	}
	starts.Wait()
	if err := errors.Join(append(problems, twice(instances))...); err != nil {
		s.stop(ctx, instances)
		return nil, err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.stop(ctx, instances)
		return nil, errClosed
	}
	s.instances = append(s.instances, instances...)
	s.mu.Unlock()
	return instances, nil
}

var errClosed = errors.New("the plugins of this host are stopped already")

func (s *Supervisor) start(ctx context.Context, spec Spec) (*Instance, error) {
	i, err := s.newInstance(spec)
	if err != nil {
		return nil, err
	}
	g, err := i.startGeneration(ctx, 1)
	if err != nil {
		return nil, err
	}
	i.adopt(g)
	go i.keep()
	return i, nil
}

func (s *Supervisor) newInstance(spec Spec) (*Instance, error) {
	if err := spec.check(s.opts.SecretEnv); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errClosed
	}
	if s.root == nil {
		root, err := newRoot(socketBases(s.opts.Env))
		if err != nil {
			return nil, err
		}
		s.root = root
	}
	s.count++
	return newInstance(s, spec, s.count), nil
}

// twice finds plugins that call themselves the same.
func twice(instances []*Instance) error {
	seen := map[string]*Instance{}
	for _, i := range instances {
		if i == nil {
			continue
		}
		if other := seen[i.info.Name]; other != nil {
			return fmt.Errorf("%s and %s are both named %q: keep one of them", other.spec.label(), i.spec.label(), i.info.Name)
		}
		seen[i.info.Name] = i
	}
	return nil
}

// Inspect starts a plugin with neither secrets nor grants, asks what it is and,
// where its config is good and it can say so outside of a session, which tools
// it has, and stops it. Info is filled as far as it came also with an error.
func (s *Supervisor) Inspect(ctx context.Context, spec Spec) (Info, error) {
	spec.Secrets, spec.inspect = nil, true
	i, err := s.newInstance(spec)
	if err != nil {
		return Info{}, err
	}
	g, err := i.startGeneration(ctx, 1)
	if err != nil {
		return i.info, err
	}
	i.adopt(g)
	go i.keep()
	defer i.close(ctx)
	if tools := i.Tools(); tools != nil {
		if specs, err := tools.Tools(ctx, ""); err == nil {
			i.info.Tools = specs
		}
	}
	return i.info, nil
}

// Close stops every process, politely, then by force, and removes what the
// Supervisor made on disk. It takes a bounded time, less where ctx ends.
func (s *Supervisor) Close(ctx context.Context) error {
	s.mu.Lock()
	instances, root := s.instances, s.root
	s.instances, s.root, s.closed = nil, nil, true
	s.mu.Unlock()
	s.end()
	s.stop(ctx, instances)
	if root == nil {
		return nil
	}
	return root.remove()
}

func (s *Supervisor) stop(ctx context.Context, instances []*Instance) {
	var stops sync.WaitGroup
	for _, i := range instances {
		if i != nil {
			stops.Go(func() { i.close(ctx) })
		}
	}
	stops.Wait()
}
