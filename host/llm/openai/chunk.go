package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// chunk is one event of a stream, or a whole answer of a server that does not
// stream. Nothing in it is trusted: null and a field of a wrong type are absent.
type chunk struct {
	Object  string          `json:"object"`
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   usage           `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index        *int            `json:"index"`
	Delta        delta           `json:"delta"`
	Message      delta           `json:"message"`
	FinishReason string          `json:"finish_reason"`
	Usage        usage           `json:"usage"` // where Moonshot puts it
	Error        json.RawMessage `json:"error"`
}

// delta keeps every field raw: which of them carry reasoning is the quirk's to
// say.
type delta map[string]json.RawMessage

type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// readChunk fails only where data is no JSON.
func readChunk(data []byte) (chunk, error) {
	var c chunk
	err := json.Unmarshal(data, &c)
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		err = nil
	}
	return c, err
}

// failure returns the error object of an event, nil if there is none.
func (c *chunk) failure(data []byte) []byte {
	if present(c.Error) || c.Object == "error" {
		return data
	}
	for _, ch := range c.Choices {
		if present(ch.Error) {
			return []byte(`{"error":` + string(ch.Error) + `}`)
		}
	}
	return nil
}

func present(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "{}", "[]", "false":
		return false
	}
	return true
}

// text reads a field that is a string, or a list of parts that hold a text.
func (d delta) text(name string) string {
	raw := d[name]
	if len(raw) == 0 {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return clean(s)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &parts) // what does not fit stays empty
	for _, p := range parts {
		s += p.Text
	}
	return clean(s)
}

// calls reads the tool calls of a delta.
func (d delta) calls() []callDelta {
	var calls []callDelta
	_ = json.Unmarshal(d["tool_calls"], &calls) // what does not fit stays empty
	return calls
}

// arguments reads a fragment of the arguments: a string, or an object as it
// stands (llama.cpp).
func (d callDelta) arguments() string {
	raw := bytes.TrimSpace(d.Function.Arguments)
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return clean(s)
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD") // nobody has decoded it
}

// clean takes NUL out of a text; the JSON decoder has made it valid UTF-8.
func clean(s string) string { return strings.ReplaceAll(s, "\x00", "") }
