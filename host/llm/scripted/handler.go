package scripted

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"
)

// created is the time that answers and the model carry: a fixed one, so that the
// same request has the same answer.
const created = 1767225600

func (s *Server) completions(w http.ResponseWriter, r *http.Request) {
	body, f := s.readBody(w, r)
	var c *call
	if f == nil {
		c, f = s.parse(body)
	}
	s.record(body, f != nil)
	if f != nil {
		f.write(w)
		return
	}
	reply := s.opts.Agent.Reply(c.Request)
	if !pause(r.Context(), s.opts.Latency+time.Duration(reply.DelayMS)*time.Millisecond) {
		panic(http.ErrAbortHandler)
	}
	switch {
	case reply.Error != nil:
		reply.Error.write(w)
	case reply.Raw != "":
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, reply.Raw)
	default:
		a := compose(c, reply, s.cache.add(c.prompt))
		if c.stream {
			a.stream(r.Context(), w, c.includeUsage)
			return
		}
		a.write(w)
	}
}

func (s *Server) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *fault) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.opts.MaxBody))
	var tooLarge *http.MaxBytesError
	switch media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case errors.As(err, &tooLarge):
		f := refuse("", "request_too_large", "the body has more than %d bytes", s.opts.MaxBody)
		f.status = http.StatusRequestEntityTooLarge
		return body, f
	case err != nil:
		return body, refuse("", "invalid_body", "the body does not read: %v", err)
	case media != "application/json":
		return body, refuse("", "invalid_content_type", "expected Content-Type application/json, got %q", media)
	}
	return body, nil
}

// modelObject is the model as /v1/models tells it; max_model_len is vLLM's field
// for the window.
type modelObject struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int    `json:"created"`
	OwnedBy     string `json:"owned_by"`
	MaxModelLen int    `json:"max_model_len"`
}

func (s *Server) modelObject() modelObject {
	return modelObject{s.opts.Model, "model", created, "tureen", s.opts.ContextWindow}
}

func (s *Server) models(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]any{"object": "list", "data": []modelObject{s.modelObject()}})
}

func (s *Server) model(w http.ResponseWriter, r *http.Request) {
	if id := r.PathValue("id"); id != s.opts.Model {
		f := refuse("model", "model_not_found", "the model %q does not exist; this server has %q", id, s.opts.Model)
		f.status = http.StatusNotFound
		f.write(w)
		return
	}
	writeJSON(w, s.modelObject())
}

func unknownRoute(w http.ResponseWriter, r *http.Request) {
	f := refuse("", "unknown_url", "no route %s %s; there are POST /v1/chat/completions and GET /v1/models", r.Method, r.URL.Path)
	f.status = http.StatusNotFound
	f.write(w)
}

func writeJSON(w http.ResponseWriter, v any) {
	body, _ := json.Marshal(v)
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body)
}

// pause waits and tells whether the client is still there.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
