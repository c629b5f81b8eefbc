package pluginhost

import (
	"context"
	"log/slog"
	"path"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tureen-host/tureen/plugins/sdk"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// link is the connection that the handed-out clients hold: it follows the
// plugin from one generation to the next.
type link struct{ inst *Instance }

// repeatable are the calls that are made once more where the process ended
// meanwhile; they read or decide, and do nothing twice.
var repeatable = map[string]bool{
	pluginv1.Tools_ListTools_FullMethodName:     true,
	pluginv1.Prompt_GetSections_FullMethodName:  true,
	pluginv1.Prompt_GetContexts_FullMethodName:  true,
	pluginv1.Hooks_BeforeStep_FullMethodName:    true,
	pluginv1.Hooks_BeforeTool_FullMethodName:    true,
	pluginv1.Hooks_AfterTool_FullMethodName:     true,
	pluginv1.Hooks_TurnStopping_FullMethodName:  true,
	pluginv1.Hooks_RequestFailed_FullMethodName: true,
}

func (l link) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	g, err := l.inst.ready(ctx)
	if err != nil {
		return err
	}
	err = g.Invoke(ctx, method, args, reply, opts...)
	if !repeatable[method] || !isExited(err) || ctx.Err() != nil {
		return err
	}
	g, notReady := l.inst.ready(ctx)
	if notReady != nil {
		return err
	}
	if in, ok := args.(interface {
		GetContext() *pluginv1.CallContext
	}); ok {
		in.GetContext().Attempt = 2
	}
	return g.Invoke(ctx, method, args, reply, opts...)
}

func (l link) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	g, err := l.inst.ready(ctx)
	if err != nil {
		return nil, err
	}
	return g.NewStream(ctx, desc, method, opts...)
}

// limit is the deadline of a call.
func (d Deadlines) limit(method string) time.Duration {
	switch path.Base(method) {
	case "GetInfo":
		return d.GetInfo
	case "Initialize":
		return d.Initialize
	case "ListTools":
		return d.ListTools
	case "Open":
		return d.Open
	case "GetSections", "GetContexts":
		return d.Sections
	case "BeforeStep", "BeforeTool", "AfterTool":
		return d.Hook
	case "TurnStopping", "RequestFailed", "TurnEnded", "Idle":
		return d.LateHook
	case "Propose":
		return d.Propose
	case "CallTool":
		return d.CallTool
	case "Drain":
		return d.Drain
	}
	return d.OpenSession
}

// Invoke makes one call to this process.
func (g *generation) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	ctx, cancel := context.WithTimeout(ctx, g.inst.deadlines().limit(method))
	defer cancel()
	end, _ := g.begin(ctx)
	defer end()
	err := g.conn.Invoke(ctx, method, args, reply, opts...)
	if err == nil {
		g.note(method, reply)
	}
	return g.lost(ctx, err)
}

// NewStream opens a stream from this process. It is over at the first error,
// io.EOF included, or when its context ends, which the caller sees to.
func (g *generation) NewStream(ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	d := g.inst.deadlines()
	ctx, cancel := context.WithTimeout(ctx, d.limit(method))
	end, quiet := g.begin(ctx)
	stream, err := g.conn.NewStream(ctx, desc, method, opts...)
	if err != nil {
		end()
		cancel()
		return nil, g.lost(ctx, err)
	}
	s := &liveStream{ClientStream: stream, g: g, call: ctx, method: method, heard: time.Now()}
	context.AfterFunc(ctx, end)
	s.over = sync.OnceFunc(func() { end(); cancel() })
	if path.Base(method) == "Propose" {
		go s.watch(ctx, cancel, d.Silence, quiet)
	}
	return s, nil
}

// begin counts a call and admits the host calls that the plugin makes for it.
func (g *generation) begin(ctx context.Context) (end func(), quiet func() time.Duration) {
	g.calls.Add(1)
	end, quiet = func() {}, func() time.Duration { return 0 }
	if id := sdk.Invocation(ctx); id != "" && g.api != nil {
		end, quiet = g.api.Begin(id)
	}
	release := end
	return sync.OnceFunc(func() { release(); g.calls.Add(-1) }), quiet
}

// note logs what an error's answer has for the log alone.
func (g *generation) note(method string, reply any) {
	if r, ok := reply.(interface{ GetError() *pluginv1.PluginError }); ok && r.GetError().GetDetail() != "" {
		g.log.write(slog.LevelWarn, method+" failed: "+r.GetError().GetMessage(), "code", r.GetError().GetCode(), "detail", r.GetError().GetDetail())
	}
}

// lost turns a broken connection into the end of the process, for whose news it
// waits a moment. A process that lives on without its connection is killed.
func (g *generation) lost(ctx context.Context, err error) error {
	code := status.Code(err)
	closed := code == codes.Canceled && ctx.Err() == nil // by release, not by the caller
	if code != codes.Unavailable && !closed {
		return err
	}
	g.ends(context.Background(), g.inst.deadlines().Exit)
	if !g.gone() {
		g.kill("its connection broke")
	}
	g.awaitTold()
	return g.exited()
}

// awaitTold waits a moment until the crash is reported, so that a caller hears of
// it no sooner than the log does.
func (g *generation) awaitTold() {
	if !g.kept.Load() {
		return
	}
	limit := time.NewTimer(g.inst.deadlines().Exit)
	defer limit.Stop()
	select {
	case <-g.told:
	case <-g.inst.life.Done():
	case <-limit.C:
	}
}

func (g *generation) exited() *sdk.ExitedError {
	name := g.inst.info.Name
	if name == "" {
		name = g.inst.spec.Name
	}
	return &sdk.ExitedError{Plugin: name, Generation: g.number, Detail: g.ending()}
}

// liveStream is a stream that knows when it was last heard.
type liveStream struct {
	grpc.ClientStream
	g      *generation
	call   context.Context // the caller's, with the deadline; gRPC cancels its own
	method string
	over   func()

	mu     sync.Mutex
	heard  time.Time
	silent bool
}

func (s *liveStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = time.Now()
	if err == nil {
		s.g.note(s.method, m)
		return nil
	}
	defer s.over()
	if s.silent {
		return status.Errorf(codes.DeadlineExceeded, "silent for longer than %s", s.g.inst.deadlines().Silence)
	}
	return s.g.lost(s.call, err)
}

func (s *liveStream) SendMsg(m any) error {
	return s.g.lost(s.call, s.ClientStream.SendMsg(m))
}

// watch cuts a stream on which nothing has been heard for too long; host calls
// that are under way count as a sign of life.
func (s *liveStream) watch(ctx context.Context, cut context.CancelFunc, limit time.Duration, quiet func() time.Duration) {
	ticks := time.NewTicker(max(limit/8, time.Millisecond))
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		s.mu.Lock()
		s.silent = min(time.Since(s.heard), quiet()) > limit
		silent := s.silent
		s.mu.Unlock()
		if silent {
			cut()
			return
		}
	}
}
