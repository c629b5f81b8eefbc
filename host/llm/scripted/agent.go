package scripted

import (
	"encoding/json"

	"github.com/tureen-host/tureen/host/llm"
)

// Agent answers requests. Reply is called from several goroutines at once and
// must not change the request. The request's Purpose is empty: the wire does not
// carry it.
type Agent interface {
	Reply(req llm.Request) Reply
}

// AgentOf is the built-in agent behind a model name: Habits behind HabitsModel, else
// Rules.
func AgentOf(model string) Agent {
	if model == HabitsModel {
		return Habits{}
	}
	return Rules{}
}

// AgentFunc is a function that is an Agent.
type AgentFunc func(llm.Request) Reply

// Reply calls f.
func (f AgentFunc) Reply(req llm.Request) Reply { return f(req) }

// Reply is what an Agent answers, and how the answer travels. The zero value is
// an empty answer with finish reason stop.
type Reply struct {
	Text      string `json:"text,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	// ReasoningField is the field that carries Reasoning, "reasoning_content"
	// where empty.
	ReasoningField string `json:"reasoning_field,omitempty"`
	Calls          []Call `json:"calls,omitempty"`
	// Finish is the finish reason: "" lets the content decide, "none" sends none.
	Finish string `json:"finish,omitempty"`
	// Usage replaces the server's own count; NoUsage leaves usage out.
	Usage   *Usage `json:"usage,omitempty"`
	NoUsage bool   `json:"no_usage,omitempty"`

	// Error answers with an HTTP error instead.
	Error *Failure `json:"error,omitempty"`
	// Raw is sent verbatim as the body of an event stream instead.
	Raw string `json:"raw,omitempty"`
	// DelayMS is waited before the first byte, ChunkDelayMS before each event.
	DelayMS      int `json:"delay_ms,omitempty"`
	ChunkDelayMS int `json:"chunk_delay_ms,omitempty"`
	// DropAfter, where positive, cuts the connection after that many events.
	DropAfter int `json:"drop_after,omitempty"`
	// NoDone ends the stream without its [DONE] line.
	NoDone bool `json:"no_done,omitempty"`
}

// Call is a tool call of a Reply. An empty ID is filled by the server, the same
// one for the same request.
type Call struct {
	ID        string    `json:"id,omitempty"`
	Name      string    `json:"name"`
	Arguments Arguments `json:"arguments"`
}

// Arguments is the argument text of a call, which need not be JSON. In a script
// file it is written as a string, or as the object itself.
type Arguments string

// UnmarshalJSON takes a string's content, or any other value's text.
func (a *Arguments) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	*a = Arguments(text)
	return nil
}

// Usage is a usage report as the wire has it: PromptTokens includes CachedTokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CachedTokens     int `json:"cached_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	ReasoningTokens  int `json:"reasoning_tokens"`
}

// Failure is an HTTP error. A Body that is empty becomes OpenAI's error object
// with Message, Type and Code.
type Failure struct {
	Status     int    `json:"status"`
	Message    string `json:"message,omitempty"`
	Type       string `json:"type,omitempty"`
	Code       string `json:"code,omitempty"`
	Body       string `json:"body,omitempty"`
	RetryAfter string `json:"retry_after,omitempty"` // the header's value
}
