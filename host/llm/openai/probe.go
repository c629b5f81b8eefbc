package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tureen-host/tureen/host/llm"
)

// ProbeResult is what an endpoint turned out to do. What was not reached is zero.
type ProbeResult struct {
	Models    []string // as listed, in its order
	ModelsErr error    // an *llm.Error: why there is no list; nil where there is one
	Listed    bool     // the model in use is in the list
	Model     string   // in use
	Window    int      // as the endpoint tells it, 0 = it does not
	MaxOutput int      // likewise

	Streams        bool          // the answer came as events
	Tools          bool          // a request that declares a tool is taken
	ToolsErr       error         // an *llm.Error: why not, where the same request without one is taken
	Usage          llm.Usage     // zero where none is reported
	ReasoningField string        // the answer's field of reasoning, "" where there was none
	FirstByte      time.Duration // from the request to the first byte of the answer
	Took           time.Duration // to its end
}

const (
	probeTimeout = 2 * time.Minute // a local server may load the model first
	probeOutput  = 256             // tokens: room for a word of thought
	probeText    = "Answer with the single word: ready"
)

// Probe asks an endpoint for its models and makes one tiny request, with a tool
// declared; a second without it only where the first is refused as invalid. The
// error is that of the request, an *llm.Error; the result holds what was learned
// before it.
func Probe(ctx context.Context, cfg Config, effort string, params map[string]any) (ProbeResult, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	client := cfg.HTTPClient
	if client == nil {
		client = sharedClient()
	}
	watched := *client
	seen := &witness{next: client.Transport}
	watched.Transport = seen
	cfg.HTTPClient = &watched
	c, err := New(cfg)
	if err != nil {
		return ProbeResult{}, err
	}
	r, err := c.probeModels(ctx)
	if err != nil {
		return r, err
	}
	req := llm.Request{
		Messages: []*llm.Message{llm.Text(llm.RoleUser, probeText)}, MaxOutputTokens: probeOutput, Effort: effort, Params: params, Purpose: llm.PurposeOther,
		Tools: []llm.Tool{{Name: "noop", Description: "Does nothing. Do not call it.", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}},
	}
	began := time.Now()
	answer, err := c.answer(ctx, req)
	if r.Tools = err == nil; llm.CodeOf(err) == llm.CodeInvalidRequest {
		r.ToolsErr, req.Tools = err, nil
		began = time.Now()
		if answer, err = c.answer(ctx, req); err != nil {
			err, r.ToolsErr = r.ToolsErr, nil // the tool was not what was wrong
		}
	}
	if err != nil {
		return r, err
	}
	r.Took, r.Usage = time.Since(began), answer.Usage
	seen.tell(&r, began)
	for _, b := range answer.Message.Blocks {
		if b.Kind == llm.BlockReasoning && r.ReasoningField == "" {
			r.ReasoningField = b.Field
		}
	}
	return r, nil
}

// probeModels learns what /models says. Without a list there may still be an
// answer, unless the model is Auto.
func (c *Client) probeModels(ctx context.Context) (ProbeResult, error) {
	r := ProbeResult{Model: c.known()}
	entries, err := c.list(ctx)
	r.ModelsErr = err
	if err != nil && r.Model == "" {
		return r, err
	}
	for _, m := range entries {
		r.Models = append(r.Models, m.ID)
	}
	s := c.choose(entries)
	if err == nil && s.name == "" {
		_, err := c.ask(ctx) // whose error says what to do
		return r, err
	}
	if r.Model == "" {
		r.Model = s.name
	}
	r.Listed = slices.Contains(r.Models, r.Model)
	r.Window, r.MaxOutput = s.window, s.maxOutput
	return r, nil
}

// answer reads a stream to its end.
func (c *Client) answer(ctx context.Context, req llm.Request) (*llm.Answer, error) {
	for ch, err := range c.Stream(ctx, req) {
		if err != nil {
			return nil, err
		}
		if ch.Answer != nil {
			return ch.Answer, nil
		}
	}
	return nil, errors.New("the stream ended without an answer")
}

// witness sees how the newest answer to a POST arrives.
type witness struct {
	next http.RoundTripper

	mu     sync.Mutex
	stream bool
	first  time.Time
}

// RoundTrip implements http.RoundTripper.
func (w *witness) RoundTrip(req *http.Request) (*http.Response, error) {
	next := w.next
	if next == nil {
		next = http.DefaultTransport
	}
	res, err := next.RoundTrip(req)
	if err != nil || req.Method != http.MethodPost {
		return res, err
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	w.mu.Lock()
	w.stream, w.first = kind == "text/event-stream", time.Time{}
	w.mu.Unlock()
	res.Body = witnessed{res.Body, w}
	return res, nil
}

func (w *witness) tell(r *ProbeResult, began time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.Streams = w.stream
	if !w.first.IsZero() {
		r.FirstByte = w.first.Sub(began)
	}
}

// witnessed is the body of an answer.
type witnessed struct {
	io.ReadCloser
	by *witness
}

// Read notes the first byte. Some servers send events under a wrong type.
func (b witnessed) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.by.mu.Lock()
		defer b.by.mu.Unlock()
		if b.by.first.IsZero() {
			b.by.first = time.Now()
			b.by.stream = b.by.stream || strings.HasPrefix(strings.TrimSpace(string(p[:n])), "data:")
		}
	}
	return n, err
}
