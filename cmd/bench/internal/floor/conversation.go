package floor

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// opening is a request up to its first user message.
const opening = `{"model":"bench","stream":true,"stream_options":{"include_usage":true},"tools":[` +
	`{"type":"function","function":{"name":"read","description":"Read a file.","parameters":{"type":"object","properties":{"file_path":{"type":"string"}},"required":["file_path"]}}},` +
	`{"type":"function","function":{"name":"shell","description":"Run a command.","parameters":{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}}}` +
	`],"messages":[{"role":"system","content":"You work on files."},{"role":"user","content":"Go on until you are done."}`

// conversation is a request that grows at its end: nothing is encoded twice.
type conversation struct {
	url    string
	client *http.Client
	body   []byte // without the closing brackets
}

// answer is what the model said; id is "" where it calls no tool.
type answer struct{ text, id, tool, arguments string }

func newConversation(url string) *conversation {
	return &conversation{url: url + "/chat/completions", client: &http.Client{Transport: &http.Transport{}}, body: []byte(opening)}
}

// ask sends the conversation and reads the answer to its end.
func (c *conversation) ask(ctx context.Context) (answer, error) {
	n := len(c.body)
	c.body = append(c.body, "]}"...)
	defer func() { c.body = c.body[:n] }()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(c.body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1000))
		return answer{}, fmt.Errorf("floor: the endpoint said %s: %s", res.Status, text)
	}
	return read(res.Body)
}

// read collects the deltas of an event stream.
func read(body io.Reader) (a answer, err error) {
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok || bytes.Equal(data, []byte("[DONE]")) {
			continue
		}
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content string
					Calls   []struct {
						ID       string
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal(data, &chunk); err != nil {
			return a, fmt.Errorf("floor: event %.100q: %w", data, err)
		}
		for _, choice := range chunk.Choices {
			a.text += choice.Delta.Content
			for _, call := range choice.Delta.Calls {
				a.id += call.ID
				a.tool += call.Function.Name
				a.arguments += call.Function.Arguments
			}
		}
	}
	return a, lines.Err()
}

// answer appends the model's message and returns its bytes.
func (c *conversation) answer(a answer) []byte {
	return c.add(fmt.Appendf(nil, `{"role":"assistant","content":null,"tool_calls":[{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}]}`,
		quote(a.id), quote(a.tool), quote(a.arguments)))
}

// result appends a tool's result and returns its bytes.
func (c *conversation) result(id, text string) []byte {
	return c.add(fmt.Appendf(nil, `{"role":"tool","tool_call_id":%s,"content":%s}`, quote(id), quote(text)))
}

func (c *conversation) add(message []byte) []byte {
	c.body = append(append(c.body, ','), message...)
	return message
}

func quote(s string) []byte {
	b, _ := json.Marshal(s) // a string always does
	return b
}
