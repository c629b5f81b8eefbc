package openai

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"

	"github.com/openai/openai-go/v3/option"

	"github.com/tureen-host/tureen/host/llm"
)

// call is one request, frozen: later changes of the caller's slices and maps do
// not reach it (M24).
type call struct {
	model    string // "" = the Config's
	fields   fields // of the head: cap, effort, params
	cap      int    // 0 = none sent
	payload  payload
	messages []*llm.Message
	tools    []llm.Tool
	main     bool // of the session's main line
}

// freeze checks a request and encodes it.
func (c *Client) freeze(req llm.Request) (*call, error) {
	out := &call{
		model: req.Model, cap: req.MaxOutputTokens, fields: fields{},
		messages: slices.Clone(req.Messages), tools: req.Tools, main: req.Purpose == llm.PurposeMain || req.Purpose == "",
	}
	if out.cap == 0 {
		out.cap = c.cfg.MaxOutputTokens
	}
	if req.Effort != "" {
		effort, ok := c.quirk.Effort[req.Effort]
		if !ok {
			return nil, invalid("effort %q is none of off, low, high, max", req.Effort)
		}
		maps.Copy(out.fields, effort)
	}
	for name, v := range req.Params {
		switch name {
		case "model", "messages", "tools", "stream":
		default:
			out.fields[name] = v
		}
	}
	var err error
	if out.payload, err = c.encoder.encode(out.messages, out.tools, out.main); err != nil {
		return nil, err
	}
	return out, nil
}

// body returns the bytes of the request. Its fields stand in a fixed order, tools
// and messages last, so that a follow-up request repeats them (M23).
func (c *Client) body(call *call, model string) (net.Buffers, error) {
	head, err := marshal(model)
	if err != nil {
		return nil, invalid("%v", err)
	}
	head = append([]byte(`{"model":`), head...)
	head = append(head, `,"stream":true`...)
	extra := fields{}
	if !c.noUsage.Load() {
		extra["stream_options"] = fields{"include_usage": true}
	}
	if call.cap > 0 {
		extra[c.quirk.Cap] = call.cap
	}
	maps.Copy(extra, call.fields)
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		value, err := marshal(extra[name])
		if err != nil {
			return nil, invalid("parameter %q cannot be sent: %v", name, err)
		}
		head = appendString(append(head, ','), name)
		head = append(append(head, ':'), value...)
	}
	buffers := net.Buffers{head}
	if call.payload.tools != nil {
		buffers = append(buffers, []byte(`,"tools":`), call.payload.tools)
	}
	buffers = append(append(buffers, []byte(`,"messages":[`)), call.payload.messages...)
	return append(buffers, []byte("]}")), nil
}

// sending makes the client send the buffers as they are, with their length and
// without a copy of the conversation.
func sending(buffers net.Buffers) option.RequestOption {
	size := int64(0)
	for _, b := range buffers {
		size += int64(len(b))
	}
	open := func() (io.ReadCloser, error) {
		unread := slices.Clone(buffers)
		return io.NopCloser(&unread), nil
	}
	return option.WithMiddleware(func(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
		req.Body, _ = open()
		req.GetBody, req.ContentLength = open, size
		return next(req)
	})
}

func invalid(format string, args ...any) error {
	return &llm.Error{Code: llm.CodeInvalidRequest, Message: fmt.Sprintf(format, args...)}
}
