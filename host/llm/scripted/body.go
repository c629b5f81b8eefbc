package scripted

import (
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/llm"
)

// call is one request as it came over the wire.
type call struct {
	llm.Request
	stream       bool
	includeUsage bool
	prompt       []byte // tools and messages as sent: what is counted and cached
}

// bodyKeys are the fields of a request that are known here, optionKinds the types
// of those that are checked and no more, efforts the values of reasoning_effort.
var (
	bodyKeys = []string{
		"model", "messages", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options",
		"max_tokens", "max_completion_tokens", "reasoning_effort", "temperature", "top_p",
		"presence_penalty", "frequency_penalty", "seed", "n", "user",
	}
	optionKinds = map[string]string{
		"stream": "boolean", "parallel_tool_calls": "boolean", "user": "string", "seed": "number",
		"temperature": "number", "top_p": "number", "presence_penalty": "number", "frequency_penalty": "number",
	}
	efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh"}
)

// parse reads a body and refuses whatever is not as it has to be.
func (s *Server) parse(body []byte) (*call, *fault) {
	if !utf8.Valid(body) {
		return nil, refuse("", "invalid_utf8", "the body is not valid UTF-8")
	}
	if !json.Valid(body) {
		return nil, refuse("", "invalid_json", "the body is not one JSON value")
	}
	fields, f := object(body, "", bodyKeys...)
	if f != nil {
		return nil, f
	}
	c := &call{}
	for _, read := range []func(map[string]json.RawMessage, *call) *fault{
		s.readModel, s.readOptions, s.readCaps, s.readTools, s.readMessages,
	} {
		if f := read(fields, c); f != nil {
			return nil, f
		}
	}
	c.prompt = slices.Concat(fields["tools"], fields["messages"])
	return c, s.fit(c, len(fields["tools"]))
}

func (s *Server) readModel(fields map[string]json.RawMessage, c *call) *fault {
	if fields["model"] == nil {
		return refuse("model", "missing_required_parameter", "model is missing; name %q", s.opts.Model)
	}
	name, f := text(fields["model"], "model")
	if f != nil {
		return f
	}
	if name != s.opts.Model {
		f := refuse("model", "model_not_found", "the model %q does not exist; this server has %q", name, s.opts.Model)
		f.status = http.StatusNotFound
		return f
	}
	c.Model = name
	return nil
}

// readOptions reads what is neither tools, messages nor a cap. Sampling settings
// are checked and change nothing: the agents here do not sample.
func (s *Server) readOptions(fields map[string]json.RawMessage, c *call) *fault {
	for key, want := range optionKinds {
		if raw := fields[key]; raw != nil && kind(raw) != want {
			return refuse(key, "invalid_type", "%s: expected a %s, got %s", key, want, kind(raw))
		}
	}
	c.stream = string(fields["stream"]) == "true"
	if raw := fields["n"]; raw != nil && string(raw) != "1" {
		return invalid("n", "only 1 is answered, got %s", raw)
	}
	if raw := fields["reasoning_effort"]; raw != nil {
		effort, f := text(raw, "reasoning_effort")
		if f != nil {
			return f
		}
		if !slices.Contains(efforts, effort) {
			return invalid("reasoning_effort", "%q is not one of %s", effort, strings.Join(efforts, ", "))
		}
		c.Effort = effort
	}
	if raw := fields["stream_options"]; raw != nil {
		if !c.stream {
			return invalid("stream_options", "only allowed where stream is true")
		}
		options, f := object(raw, "stream_options", "include_usage")
		if f != nil {
			return f
		}
		c.includeUsage = string(options["include_usage"]) == "true"
		if raw := options["include_usage"]; raw != nil && kind(raw) != "boolean" {
			return refuse("stream_options", "invalid_type", "stream_options.include_usage: expected a boolean, got %s", kind(raw))
		}
	}
	return nil
}

// readCaps reads the output cap; absent means what the window leaves.
func (s *Server) readCaps(fields map[string]json.RawMessage, c *call) *fault {
	if fields["max_tokens"] != nil && fields["max_completion_tokens"] != nil {
		return invalid("max_tokens", "set max_tokens or max_completion_tokens, not both")
	}
	for _, key := range []string{"max_tokens", "max_completion_tokens"} {
		raw := fields[key]
		if raw == nil {
			continue
		}
		var n float64
		if json.Unmarshal(raw, &n) != nil || n != math.Trunc(n) || n < 1 {
			return invalid(key, "expected an integer of at least 1, got %s", raw)
		}
		if n > float64(s.opts.MaxOutputTokens) {
			return invalid(key, "%s is too large: this model writes at most %d tokens", raw, s.opts.MaxOutputTokens)
		}
		c.MaxOutputTokens = int(n)
	}
	return nil
}

// fit refuses a call that does not fit the window and sets an absent output cap.
func (s *Server) fit(c *call, toolBytes int) *fault {
	window, prompt := s.opts.ContextWindow, tokens(len(c.prompt))
	if prompt >= window {
		functions := tokens(toolBytes)
		return refuse("messages", "context_length_exceeded",
			"This model's maximum context length is %d tokens. However, your messages resulted in %d tokens (%d in the messages, %d in the functions). Please reduce the length of the messages.",
			window, prompt, prompt-functions, functions)
	}
	if c.MaxOutputTokens == 0 {
		c.MaxOutputTokens = min(s.opts.MaxOutputTokens, window-prompt)
	}
	if prompt+c.MaxOutputTokens > window {
		return refuse("messages", "context_length_exceeded",
			"This model's maximum context length is %d tokens. However, you requested %d tokens (%d in the messages, %d in the completion). Please reduce the length of the messages or completion.",
			window, prompt+c.MaxOutputTokens, prompt, c.MaxOutputTokens)
	}
	return nil
}
