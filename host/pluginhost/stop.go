package pluginhost

import (
	"context"
	"syscall"
	"time"

	"google.golang.org/protobuf/types/known/emptypb"
)

// stop ends a process in order: Drain, Shutdown, the end of stdin, SIGTERM,
// SIGKILL. Each rung has its own deadline; where ctx ends the rest is skipped
// down to SIGKILL. Nothing is left when it returns.
func (g *generation) stop(ctx context.Context) {
	d := g.inst.deadlines()
	if !g.gone() && ctx.Err() == nil {
		g.api.ShuttingDown(d.Drain + d.Shutdown)
		drain, cancel := context.WithTimeout(ctx, d.Drain)
		_ = g.remote.Drain(drain, d.Drain) // what it says changes nothing
		cancel()
		shutdown, cancel := context.WithTimeout(ctx, d.Shutdown)
		_ = g.conn.Invoke(shutdown, "/plugin.GRPCController/Shutdown", &emptypb.Empty{}, &emptypb.Empty{})
		g.proc.closeStdin()
		g.ends(shutdown, d.Shutdown)
		cancel()
	}
	if !g.gone() {
		g.proc.signal(syscall.SIGTERM)
		g.ends(ctx, d.Term)
	}
	g.kill("")
	g.release()
}

// kill ends the whole group at once and waits, for a bounded time, until it is
// over. A cause says why to whoever meets the end of the process.
func (g *generation) kill(cause string) {
	g.mu.Lock()
	proc := g.proc
	if cause != "" && g.cause == "" {
		g.cause = cause
	}
	g.mu.Unlock()
	if proc == nil {
		return
	}
	proc.signal(syscall.SIGKILL)
	g.ends(context.Background(), g.inst.deadlines().Kill)
}

// ends waits for the end of the process, at most for limit and for ctx.
func (g *generation) ends(ctx context.Context, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-g.proc.exited:
	case <-timer.C:
	case <-ctx.Done():
	}
}
