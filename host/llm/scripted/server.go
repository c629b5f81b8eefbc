package scripted

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options says how to serve. The zero value is a server on a free port with the
// model "scripted", a window of 32,768 tokens and the Rules agent.
type Options struct {
	Addr            string // host:port of loopback; "" = 127.0.0.1 and a free port
	Model           string // the only model's name
	ContextWindow   int    // tokens
	MaxOutputTokens int    // tokens an answer may have at most; default 4096, at most the window
	Agent           Agent
	// Latency is waited before the first byte of each answer.
	Latency time.Duration
	// SystemInHistory takes system messages anywhere, not only first (L12).
	SystemInHistory bool
	MaxBody         int64 // bytes of a request; default 16 MiB
	KeepBytes       int   // of request bodies that Requests remembers; default 8 MiB, negative = none
}

func (o Options) withDefaults() Options {
	o.Addr = cmp.Or(o.Addr, "127.0.0.1:0")
	o.Model = cmp.Or(o.Model, "scripted")
	o.ContextWindow = cmp.Or(o.ContextWindow, 32768)
	o.MaxOutputTokens = min(cmp.Or(o.MaxOutputTokens, 4096), o.ContextWindow)
	o.MaxBody = cmp.Or(o.MaxBody, 16<<20)
	o.KeepBytes = cmp.Or(o.KeepBytes, 8<<20)
	if o.Agent == nil {
		o.Agent = AgentOf(o.Model)
	}
	return o
}

// Stats counts the chat completion requests of a server.
type Stats struct {
	Requests int   // all that came
	Refused  int   // answered with a fault of the request
	Bytes    int64 // of their bodies
}

// Server serves until Close, or until the context that it was started with ends.
// It is safe for concurrent use.
type Server struct {
	opts     Options
	cache    *prefixCache
	listener net.Listener
	http     *http.Server
	cancel   context.CancelFunc
	detach   func() bool // from the context that Serve was given
	done     chan struct{}

	mu     sync.Mutex
	bodies [][]byte
	kept   int // bytes in bodies
	stats  Stats
}

// Serve starts a server. It listens when Serve returns.
func Serve(ctx context.Context, opts Options) (*Server, error) {
	opts = opts.withDefaults()
	if opts.ContextWindow < 1 || opts.MaxOutputTokens < 1 {
		return nil, fmt.Errorf("scripted model: context window %d and output cap %d must be positive", opts.ContextWindow, opts.MaxOutputTokens)
	}
	listener, err := listen(ctx, opts.Addr)
	if err != nil {
		return nil, fmt.Errorf("scripted model: %w", err)
	}
	lifetime, cancel := context.WithCancel(ctx)
	s := &Server{opts: opts, cache: newPrefixCache(), listener: listener, cancel: cancel, done: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.completions)
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /v1/models/{id}", s.model)
	mux.HandleFunc("/", unknownRoute)
	s.http = &http.Server{
		Handler:           mux,
		BaseContext:       func(net.Listener) context.Context { return lifetime },
		ReadHeaderTimeout: 10 * time.Second,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(listener)
	}()
	s.detach = context.AfterFunc(ctx, func() { _ = s.stop() })
	return s, nil
}

// listen listens on loopback and on nothing else: there is no key to ask for.
func listen(ctx context.Context, addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q is not host:port: %w", addr, err)
	}
	host = cmp.Or(host, "127.0.0.1")
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("address %q is not on loopback; use 127.0.0.1:%s", addr, port)
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
}

// BaseURL is what a client takes as its base URL, with /v1 at its end.
func (s *Server) BaseURL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Model is the name of the model.
func (s *Server) Model() string { return s.opts.Model }

// Close ends the requests under way and stops the server. It may be called again.
func (s *Server) Close() error {
	s.detach()
	return s.stop()
}

func (s *Server) stop() error {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	<-s.done
	return err
}

// Stats returns the counters.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Requests returns the bodies of the last chat completion requests, oldest first,
// refused ones included. The caller must not change them.
func (s *Server) Requests() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.bodies...)
}

// record books a request.
func (s *Server) record(body []byte, refused bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Requests++
	s.stats.Bytes += int64(len(body))
	if refused {
		s.stats.Refused++
	}
	s.bodies = append(s.bodies, body)
	s.kept += len(body)
	for len(s.bodies) > 0 && s.kept > s.opts.KeepBytes {
		s.kept -= len(s.bodies[0])
		s.bodies = s.bodies[1:]
	}
}
