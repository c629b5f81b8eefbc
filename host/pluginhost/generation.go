package pluginhost

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/tureen-host/tureen/plugins/sdk"
)

// generation is one process of a plugin, from exec to the removed directory. It
// is also the connection to it: every call gets its deadline, its invocation
// and, where the process is gone, an error that says so.
type generation struct {
	inst   *Instance
	number int
	dir    string
	root   *rootDir // that dir lies in
	log    *limitedLog
	proc   *process
	client *goplugin.Client
	conn   *grpc.ClientConn
	remote *sdk.Remote
	api    *sdk.HostServer
	info   sdk.Info

	calls atomic.Int32  // under way
	kept  atomic.Bool   // the current one, or one that was
	told  chan struct{} // closed when its crash was reported
	mu    sync.Mutex
	cause string // why we killed it, "" = it ended by itself
	once  sync.Once
}

// startGeneration brings a process up to READY: handshake, GetInfo, config,
// Initialize, Attach. Where it fails nothing is left.
func (i *Instance) startGeneration(ctx context.Context, number int) (*generation, error) {
	root, dir, err := i.sup.newDir(i.number, number)
	if err != nil {
		return nil, err
	}
	g := &generation{inst: i, number: number, dir: dir, root: root, told: make(chan struct{})}
	if err := g.start(ctx); err != nil {
		err = g.explain(err)
		g.kill("")
		g.release()
		return nil, err
	}
	return g, nil
}

func (g *generation) start(ctx context.Context) error {
	token, err := newToken()
	if err != nil {
		return err
	}
	g.log = newLimitedLog(g.inst.sup.opts.Logger.With("plugin", g.inst.spec.Name, "generation", g.number), g.secrets(token))
	if err := g.handshake(ctx); err != nil {
		return err
	}
	g.remote = sdk.NewRemote(g, g.inst.spec.Name)
	if g.info, err = g.remote.GetInfo(ctx); err != nil {
		return err
	}
	if err := g.inst.recognise(g.info); err != nil {
		return err
	}
	config, err := checkConfig(g.inst.spec, g.info)
	if err != nil {
		return err
	}
	return g.initialise(ctx, token, config)
}

// gone tells whether the process has ended.
func (g *generation) gone() bool {
	select {
	case <-g.proc.exited:
		return true
	default:
		return false
	}
}

// ending is how it ended: our reason, the exit status, the last word on stderr.
func (g *generation) ending() string {
	g.mu.Lock()
	text := g.cause
	g.mu.Unlock()
	if text != "" {
		text += "; "
	}
	text += g.proc.outcome()
	if lines := g.proc.err.last(); len(lines) > 0 {
		text += ": " + lines[len(lines)-1]
	}
	return text
}

// secrets are what must not stand in a log.
func (g *generation) secrets(token string) []string {
	secrets := []string{token}
	for _, value := range g.inst.spec.Secrets {
		secrets = append(secrets, value)
	}
	return secrets
}

func newToken() (string, error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}

func (s *Supervisor) newDir(instance, number int) (*rootDir, string, error) {
	s.mu.Lock()
	root := s.root
	s.mu.Unlock()
	if root == nil {
		return nil, "", errClosed
	}
	dir, err := root.generation(instance, number)
	return root, dir, err
}

// release gives back what the host holds of an ended process.
func (g *generation) release() {
	g.once.Do(func() {
		if g.api != nil {
			g.api.Stop()
		}
		if g.client != nil {
			done := make(chan struct{})
			go func() { g.client.Kill(); close(done) }() // has no deadline of its own
			select {
			case <-done:
			case <-time.After(g.inst.deadlines().Kill):
			}
		}
		if err := g.root.drop(g.dir); err != nil {
			g.inst.sup.opts.Logger.Warn("a plugin's directory stays", "dir", g.dir, "error", err)
		}
	})
}
