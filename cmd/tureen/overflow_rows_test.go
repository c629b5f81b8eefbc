package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// refusal is how an endpoint says that a request is too long, or something that looks
// like it. The window in it is the one of the profile.
type refusal struct {
	name   string
	status int
	body   string // with "data: " before it, a stream that begins well
}

// wide is the window of the runs with refusals, in tokens.
const wide = 64000

// tooLong are the wordings of an overflow.
var tooLong = []refusal{
	{"openai", 400, `{"error":{"message":"This model's maximum context length is 64000 tokens. However, your messages resulted in 65001 tokens (64001 in the messages, 1000 in the functions). Please reduce the length.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`},
	{"responses", 400, `{"error":{"message":"Your input exceeds the context window of this model.","param":"input","code":"context_length_exceeded"}}`},
	{"responses, in the stream", 200, `data: {"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}` + "\n\n"},
	{"deepseek", 400, `{"error":{"message":"This model's maximum context length is 64000 tokens. However, you requested 67000 tokens (65000 in the messages, 2000 in the completion).","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`},
	{"vllm", 400, `{"object":"error","message":"This model's maximum context length is 64000 tokens. However, you requested 67000 tokens (65000 in the messages, 2000 in the completion).","type":"BadRequestError","param":null,"code":400}`},
	{"vllm, newer", 400, `{"error":{"message":"This model's maximum context length is 64000 tokens. However, you requested 2000 output tokens and your prompt contains at least 64001 input tokens, for a total of at least 66001 tokens.","type":"BadRequestError","param":"input_tokens","code":400}}`},
	{"llama.cpp", 400, `{"error":{"code":400,"message":"request (65210 tokens) exceeds the available context size (64000 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":65210,"n_ctx":64000}}`},
	{"lm studio", 400, `{"error":"Trying to keep the first 65000 tokens when context overflows. However, the number is greater than the context length"}`},
	{"ollama", 500, `{"error":{"message":"prompt too long; exceeded max context length by 20 tokens","type":"api_error"}}`},
	{"openrouter", 400, `{"error":{"message":"This endpoint’s maximum context length is 64000 tokens. However, you requested about 70000 tokens (64000 of text input, 4000 of tool input, 2000 in the output).","code":400}}`},
	{"openrouter, a quoted body", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 65000 tokens > 64000 maximum\"}}","provider_name":"X"}}}`},
	{"together", 400, `{"error":{"message":"Input (65000 tokens) is longer than the model's context length (64000 tokens).","type":"invalid_request_error"}}`},
	{"litellm", 400, `{"error":{"message":"litellm.ContextWindowExceededError: the prompt exceeds the model's maximum context length of 64,000 tokens","type":null,"param":null,"code":"400"}}`},
	{"groq", 400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages"}}`},
	{"mistral", 400, `{"object":"error","message":"Prompt contains 65000 tokens and 0 draft tokens, too large for model with 64000 maximum context length","type":"invalid_request_error","code":3051}`},
	{"anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 65310 tokens > 64000 maximum"}}`},
	{"anthropic, in the stream", 200, `data: {"error":{"type":"invalid_request_error","message":"prompt is too long: 65310 tokens > 64000 maximum"}}` + "\n\n"},
	{"anthropic, with the cap", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: 64500 + 2000 > 64000, decrease input length"}}`},
	{"anthropic, bytes", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`},
	{"gemini", 400, `[{"error":{"code":400,"message":"The input token count (65265) exceeds the maximum number of tokens allowed (64000).","status":"INVALID_ARGUMENT"}}]`},
	{"xai", 400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 64000 but the request contains 65000 tokens."}`},
	{"copilot", 400, `{"error":{"message":"prompt token count of 65000 exceeds the limit of 64000","code":"model_max_prompt_tokens_exceeded"}}`},
	{"minimax", 400, `{"error":{"message":"invalid params, context window exceeds limit (2013)"}}`},
	{"moonshot", 400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 64000 (requested: 65000)","type":"invalid_request_error"}}`},
	{"dashscope", 400, `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 64000]","type":"invalid_request_error","code":"invalid_parameter_error"}}`},
	{"bedrock", 400, `{"message":"ValidationException: Input is too long for requested model."}`},
	{"any, as a type", 422, `{"error":{"message":"no","type":"context_window_exceeded"}}`},
}

