package openai_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
)

// sent streams a request against a recorder and returns the decoded body.
func sent(t *testing.T, cfg openai.Config, req llm.Request) map[string]any {
	t.Helper()
	var r recorder
	if out := stream(t, endpoint(t, r.ServeHTTP, cfg), req); out.err != nil {
		t.Fatal(out.err)
	}
	return r.last(t)
}

func TestM2_M3_OnlyWhatIsAskedForIsSent(t *testing.T) {
	t.Parallel()
	body := sent(t, openai.Config{Quirk: "scripted"}, ask())
	want := []string{"messages", "model", "stream", "stream_options"}
	if got := slices.Sorted(maps.Keys(body)); !slices.Equal(got, want) {
		t.Errorf("sent fields %q, want %q", got, want)
	}
	if body["stream"] != true || !reflect.DeepEqual(body["stream_options"], map[string]any{"include_usage": true}) {
		t.Errorf("sent %v", body)
	}
}

func TestM2_TheRequestsCapWinsOverTheConfigs(t *testing.T) {
	t.Parallel()
	cfg := openai.Config{MaxOutputTokens: 1000}
	if got := sent(t, cfg, ask())["max_tokens"]; got != 1000.0 {
		t.Errorf("sent max_tokens %v, want 1000", got)
	}
	req := ask()
	req.MaxOutputTokens = 77
	if got := sent(t, cfg, req)["max_tokens"]; got != 77.0 {
		t.Errorf("sent max_tokens %v, want 77", got)
	}
	if got := sent(t, openai.Config{Quirk: "openai"}, req); got["max_completion_tokens"] != 77.0 || got["max_tokens"] != nil {
		t.Errorf("OpenAI got %v", got)
	}
}

func TestM3_ParamsPassThroughButNotOverTheConversation(t *testing.T) {
	t.Parallel()
	req := ask()
	req.Params = map[string]any{
		"temperature": 0.5, "tool_choice": "auto", "chat_template_kwargs": map[string]any{"a": "<b>"},
		"model": "evil", "messages": "evil", "tools": "evil", "stream": false,
	}
	body := sent(t, openai.Config{}, req)
	if body["temperature"] != 0.5 || body["tool_choice"] != "auto" || body["chat_template_kwargs"].(map[string]any)["a"] != "<b>" {
		t.Errorf("params were changed: %v", body)
	}
	if body["model"] != "m-1" || body["stream"] != true || body["tools"] != nil || len(body["messages"].([]any)) != 2 {
		t.Errorf("params overrode the request: %v", body)
	}
}

func TestM4_M5_M26_EffortPerVendor(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ quirk, effort, want string }{
		{"openai", "off", `{}`},
		{"openai", "low", `{"reasoning_effort":"low"}`},
		{"openai", "max", `{"reasoning_effort":"xhigh"}`},
		{"deepseek", "off", `{"thinking":{"type":"disabled"}}`},
		{"deepseek", "high", `{"thinking":{"type":"enabled"},"reasoning_effort":"high"}`},
		{"deepseek", "max", `{"thinking":{"type":"enabled"},"reasoning_effort":"max"}`},
		{"together", "off", `{"reasoning":{"enabled":false}}`},
		{"together", "high", `{"reasoning":{"enabled":true}}`},
		{"openrouter", "off", `{"reasoning":{"effort":"none"}}`},
		{"openrouter", "max", `{"reasoning":{"effort":"xhigh"}}`},
		{"vllm", "off", `{"chat_template_kwargs":{"enable_thinking":false,"thinking":false}}`},
		{"vllm", "low", `{"chat_template_kwargs":{"enable_thinking":true,"thinking":true},"reasoning_effort":"low"}`},
		{"llamacpp", "off", `{"chat_template_kwargs":{"enable_thinking":false}}`},
		{"llamacpp", "high", `{"chat_template_kwargs":{"enable_thinking":true,"reasoning_effort":"high"}}`},
		{"ollama", "off", `{"reasoning_effort":"none"}`},
		{"scripted", "", `{}`},
		{"deepseek", "", `{}`},
		{"compatible", "high", `{"reasoning_effort":"high"}`},
	} {
		req := ask()
		req.Effort = tt.effort
		body := sent(t, openai.Config{Quirk: tt.quirk}, req)
		for _, name := range []string{"model", "messages", "stream", "stream_options"} {
			delete(body, name)
		}
		var want map[string]any
		if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(body, want) {
			t.Errorf("%s, effort %q: sent %v, want %v", tt.quirk, tt.effort, body, want)
		}
	}
}

