// Package endpoint is a Chat Completions server that answers at once from a
// script and takes the times between its answers.
package endpoint

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// Model is the name of the only model.
const Model = "bench"

// Server listens on loopback until it is closed. It serves one client at a time.
type Server struct {
	listener net.Listener
	http     *http.Server
	tape     atomic.Pointer[Tape]
}

// Listen starts a server on a free port.
func Listen() (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the instant endpoint: %w", err)
	}
	s := &Server{listener: listener}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = s.http.Serve(listener) }()
	return s, nil
}

// BaseURL is what a client takes as its base URL.
func (s *Server) BaseURL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Close stops the server at once.
func (s *Server) Close() error { return s.http.Close() }

// Record lets script answer the requests from here on, until the next Record.
func (s *Server) Record(script Script) *Tape {
	t := &Tape{script: script}
	s.tape.Store(t)
	return t
}

func (s *Server) complete(w http.ResponseWriter, r *http.Request) {
	t := s.tape.Load()
	if t == nil {
		http.Error(w, "nothing is recorded", http.StatusServiceUnavailable)
		return
	}
	reply, x, err := t.take(r.Body, r.ContentLength)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer := reply.stream(x)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	t.answered()
	if _, err := w.Write(answer); err == nil {
		err = http.NewResponseController(w).Flush()
		if err != nil && !errors.Is(err, net.ErrClosed) {
			t.fail(fmt.Errorf("send answer %d: %w", x.Ordinal, err))
		}
	}
}
