package scripted_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
)

// serve starts a server that ends with the test.
func serve(t *testing.T, opts scripted.Options) *scripted.Server {
	t.Helper()
	s, err := scripted.Serve(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// post sends a body and returns status, header and answer.
func post(t *testing.T, s *scripted.Server, body string) (int, http.Header, string) {
	t.Helper()
	res, err := http.Post(s.BaseURL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(answer)
}

// refusal is OpenAI's error body.
type refusal struct {
	Error struct {
		Message string
		Type    string
		Param   *string
		Code    *string
	}
}

// wire encodes a request the way an append-only client does.
func wire(t *testing.T, req llm.Request, more map[string]any) string {
	t.Helper()
	body := map[string]any{"model": "scripted"}
	for k, v := range more {
		body[k] = v
	}
	var tools []any
	for _, tool := range req.Tools {
		tools = append(tools, map[string]any{"type": "function", "function": map[string]any{
			"name": tool.Name, "description": tool.Description, "parameters": tool.Schema,
		}})
	}
	if tools != nil {
		body["tools"] = tools
	}
	var messages []any
	for _, m := range req.Messages {
		w := map[string]any{"role": m.Role, "content": m.Text()}
		if m.Role == llm.RoleTool {
			w["tool_call_id"] = m.CallID
		}
		var calls []any
		for _, c := range m.Calls() {
			calls = append(calls, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
		}
		if calls != nil {
			w["tool_calls"] = calls
		}
		messages = append(messages, w)
	}
	body["messages"] = messages
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// tools declares tools by name.
func tools(names ...string) []llm.Tool {
	var out []llm.Tool
	for _, name := range names {
		out = append(out, llm.Tool{Name: name, Description: "A tool.", Schema: json.RawMessage(`{"type":"object"}`)})
	}
	return out
}

func user(text string) *llm.Message   { return llm.Text(llm.RoleUser, text) }
func system(text string) *llm.Message { return llm.Text(llm.RoleSystem, text) }

// asked makes an assistant message with one call.
func asked(id, tool, args string) *llm.Message {
	return &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{
		{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: id, Name: tool, Arguments: args}},
	}}
}

func result(id, text string) *llm.Message {
	return llm.ToolResult(id, text, strings.HasPrefix(text, "Error:"))
}