func TestM4_AnUnknownEffortIsRefusedBeforeItIsSent(t *testing.T) {
	t.Parallel()
	var r recorder
	req := ask()
	req.Effort = "medium"
	out := stream(t, endpoint(t, r.ServeHTTP, openai.Config{}), req)
	if out.err == nil || out.err.Code != llm.CodeInvalidRequest || len(r.bodies) > 0 {
		t.Errorf("got %v and %d requests, want %s and none", out.err, len(r.bodies), llm.CodeInvalidRequest)
	}
}

func TestM6_ReasoningGoesBackUnderTheFieldItArrivedIn(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ fixture, quirk, field, reasoning string }{
		{"deepseek_reasoning", "deepseek", "reasoning_content", "Think twice."},
		{"sse_comment_openrouter", "openrouter", "reasoning", "Hm."},
		{"reasoning_vllm", "vllm", "reasoning", "Let me see."},
		{"reasoning_vllm", "compatible", "reasoning_content", "Let me see."},
	} {
		var bodies recorder
		c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			bodies.bodies = append(bodies.bodies, string(b))
			events(fixture(t, tt.fixture))(w, r)
		}, openai.Config{Quirk: tt.quirk})
		first := ask()
		out := stream(t, c, first)
		stream(t, c, ask(append(slices.Clone(first.Messages), out.answer.Message, llm.Text(llm.RoleUser, "more"))...))
		message := bodies.last(t)["messages"].([]any)[2].(map[string]any)
		if message[tt.field] != tt.reasoning || message["content"] != out.answer.Message.Text() {
			t.Errorf("%s: sent back %v, want %q under %q", tt.quirk, message, tt.reasoning, tt.field)
		}
	}
}

// history is a conversation with a reasoned tool call.
func history() []*llm.Message {
	return []*llm.Message{
		llm.Text(llm.RoleSystem, "sys"),
		llm.Text(llm.RoleUser, "<go> & \"do\""),
		assistant(llm.Block{Kind: llm.BlockReasoning, Text: "hm", Field: "reasoning"}, callBlock("c1", "read", `{"path":"a"}`)),
		llm.ToolResult("c1", "line\n", false),
		assistant(llm.Block{Kind: llm.BlockText, Text: "done"}),
		llm.Text(llm.RoleUser, "next"),
	}
}

func TestM6_M26_MessagesOnTheWire(t *testing.T) {
	t.Parallel()
	const before = `{"role":"system","content":"sys"},{"role":"user","content":"<go> & \"do\""},{"role":"assistant","content":null`
	const after = `,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},` +
		`{"role":"tool","tool_call_id":"c1","content":"line\n"},{"role":"assistant","content":"done"`
	const end = `},{"role":"user","content":"next"}]}`
	for quirk, want := range map[string]string{
		"scripted": before + `,"reasoning":"hm"` + after + end,
		"openai":   before + after + end,
		"deepseek": before + `,"reasoning":"hm","reasoning_content":""` + after + `,"reasoning_content":""` + end,
	} {
		var r recorder
		stream(t, endpoint(t, r.ServeHTTP, openai.Config{Quirk: quirk}), ask(history()...))
		if _, got, _ := strings.Cut(r.bodies[0], `"messages":[`); got != want {
			t.Errorf("%s got\n%s\nwant\n%s", quirk, got, want)
		}
	}
}

func TestM26_AMessageWithNothingToSayIsSkipped(t *testing.T) {
	t.Parallel()
	body := sent(t, openai.Config{}, ask(
		llm.Text(llm.RoleUser, "a"), assistant(), llm.Text(llm.RoleUser, "b"), assistant(), llm.Text(llm.RoleUser, "c"),
	))
	if got := len(body["messages"].([]any)); got != 3 {
		t.Errorf("sent %d messages, want 3: %v", got, body["messages"])
	}
}

func TestM7_M8_EverySendIsValidated(t *testing.T) {
	t.Parallel()
	var r recorder
	c := endpoint(t, r.ServeHTTP, openai.Config{})
	for name, messages := range map[string][]*llm.Message{
		"nothing":        {},
		"open call":      {llm.Text(llm.RoleUser, "a"), assistant(callBlock("c", "read", "{}"))},
		"foreign result": {llm.Text(llm.RoleUser, "a"), llm.ToolResult("c", "x", false)},
	} {
		out := collect(t, c.Stream(context.Background(), llm.Request{Messages: messages}))
		if out.err == nil || out.err.Code != llm.CodeInvalidRequest {
			t.Errorf("%s: got %v, want %s", name, out.err, llm.CodeInvalidRequest)
		}
	}
	if len(r.bodies) > 0 {
		t.Errorf("%d invalid requests were sent", len(r.bodies))
	}
}

