package openai

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/tureen-host/tureen/host/llm"
)

const (
	// maxDocument bounds an answer that is one JSON document; a line of a stream
	// has the decoder's own bound of the same size.
	maxDocument = 32 << 20
	maxErrorDoc = 1 << 20
	// tailWait is how long the usage may take after the finish reason, drainWait
	// how long the end of the connection may after [DONE].
	tailWait  = 10 * time.Second
	drainWait = 100 * time.Millisecond
)

// errStopped tells that the caller broke off the loop.
var errStopped = errors.New("stopped by the caller")

// Stream implements llm.Model. The request is checked, encoded and frozen here;
// ranging over the result sends it, which can be done once (M24).
func (c *Client) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	call, err := c.freeze(req)
	var used atomic.Bool
	return func(yield func(llm.Chunk, error) bool) {
		if err == nil && used.Swap(true) {
			err = invalid("this request was sent already: ask for a new stream")
		}
		if err == nil {
			err = c.run(ctx, call, yield)
		}
		if err != nil && err != errStopped {
			yield(llm.Chunk{}, err)
		}
	}
}

// run sends a call, and once more for each remedy that a refusal suggests.
func (c *Client) run(ctx context.Context, call *call, yield func(llm.Chunk, error) bool) error {
	model, err := c.modelName(ctx, call.model)
	if err != nil {
		return err
	}
	for tried := (remedies{}); ; {
		err := c.attempt(ctx, call, model, yield)
		if err == nil || !c.remedy(err, call, &tried) {
			return err
		}
	}
}

// remedies are the changes that a refused request may get, each once.
type remedies struct{ usage, cap, apart bool }

// remedy changes the call so that it may pass, if it knows how.
func (c *Client) remedy(err error, call *call, tried *remedies) bool {
	var r *refusal
	if !errors.As(err, &r) {
		return false
	}
	switch {
	case r.namesUsage() && !tried.usage:
		tried.usage = true
		c.noUsage.Store(true)
		return true
	case r.fit > 0 && call.cap > r.fit && !tried.cap:
		tried.cap = true
		call.cap = r.fit
		return true
	case r.namesAlternation() && !tried.apart:
		tried.apart = true
		c.encoder.setApart()
		var failed error
		call.payload, failed = c.encoder.encode(call.messages, call.tools, call.main)
		return failed == nil
	}
	return false
}

// attempt sends a call and reads its answer. The error is an *llm.Error, or
// errStopped.
func (c *Client) attempt(ctx context.Context, call *call, model string, yield func(llm.Chunk, error) bool) error {
	buffers, err := c.body(call, model)
	if err != nil {
		return err
	}
	sent, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := newWatch(c.cfg.IdleTimeout, func() { cancel(errIdle) })
	defer w.stop()
	var res *http.Response
	err = c.api.Execute(sent, http.MethodPost, "chat/completions", strings.NewReader(""), &res,
		option.WithHeader("Accept", "text/event-stream"), sending(buffers), guarding(w))
	if res != nil && res.StatusCode >= 300 {
		return c.refused(res, call, model)
	}
	if err != nil {
		return c.unreachable(sent, err, c.cfg.IdleTimeout)
	}
	body := res.Body
	defer body.Close()
	a := &assembly{quirk: c.quirk}
	if err := read(body, w, a, func(ch llm.Chunk) bool { return yield(ch, nil) }); err != nil {
		return c.broke(sent, err, call, model, a)
	}
	answer, err := a.answer(func(id string) bool { return usesCall(call.messages, id) }, c.window())
	if err != nil {
		return err
	}
	if !yield(llm.Chunk{Answer: answer}, nil) {
		err = errStopped
	}
	w.limit(drainWait)
	_, _ = io.Copy(io.Discard, io.LimitReader(body, 64<<10)) // so that the connection can be used again
	return err
}

// guarding watches the body of the answer and bounds that of a refusal.
func guarding(w *watch) option.RequestOption {
	return option.WithMiddleware(func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		res, err := next(req)
		if err != nil {
			return res, err
		}
		res.Body = w.body(res.Body)
		if res.StatusCode >= 300 {
			res.Body = struct {
				io.Reader
				io.Closer
			}{io.LimitReader(res.Body, maxErrorDoc), res.Body}
		}
		return res, nil
	})
}

// read fills the assembly from a body: events, or one JSON document where the
// endpoint does not stream. What goes wrong after a proper end is no failure; an
// end without one is io.ErrUnexpectedEOF.
func read(body io.Reader, w *watch, a *assembly, yield func(llm.Chunk) bool) error {
	r := bufio.NewReader(body)
	first, err := firstByte(r)
	switch {
	case err == io.EOF:
	case err != nil:
		return err
	case first == '{' || first == '<':
		err = readDocument(r, a, yield)
	default:
		err = readEvents(r, w, a, yield)
	}
	if err == nil && !a.ended() {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// firstByte skips white space and looks at what comes.
func firstByte(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.Peek(1)
		if err != nil {
			return 0, err
		}
		if !bytes.ContainsAny(b, " \t\r\n") {
			return b[0], nil
		}
		_, _ = r.Discard(1)
	}
}

func readDocument(r io.Reader, a *assembly, yield func(llm.Chunk) bool) error {
	data, err := io.ReadAll(io.LimitReader(r, maxDocument))
	if err != nil {
		return err
	}
	ch, err := readChunk(data)
	if err == nil && len(ch.Choices) == 0 && ch.failure(data) == nil {
		err = errors.New("it holds no choices")
	}
	if err != nil {
		return &malformed{data, err}
	}
	a.done = true
	return take(&ch, data, a, yield)
}

// readEvents reads to [DONE] or the end.
func readEvents(r io.Reader, w *watch, a *assembly, yield func(llm.Chunk) bool) error {
	// The closing blank line dispatches a last event that the endpoint left open.
	tail := io.MultiReader(r, strings.NewReader("\n\n"))
	events := ssestream.NewDecoder(&http.Response{
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(tail),
	})
	for !a.done && events.Next() {
		e := events.Event()
		data := bytes.TrimSpace(e.Data)
		switch {
		case len(data) == 0:
		case bytes.HasPrefix(data, []byte("[DONE]")):
			a.done = true
		case e.Type == "error":
			return &failedEvent{data}
		default:
			if err := readEvent(data, a, yield); err != nil {
				return err
			}
		}
		if a.finish != "" {
			w.limit(tailWait)
		}
	}
	if a.ended() {
		return nil
	}
	return events.Err()
}

func readEvent(data []byte, a *assembly, yield func(llm.Chunk) bool) error {
	ch, err := readChunk(data)
	if err != nil {
		return &malformed{data, err}
	}
	return take(&ch, data, a, yield)
}

// take adds a chunk to the assembly, if it is not the report of a failure.
func take(ch *chunk, data []byte, a *assembly, yield func(llm.Chunk) bool) error {
	if failure := ch.failure(data); failure != nil {
		return &failedEvent{failure}
	}
	if !a.add(ch, yield) {
		return errStopped
	}
	return nil
}

// failedEvent is an error object inside of a stream.
type failedEvent struct{ data []byte }

func (e *failedEvent) Error() string { return "the endpoint reported an error in its stream" }

// malformed is an event, or a document, that is no chunk.
type malformed struct {
	data []byte
	err  error
}

func (e *malformed) Error() string {
	return fmt.Sprintf("the answer %.100q cannot be read: %v", e.data, e.err)
}