// seemsLong are answers that are no overflow.
var seemsLong = []refusal{
	{"groq, tokens a minute", 413, `{"error":{"message":"Request too large for model x on tokens per minute (TPM): Limit 8000, Requested 10542, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}`},
	{"openai, tokens a minute", 429, `{"error":{"message":"Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 45500.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`},
	{"too many requests", 429, `Too Many Requests`},
	{"overloaded", 503, `{"error":{"message":"The service is overloaded: context length exceeded its share"}}`},
	{"minimax, pairing", 400, `{"error":{"message":"invalid params, tool result does not follow tool call (2013)","type":"bad_request_error"}}`},
	{"deepseek, reasoning", 400, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`},
}

// refuser stands before the model of a crew and refuses its third request, and whatever
// is as long as that.
type refuser struct {
	mu      sync.Mutex
	seen    int // requests of the work
	length  int // of the first one that was refused
	refused [][]byte
}

func (p *crew) refused(t *testing.T, with refusal) *refuser {
	t.Helper()
	to, err := url.Parse(strings.TrimSuffix(p.server.BaseURL(), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	r := &refuser{}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		q.Body = io.NopCloser(bytes.NewReader(body))
		if q.Method != http.MethodPost || !r.refuses(body) {
			proxy.ServeHTTP(w, q)
			return
		}
		if strings.HasPrefix(with.body, "data: ") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		w.WriteHeader(with.status)
		_, _ = io.WriteString(w, with.body)
	}))
	t.Cleanup(server.Close)
	p.env = append(p.env, "OPENAI_BASE_URL="+server.URL+"/v1")
	return r
}

func (r *refuser) refuses(body []byte) bool {
	if bytes.Contains(body, []byte(jsonText(summaryAsk()))) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen++; r.seen == 3 {
		r.length = len(body)
	}
	if r.length == 0 || len(body) < r.length {
		return false
	}
	r.refused = append(r.refused, body)
	return true
}

// overflowing is a crew whose third request is refused.
func overflowing(t *testing.T, strategy string, with refusal, flags ...string) (*crew, *refuser) {
	t.Helper()
	p := planned(t, user(t), []scripted.Reply{half(1), batch(2, "shell", effect("c2-0")), {Text: "Done."}})
	p.flags = append(p.flags, "-c", fmt.Sprintf("model.context_window=%d", wide), "-c", "compaction.strategy="+strategy)
	p.flags = append(p.flags, flags...)
	return p, p.refused(t, with)
}

// Each wording of an overflow leads to one compaction and one more request, a smaller
// one; the long one is sent once.
func TestO1_C073_EachWordingLeadsToOneCompaction(t *testing.T) {
	t.Parallel()
	for i, with := range tooLong {
		for n, strategy := range strategies {
			if n > 0 && i%9 != 0 { // a few of them under each strategy
				continue
			}
			t.Run(with.name+"/"+strategy, func(t *testing.T) {
				t.Parallel()
				p, r := overflowing(t, strategy, with)
				if result := p.ends(t, 0, ""); result.Text != "Done." {
					t.Errorf("%q", result.Text)
				}
				events := p.log(t)
				ended, err := session.Decode[session.CompactionEnded](compacted(t, events))
				if err != nil || ended.Trigger != session.TriggerOverflow {
					t.Errorf("compacted on %s: %v", ended.Trigger, err)
				}
				if len(r.refused) != 1 || p.server.Stats().Refused > 0 {
					t.Errorf("the long request was sent %d times; the strict server refused %d", len(r.refused), p.server.Stats().Refused)
				}
			})
		}
	}
}

// What only looks like an overflow compacts nothing; a quota that the request does not
// fit is told with its numbers.
func TestO1_C074_WhatLooksLikeAnOverflowCompactsNothing(t *testing.T) {
	t.Parallel()
	for _, with := range seemsLong {
		t.Run(with.name, func(t *testing.T) {
			t.Parallel()
			p, r := overflowing(t, "summary", with, "-c", "retry.max_retries=1")
			o := p.sandbox.run(t, append([]string{"run", "-q", "-o", "json"}, append(p.flags, p.task)...)...).stdout
			if n := compactions(t, p.log(t)); n != 0 || len(r.refused) == 0 || len(r.refused) > 2 {
				t.Errorf("%d compactions; sent %d times", n, len(r.refused))
			}
			if strings.Contains(with.name, "a minute") && (len(r.refused) != 1 || !strings.Contains(o, "10542") && !strings.Contains(o, "45500") || strings.Contains(o, "reset")) {
				t.Errorf("sent %d times; told: %s", len(r.refused), o)
			}
		})
	}
}

// An output cap that leaves little of the window is no overflow: each request asks for
// what is left.
func TestO1_C077_ALargeCapOverflowsNothing(t *testing.T) {
	t.Parallel()
	const window, most = 65536, 52000
	p := planned(t, user(t), nil)
	p.task = "Read this.\n" + strings.Repeat("The kiln was lit and nobody minded. ", 1500) // tools leave the answer its room, a person need not
	server, err := scripted.Serve(t.Context(), scripted.Options{Model: "scripted", ContextWindow: window, MaxOutputTokens: window, Agent: &plan{replies: []scripted.Reply{half(1), half(2), half(3), half(4), {Text: "Done."}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	p.env = append(p.env, "OPENAI_BASE_URL="+server.BaseURL())
	p.flags = append(p.flags, "-c", fmt.Sprintf("model.context_window=%d", window), "-c", fmt.Sprintf("model.max_output_tokens=%d", most), "-c", "compaction.strategy=none")
	p.ends(t, 0, "")
	bodies := server.Requests()
	if n := server.Stats(); n.Refused != 0 || len(bodies) != 5 {
		t.Fatalf("%+v", n)
	}
	var last struct {
		Cap  int `json:"max_tokens"`
		Cap2 int `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(bodies[4], &last); err != nil || last.Cap+last.Cap2 <= 0 || last.Cap+last.Cap2 >= most {
		t.Errorf("the last request, of %d bytes, asks for %+v of %d (%v)", len(bodies[4]), last, most, err)
	}
}