func TestM9_ArgumentsReplayAsAString(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"a": 1}`:      `{"a": 1}`,
		`"{\"a\":1}"`:   `{"a":1}`,
		``:              `{}`,
		`{"a":`:         `{}`,
		`[1]`:           `{}`,
		`null`:          `{}`,
		`rm -rf please`: `{}`,
	} {
		body := sent(t, openai.Config{}, ask(
			llm.Text(llm.RoleUser, "a"), assistant(callBlock("c", "bad name!", given)), llm.ToolResult("c", "x", true),
		))
		call := body["messages"].([]any)[1].(map[string]any)["tool_calls"].([]any)[0].(map[string]any)["function"].(map[string]any)
		if call["arguments"] != want || call["name"] != "bad_name_" {
			t.Errorf("arguments %q were sent as %v, want %q", given, call, want)
		}
	}
}

func TestM22_ToolDeclarations(t *testing.T) {
	t.Parallel()
	var r recorder
	req := ask()
	req.Tools = []llm.Tool{
		{Name: "read", Description: "reads <a file>", Schema: json.RawMessage("{\"type\": \"object\",\n \"properties\": {}}")},
		{Name: "status"},
	}
	stream(t, endpoint(t, r.ServeHTTP, openai.Config{}), req)
	want := `"tools":[{"type":"function","function":{"name":"read","description":"reads <a file>","parameters":{"type":"object","properties":{}}}},` +
		`{"type":"function","function":{"name":"status","description":"","parameters":{"type":"object","properties":{}}}}],"messages":[`
	if !strings.Contains(r.bodies[0], want) {
		t.Errorf("sent %s, want in it %s", r.bodies[0], want)
	}
	req.Tools = []llm.Tool{{Name: "broken", Schema: json.RawMessage("{")}}
	if out := stream(t, endpoint(t, r.ServeHTTP, openai.Config{}), req); out.err == nil || !strings.Contains(out.err.Message, "broken") {
		t.Errorf("a broken schema gave %v", out.err)
	}
}

func TestM23_FollowUpRequestsKeepEveryByteOfThePrefix(t *testing.T) {
	t.Parallel()
	var r recorder
	c := endpoint(t, r.ServeHTTP, openai.Config{MaxOutputTokens: 100})
	req := ask(history()...)
	req.Effort = "high"
	req.Tools = []llm.Tool{{Name: "read", Description: "reads"}}
	stream(t, c, req)
	for i := range 3 {
		req.Messages = append(slices.Clone(req.Messages), assistant(llm.Block{Kind: llm.BlockText, Text: strings.Repeat("y", i+1)}), llm.Text(llm.RoleUser, "on"))
		stream(t, c, req)
		before, now := strings.TrimSuffix(r.bodies[i], "]}"), r.bodies[i+1]
		if !strings.HasPrefix(now, before) {
			t.Fatalf("request %d does not begin with request %d:\n%s\n%s", i+1, i, now, before)
		}
	}

	// A compaction call has another cap, but the same tools and messages.
	side := req
	side.Purpose, side.MaxOutputTokens, side.Effort = llm.PurposeCompaction, 5, "off"
	side.Messages = append(slices.Clone(req.Messages[:len(req.Messages)-1]), llm.Text(llm.RoleUser, "summarise"))
	stream(t, c, side)
	main, compaction := r.bodies[3][strings.Index(r.bodies[3], `"tools":`):], r.bodies[4][strings.Index(r.bodies[4], `"tools":`):]
	shared := strings.TrimSuffix(main, `,{"role":"user","content":"on"}]}`)
	if shared == main || !strings.HasPrefix(compaction, shared+`,{"role":"user","content":"summarise"}`) {
		t.Errorf("the compaction call departs from the conversation:\n%s\n%s", compaction, main)
	}

	// It leaves the main line as it was, and so does an edit of its tail.
	stream(t, c, req)
	if r.bodies[5] != r.bodies[3] {
		t.Errorf("the same request gave other bytes:\n%s\n%s", r.bodies[5], r.bodies[3])
	}
	edited := req
	edited.Messages = append(slices.Clone(req.Messages[:2]), assistant(llm.Block{Kind: llm.BlockText, Text: "edited"}), llm.Text(llm.RoleUser, "so"))
	stream(t, c, edited)
	stream(t, c, req)
	if !strings.HasSuffix(r.bodies[6], `{"role":"assistant","content":"edited"},{"role":"user","content":"so"}]}`) || r.bodies[7] != r.bodies[3] {
		t.Errorf("an edit was not sent, or broke the main line:\n%s\n%s", r.bodies[6], r.bodies[7])
	}
}

func TestM23_AFollowUpEncodesItsNewMessagesOnly(t *testing.T) {
	c := client(t, openai.Config{BaseURL: "http://127.0.0.1:1"})
	cost := func(n int) float64 {
		messages := []*llm.Message{llm.Text(llm.RoleSystem, "s")}
		for range n {
			messages = append(messages, llm.Text(llm.RoleUser, "question"), llm.Text(llm.RoleAssistant, "answer"))
		}
		messages = append(messages, llm.Text(llm.RoleUser, "last"))
		_ = c.Stream(context.Background(), ask(messages...))
		return testing.AllocsPerRun(20, func() {
			messages = append(messages, llm.Text(llm.RoleAssistant, "answer"), llm.Text(llm.RoleUser, "question"))
			_ = c.Stream(context.Background(), ask(messages...))
		})
	}
	if short, long := cost(10), cost(3000); long > short+5 {
		t.Errorf("a follow-up takes %v allocations after 10 exchanges and %v after 3000", short, long)
	}
}

func TestM24_ARequestIsFrozenAndSentOnce(t *testing.T) {
	t.Parallel()
	var r recorder
	c := endpoint(t, r.ServeHTTP, openai.Config{})
	req := ask()
	req.Params = map[string]any{"seed": 1}
	seq := c.Stream(context.Background(), req)
	req.Messages[1] = llm.Text(llm.RoleUser, "changed")
	req.Params["seed"] = 2
	if out := collect(t, seq); out.err != nil {
		t.Fatal(out.err)
	}
	body := r.last(t)
	if body["seed"] != 1.0 || body["messages"].([]any)[1].(map[string]any)["content"] != "hi" {
		t.Errorf("a later change reached the request: %v", body)
	}
	if out := collect(t, seq); out.err == nil || out.err.Code != llm.CodeInvalidRequest || len(r.bodies) != 1 {
		t.Errorf("the second range gave %v and %d requests", out.err, len(r.bodies))
	}
}

func TestConcurrentSessionsShareAClient(t *testing.T) {
	t.Parallel()
	c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct{ Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		for i, m := range body.Messages {
			if want := body.Messages[0].Content; m.Content != want {
				t.Errorf("message %d of session %s belongs to session %s", i, want, m.Content)
			}
		}
		events(okStream)(w, r)
	}, openai.Config{})
	t.Run("sessions", func(t *testing.T) {
		for _, name := range strings.Fields("a b c d e f g h") {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				messages := []*llm.Message{llm.Text(llm.RoleSystem, name), llm.Text(llm.RoleUser, name)}
				for range 10 {
					if out := collect(t, c.Stream(context.Background(), ask(messages...))); out.err != nil {
						t.Fatal(out.err)
					}
					messages = append(messages, llm.Text(llm.RoleAssistant, name), llm.Text(llm.RoleUser, name))
				}
			})
		}
	})
}

func TestM26_QuirksAreFoundByAddressOrName(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://api.openai.com/v1":          `"max_completion_tokens":9`,
		"https://x.openai.azure.com/openai":  `"max_completion_tokens":9`,
		"https://api.deepseek.com":           `"thinking"`,
		"https://api.together.xyz/v1":        `"enabled":true`,
		"https://openrouter.ai/api/v1":       `"reasoning":{"effort":"low"}`,
		"http://localhost:11434/v1":          `"reasoning_effort":"low"`,
		"https://notopenrouter.ai.test/v1":   `"reasoning_effort":"low"`,
		"https://evil-api.openai.com.test/1": `"max_tokens":9`,
	} {
		var body string
		c := client(t, openai.Config{BaseURL: base, HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			b, _ := io.ReadAll(r.Body)
			body = string(b)
			return respond(okStream), nil
		})}})
		req := ask()
		req.MaxOutputTokens, req.Effort = 9, "low"
		stream(t, c, req)
		if !strings.Contains(body, want) {
			t.Errorf("%s got %s, want in it %s", base, body, want)
		}
	}
	if _, err := openai.New(openai.Config{Quirk: "nonesuch"}); err == nil || !strings.Contains(err.Error(), "deepseek") {
		t.Errorf("an unknown quirk gave %v, want an error that lists the rows", err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func respond(body string) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}
