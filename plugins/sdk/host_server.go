package sdk

import (
	"context"
	"crypto/subtle"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/tureen-host/tureen/host/session"
	pluginv1 "github.com/tureen-host/tureen/proto/tureen/plugin/v1"
)

// HostConfig says what a host lends one plugin process.
type HostConfig struct {
	Version string
	Token   string // a call without it is refused
	Granted []Capability
	// Access lends a session; session.ErrNotFound where it is not open in the plugin.
	Access func(session string) (session.Access, error)
	// Log takes the plugin's lines.
	Log func(ctx context.Context, level slog.Level, message string, fields map[string]string)
}

// HostServer is the host's side of what a plugin may call. It is made for one
// process and stopped with it.
type HostServer struct {
	config HostConfig
	grpc   *grpc.Server

	mu          sync.Mutex
	invocations map[string]*invocation
	notices     map[chan *pluginv1.Notice]bool // of the life lines that are open
	attached    chan struct{}
	once        sync.Once
}

// invocation is one request of the host; its context covers the calls that the
// plugin makes on its behalf.
type invocation struct {
	ctx    context.Context
	cancel context.CancelFunc
	calls  int       // under way
	last   time.Time // when one began or ended
}

// NewHostServer makes a server; Serve lets it begin.
func NewHostServer(c HostConfig) *HostServer {
	h := &HostServer{config: c, invocations: map[string]*invocation{}, notices: map[chan *pluginv1.Notice]bool{}, attached: make(chan struct{})}
	h.grpc = grpc.NewServer(
		grpc.MaxRecvMsgSize(MaxMessage),
		grpc.UnaryInterceptor(h.unary),
		grpc.StreamInterceptor(h.stream),
	)
	pluginv1.RegisterControlServer(h.grpc, &controlServer{h: h})
	pluginv1.RegisterSessionServer(h.grpc, &sessionServer{h: h})
	pluginv1.RegisterUserServer(h.grpc, &userServer{h: h})
	pluginv1.RegisterChildrenServer(h.grpc, &childrenServer{h: h})
	pluginv1.RegisterModelServer(h.grpc, &modelServer{h: h})
	pluginv1.RegisterRecordsServer(h.grpc, &recordsServer{h: h})
	pluginv1.RegisterDiagnosticsServer(h.grpc, &diagnosticsServer{h: h})
	return h
}

// Serve answers on l until Stop.
func (h *HostServer) Serve(l net.Listener) error { return h.grpc.Serve(l) }

// Stop ends the life line and every call under way.
func (h *HostServer) Stop() { h.grpc.Stop() }

// Attached is closed when the plugin has opened its life line.
func (h *HostServer) Attached() <-chan struct{} { return h.attached }

// ShuttingDown tells the plugin that its end is near.
func (h *HostServer) ShuttingDown(deadline time.Duration) {
	notice := &pluginv1.Notice{Notice: &pluginv1.Notice_ShuttingDown{
		ShuttingDown: &pluginv1.ShuttingDown{DeadlineMs: int32(deadline.Milliseconds())}}}
	h.mu.Lock()
	defer h.mu.Unlock()
	for line := range h.notices {
		select {
		case line <- notice:
		default: // a reader that slow learns it from Drain
		}
	}
}

// Begin admits the calls that the plugin makes on behalf of a request. They end
// when end is called, whatever the plugin's language makes of a cancel. quiet
// tells for how long none of them has been under way.
func (h *HostServer) Begin(id string) (end func(), quiet func() time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	inv := &invocation{ctx: ctx, cancel: cancel, last: time.Now()}
	h.mu.Lock()
	h.invocations[id] = inv
	h.mu.Unlock()
	end = func() {
		h.mu.Lock()
		delete(h.invocations, id)
		h.mu.Unlock()
		cancel()
	}
	quiet = func() time.Duration {
		h.mu.Lock()
		defer h.mu.Unlock()
		if inv.calls > 0 {
			return 0
		}
		return time.Since(inv.last)
	}
	return end, quiet
}

// needs names the capability of each method; "" = any plugin may call it.
var needs = map[string]Capability{
	pluginv1.Control_Attach_FullMethodName:        "",
	pluginv1.Diagnostics_Log_FullMethodName:       "",
	pluginv1.Session_ReadEvents_FullMethodName:    CapSessionRead,
	pluginv1.Session_ReadPart_FullMethodName:      CapSessionRead,
	pluginv1.Session_ReadOutline_FullMethodName:   CapSessionRead,
	pluginv1.Session_GetMeter_FullMethodName:      CapSessionRead,
	pluginv1.Session_Steer_FullMethodName:         CapSessionSteer,
	pluginv1.User_Ask_FullMethodName:              CapUserAsk,
	pluginv1.Children_Spawn_FullMethodName:        CapSessionSpawn,
	pluginv1.Children_ListChildren_FullMethodName: CapSessionSpawn,
	pluginv1.Children_Tell_FullMethodName:         CapSessionSpawn,
	pluginv1.Children_Interrupt_FullMethodName:    CapSessionSpawn,
	pluginv1.Model_Generate_FullMethodName:        CapModelGenerate,
	pluginv1.Records_PutRecord_FullMethodName:     CapRecordsWrite,
	pluginv1.Records_ListRecords_FullMethodName:   CapRecordsWrite,
}

// admit checks the token and the grant, and ties ctx to the invocation that the
// call belongs to. done must be called when it is over.
func (h *HostServer) admit(ctx context.Context, method string) (_ context.Context, done func(), _ error) {
	meta, _ := metadata.FromIncomingContext(ctx)
	token := strings.TrimPrefix(first(meta.Get(metaAuthorization)), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(token), []byte(h.config.Token)) != 1 {
		return nil, nil, status.Error(codes.Unauthenticated, "the token is missing, wrong or of an earlier process: send authorization: Bearer TOKEN as given to Initialize")
	}
	capability, known := needs[method]
	if !known {
		return nil, nil, status.Errorf(codes.Unimplemented, "%s is not offered", method)
	}
	if capability != "" && !slices.Contains(h.config.Granted, capability) {
		return nil, nil, status.Errorf(codes.PermissionDenied, "%s needs the capability %q, which this plugin was not granted: ask for it in GetInfo and do not deny it in the profile", method, capability)
	}
	id := first(meta.Get(metaInvocation))
	if id == "" {
		return ctx, func() {}, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	inv := h.invocations[id]
	if inv == nil {
		return nil, nil, status.Error(codes.Canceled, "the request that this call belongs to has ended")
	}
	inv.calls++
	inv.last = time.Now()
	ctx, cancel := context.WithCancel(withInvocation(ctx, id))
	stop := context.AfterFunc(inv.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
		h.mu.Lock()
		defer h.mu.Unlock()
		inv.calls--
		inv.last = time.Now()
	}, nil
}

func (h *HostServer) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	ctx, done, err := h.admit(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	defer done()
	resp, err := next(ctx, req)
	if err == nil {
		err = checkSize(info.FullMethod, resp)
	}
	return resp, err
}

func (h *HostServer) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	ctx, done, err := h.admit(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	defer done()
	return next(srv, &streamIn{ServerStream: stream, ctx: ctx})
}

// streamIn is a stream with the context of its invocation.
type streamIn struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *streamIn) Context() context.Context { return s.ctx }

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}
