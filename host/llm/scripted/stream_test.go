package scripted_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"

	"github.com/tureen-host/tureen/host/llm/scripted"
)

func params(tools bool) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model:         "scripted",
		Messages:      []openai.ChatCompletionMessageParamUnion{openai.UserMessage("go on")},
		StreamOptions: openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	}
	if tools {
		p.Tools = []openai.ChatCompletionToolUnionParam{openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{
			Name: "read", Parameters: openai.FunctionParameters{"type": "object"},
		})}
	}
	return p
}

// stream decodes an answer with openai-go's own client.
func stream(t *testing.T, s *scripted.Server, tools bool) ([]openai.ChatCompletionChunk, openai.ChatCompletion, error) {
	t.Helper()
	c := client(s)
	events := c.Chat.Completions.NewStreaming(t.Context(), params(tools))
	defer events.Close()
	var chunks []openai.ChatCompletionChunk
	var whole openai.ChatCompletionAccumulator
	for events.Next() {
		chunks = append(chunks, events.Current())
		whole.AddChunk(events.Current())
	}
	return chunks, whole.ChatCompletion, events.Err()
}

func TestM11_StreamHasTheShapeOfTheProtocol(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("Level 3.1 m, ünïts idle. ", 9)
	server := serve(t, scripted.Options{Agent: scripted.NewScript(scripted.Reply{
		Text: text, Reasoning: "thought it over",
		Calls: []scripted.Call{
			{Name: "read", Arguments: `{"file_path":"logs/001.md","why":"` + scripted.Arguments(strings.Repeat("x", 90)) + `"}`},
			{ID: "own", Name: "read", Arguments: "{}"},
		},
	})})
	chunks, whole, err := stream(t, server, true)
	if err != nil {
		t.Fatal(err)
	}
	message := whole.Choices[0].Message
	if message.Content != text || whole.Choices[0].FinishReason != "tool_calls" || len(message.ToolCalls) != 2 {
		t.Errorf("assembled %s", whole.RawJSON())
	}
	if a := message.ToolCalls[0].Function.Arguments; !strings.HasPrefix(a, `{"file_path"`) || !strings.HasSuffix(a, `xx"}`) || message.ToolCalls[1].ID != "own" {
		t.Errorf("calls %+v", message.ToolCalls)
	}
	first, last := chunks[0], chunks[len(chunks)-1]
	if first.Choices[0].Delta.Role != "assistant" || first.Choices[0].Delta.Content != "" {
		t.Errorf("first chunk %s", first.RawJSON())
	}
	if len(last.Choices) != 0 || last.Usage.TotalTokens == 0 || whole.Usage.TotalTokens != last.Usage.TotalTokens {
		t.Errorf("last chunk %s", last.RawJSON())
	}
	fragments, reasoning := 0, 0
	for _, c := range chunks[:len(chunks)-1] {
		if c.JSON.Usage.Raw() != "null" {
			t.Fatalf("usage of a chunk before the last is %q", c.JSON.Usage.Raw())
		}
		for _, call := range c.Choices[0].Delta.ToolCalls {
			fragments++
			if call.Index == 0 && call.ID != "" && call.Function.Arguments != "" {
				t.Error("the chunk that opens a call carries arguments")
			}
		}
		if c.Choices[0].Delta.JSON.ExtraFields["reasoning_content"].Raw() != "" {
			reasoning++
		}
	}
	if fragments < 6 || reasoning == 0 {
		t.Errorf("%d call fragments, %d reasoning chunks", fragments, reasoning)
	}
}

func TestStreamWithoutUsageUnlessAsked(t *testing.T) {
	t.Parallel()
	server := serve(t, scripted.Options{Agent: say("hello")})
	status, header, body := post(t, server, `{"model":"scripted","stream":true,"messages":[{"role":"user","content":"u"}]}`)
	if status != http.StatusOK || header.Get("Content-Type") != "text/event-stream" || strings.Contains(body, "usage") {
		t.Errorf("%d %v %s", status, header, body)
	}
	if !strings.HasSuffix(body, "data: [DONE]\n\n") || strings.Count(body, `"finish_reason":"stop"`) != 1 {
		t.Errorf("end of stream: %s", body)
	}
}

func TestSameRequestSameAnswerAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	body := `{"model":"scripted","stream":true,"tools":` + strings.Replace(oneTool, "read", "glob", 1) + `,"messages":[{"role":"user","content":"Read every file in logs in order and report each line that starts with \"Finding:\"."}]}`
	answer := func() string {
		_, _, answer := post(t, serve(t, scripted.Options{}), body)
		return answer
	}
	if a, b := answer(), answer(); a != b {
		t.Errorf("%s\n\n%s", a, b)
	}
}

func TestScriptPlaysFaults(t *testing.T) {
	t.Parallel()
	script := scripted.NewScript(
		scripted.Reply{Error: &scripted.Failure{Status: 429, Message: "slow down", Type: "rate_limit_error", RetryAfter: "7"}},
		scripted.Reply{Error: &scripted.Failure{Status: 503, Body: "<html>busy</html>"}},
		scripted.Reply{Text: strings.Repeat("words ", 100), DropAfter: 3, ChunkDelayMS: 1},
		scripted.Reply{Text: "no end", Finish: "none", NoDone: true, NoUsage: true},
		scripted.Reply{Calls: []scripted.Call{{Name: "read", Arguments: `{"file_path":`}}},
		scripted.Reply{Raw: ": ping\n\ndata: {\"error\":{\"message\":\"late fault\"}}\n\n"},
		scripted.Reply{Text: "x", Usage: &scripted.Usage{PromptTokens: 9, CachedTokens: 4, CompletionTokens: 2, ReasoningTokens: 1}, Finish: "content_filter"},
	)
	server := serve(t, scripted.Options{Agent: script})

	_, _, err := stream(t, server, false)
	var fault *openai.Error
	if !errors.As(err, &fault) || fault.StatusCode != 429 || fault.Message != "slow down" || fault.Response.Header.Get("Retry-After") != "7" {
		t.Errorf("429: %v", err)
	}
	if _, _, err = stream(t, server, false); !errors.As(err, &fault) || fault.StatusCode != 503 {
		t.Errorf("503: %v", err)
	}
	if chunks, _, err := stream(t, server, false); len(chunks) != 3 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("dropped: %d chunks, %v", len(chunks), err)
	}
	if chunks, whole, err := stream(t, server, false); err != nil || whole.Choices[0].FinishReason != "" || whole.Choices[0].Message.Content != "no end" || chunks[len(chunks)-1].JSON.Usage.Valid() {
		t.Errorf("no finish: %v %s", err, whole.RawJSON())
	}
	if _, whole, err := stream(t, server, true); err != nil || whole.Choices[0].Message.ToolCalls[0].Function.Arguments != `{"file_path":` {
		t.Errorf("malformed arguments: %v %s", err, whole.RawJSON())
	}
	if _, _, err := stream(t, server, false); err == nil || !strings.Contains(err.Error(), "late fault") {
		t.Errorf("raw: %v", err)
	}
	_, whole, err := stream(t, server, false)
	if u := whole.Usage; err != nil || u.PromptTokens != 9 || u.CompletionTokens != 2 || u.PromptTokensDetails.CachedTokens != 4 || u.TotalTokens != 11 {
		t.Errorf("usage: %v %+v", err, u)
	}
	if whole.Choices[0].FinishReason != "content_filter" || script.Left() != 0 {
		t.Errorf("finish %q, %d left", whole.Choices[0].FinishReason, script.Left())
	}
	if _, _, err = stream(t, server, false); !errors.As(err, &fault) || fault.Code != "script_exhausted" {
		t.Errorf("past the end: %v", err)
	}
}
