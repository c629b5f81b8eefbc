package openai

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// fields are body fields of a request: name to a value that encodes as JSON.
type fields = map[string]any

// Quirk is how one vendor departs from the others (M26). It is data: no row
// carries code.
type Quirk struct {
	Name string
	// Hosts are the host names (a leading dot: and all below it) and the
	// ":port"s on which the vendor is recognised.
	Hosts []string
	// Cap is the body field of the output cap.
	Cap string
	// Reasoning are the answer fields that may carry reasoning; in one delta the
	// first that is not empty counts (M26).
	Reasoning []string
	// Passback tells that reasoning goes back under the field it arrived in;
	// where it is false the endpoint refuses the field (M6).
	Passback bool
	// Required is the reasoning field that every assistant message must have
	// once thinking is on, "" = none.
	Required string
	// Effort maps off, low, high and max to body fields (M4).
	Effort map[string]fields
}

var (
	anyReasoning = []string{"reasoning_content", "reasoning", "reasoning_text"}

	// plainEffort is the protocol's own field; off leaves it out, because most
	// models that cannot think refuse "none".
	plainEffort = map[string]fields{
		"off": {}, "low": {"reasoning_effort": "low"}, "high": {"reasoning_effort": "high"}, "max": {"reasoning_effort": "high"},
	}
)

// quirks is the vendor table. The first row is for endpoints that nobody knows.
var quirks = []Quirk{
	{Name: "compatible", Cap: "max_tokens", Reasoning: anyReasoning, Passback: true, Effort: plainEffort},
	{Name: "scripted", Cap: "max_tokens", Reasoning: anyReasoning, Passback: true, Effort: plainEffort},
	{
		Name: "openai", Hosts: []string{"api.openai.com", ".openai.azure.com"},
		Cap: "max_completion_tokens", Reasoning: anyReasoning,
		Effort: map[string]fields{
			"off": {}, "low": {"reasoning_effort": "low"}, "high": {"reasoning_effort": "high"}, "max": {"reasoning_effort": "xhigh"},
		},
	},
	{
		Name: "deepseek", Hosts: []string{".deepseek.com"},
		Cap: "max_tokens", Reasoning: []string{"reasoning_content"}, Passback: true, Required: "reasoning_content",
		Effort: map[string]fields{
			"off":  {"thinking": fields{"type": "disabled"}},
			"low":  {"thinking": fields{"type": "enabled"}, "reasoning_effort": "low"},
			"high": {"thinking": fields{"type": "enabled"}, "reasoning_effort": "high"},
			"max":  {"thinking": fields{"type": "enabled"}, "reasoning_effort": "max"},
		},
	},
	{
		Name: "together", Hosts: []string{".together.ai", ".together.xyz"},
		Cap: "max_tokens", Reasoning: anyReasoning, Passback: true,
		Effort: map[string]fields{
			"off":  {"reasoning": fields{"enabled": false}},
			"low":  {"reasoning": fields{"enabled": true}},
			"high": {"reasoning": fields{"enabled": true}},
			"max":  {"reasoning": fields{"enabled": true}},
		},
	},
	{
		Name: "openrouter", Hosts: []string{".openrouter.ai"},
		Cap: "max_tokens", Reasoning: []string{"reasoning", "reasoning_content"}, Passback: true,
		Effort: map[string]fields{
			"off":  {"reasoning": fields{"effort": "none"}},
			"low":  {"reasoning": fields{"effort": "low"}},
			"high": {"reasoning": fields{"effort": "high"}},
			"max":  {"reasoning": fields{"effort": "xhigh"}},
		},
	},
	{
		Name: "vllm", // no usual port of its own: named in the profile
		Cap:  "max_tokens", Reasoning: []string{"reasoning", "reasoning_content"}, Passback: true,
		Effort: map[string]fields{
			"off":  {"chat_template_kwargs": fields{"enable_thinking": false, "thinking": false}},
			"low":  {"chat_template_kwargs": fields{"enable_thinking": true, "thinking": true}, "reasoning_effort": "low"},
			"high": {"chat_template_kwargs": fields{"enable_thinking": true, "thinking": true}, "reasoning_effort": "high"},
			"max":  {"chat_template_kwargs": fields{"enable_thinking": true, "thinking": true}, "reasoning_effort": "high"},
		},
	},
	{
		Name: "llamacpp", // no usual port of its own: named in the profile
		Cap:  "max_tokens", Reasoning: []string{"reasoning_content"}, Passback: true,
		Effort: map[string]fields{
			"off":  {"chat_template_kwargs": fields{"enable_thinking": false}},
			"low":  {"chat_template_kwargs": fields{"enable_thinking": true, "reasoning_effort": "low"}},
			"high": {"chat_template_kwargs": fields{"enable_thinking": true, "reasoning_effort": "high"}},
			"max":  {"chat_template_kwargs": fields{"enable_thinking": true, "reasoning_effort": "high"}},
		},
	},
	{
		Name: "ollama", Hosts: []string{":11434"},
		Cap: "max_tokens", Reasoning: []string{"reasoning", "reasoning_content"}, Passback: true,
		Effort: map[string]fields{
			"off": {"reasoning_effort": "none"}, "low": {"reasoning_effort": "low"},
			"high": {"reasoning_effort": "high"}, "max": {"reasoning_effort": "high"},
		},
	},
}

// pickQuirk finds a row by its name, else by the provider's, else by the URL.
func pickQuirk(name, provider string, base *url.URL) (*Quirk, error) {
	if name == "" && provider == "scripted" {
		name = provider
	}
	var names []string
	for i := range quirks {
		if q := &quirks[i]; name == q.Name || name == "" && q.serves(base) {
			return q, nil
		}
		names = append(names, quirks[i].Name)
	}
	if name == "" {
		return &quirks[0], nil
	}
	return nil, fmt.Errorf("choose the model's quirks: no row is called %q; use one of %s, or leave it out to go by the base URL",
		name, strings.Join(names, ", "))
}

func (q *Quirk) serves(base *url.URL) bool {
	host := base.Hostname()
	return slices.ContainsFunc(q.Hosts, func(h string) bool {
		if port, ok := strings.CutPrefix(h, ":"); ok {
			return port == base.Port()
		}
		return host == strings.TrimPrefix(h, ".") || strings.HasPrefix(h, ".") && strings.HasSuffix(host, h)
	})
}
