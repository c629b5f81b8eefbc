package openai_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
)

// refusals are answers with a bad status. What looks like an overflow and is
// none stands first.
var refusals = []struct {
	name              string
	status            int
	body              string
	code              llm.Code
	window, requested int
	hint              string // in the hint
}{
	{"N1 groq tokens a minute", 413, `{"error":{"message":"Request too large for model x in organization o service tier on_demand on tokens per minute (TPM): Limit 6000, Requested 8123, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}`, llm.CodeQuota, 0, 0, "6000"},
	{"N2 openai tokens a minute", 429, `{"error":{"message":"Request too large for gpt-x in organization org on tokens per min (TPM): Limit 30000, Requested 45,500.","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, llm.CodeQuota, 0, 0, "45500"},
	{"rate limit that passes", 429, `{"error":{"message":"Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.","code":"rate_limit_exceeded"}}`, llm.CodeRateLimit, 0, 0, ""},
	{"N4 too many requests", 429, `Too Many Requests`, llm.CodeRateLimit, 0, 0, ""},
	{"N4 overloaded", 503, `{"error":{"message":"The service is overloaded: context length exceeded its share"}}`, llm.CodeServer, 0, 0, ""},
	{"N7 minimax pairing", 400, `{"error":{"message":"invalid params, tool result does not follow tool call (2013)","type":"bad_request_error"}}`, llm.CodeInvalidRequest, 0, 0, ""},
	{"N9 deepseek reasoning", 400, `{"error":{"message":"The reasoning_content in the thinking mode must be passed back to the API.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, llm.CodeInvalidRequest, 0, 0, ""},
	{"wrong parameter", 400, `{"error":{"message":"Unsupported value: 'xhigh'","type":"invalid_request_error","param":"reasoning_effort","code":"unsupported_value"}}`, llm.CodeInvalidRequest, 0, 0, "reasoning_effort"},

	{"wrong key", 401, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`, llm.CodeAuth, 0, 0, "$LLM_KEY"},
	{"wrong key, gemini", 400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, llm.CodeAuth, 0, 0, "$LLM_KEY"},
	{"forbidden", 403, `{"detail":"country not supported"}`, llm.CodeAuth, 0, 0, ""},
	{"forbidden by quota", 403, `{"error":{"message":"insufficient credits"}}`, llm.CodeQuota, 0, 0, "balance"},
	{"no money", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, llm.CodeQuota, 0, 0, "balance"},
	{"openai quota", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, llm.CodeQuota, 0, 0, ""},
	{"gemini quota that refills", 429, `[{"error":{"code":429,"message":"You exceeded your current quota. Please retry in 20.3s.","status":"RESOURCE_EXHAUSTED"}}]`, llm.CodeRateLimit, 0, 0, ""},

	{"1 openai", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens (8001 in the messages, 1000 in the functions). Please reduce the length of the messages or functions.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, llm.CodeOverflow, 8192, 9001, "context_window"},
	{"2 openai, no numbers", 400, `{"error":{"message":"Your input exceeds the context window of this model.","param":"input","code":"context_length_exceeded"}}`, llm.CodeOverflow, 0, 0, ""},
	{"3 deepseek", 400, `{"error":{"message":"This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (69000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, llm.CodeOverflow, 65536, 69000, ""},
	{"4 vllm, top level, numeric code", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens (4900 in the messages, 100 in the completion).","type":"BadRequestError","param":null,"code":400}`, llm.CodeOverflow, 4096, 4900, ""},
	{"5 vllm, newer", 400, `{"error":{"message":"This model's maximum context length is 40960 tokens. However, you requested 512 output tokens and your prompt contains at least 40961 input tokens, for a total of at least 41473 tokens.","type":"BadRequestError","param":"input_tokens","code":400}}`, llm.CodeOverflow, 40960, 40961, ""},
	{"7 llama.cpp", 400, `{"error":{"code":400,"message":"request (5210 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5210,"n_ctx":4096}}`, llm.CodeOverflow, 4096, 5210, ""},
	{"7 llama.cpp, fields only", 400, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5210,"n_ctx":4096}}`, llm.CodeOverflow, 4096, 5210, ""},
	{"8 lm studio", 400, `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the number is greater than the context length"}`, llm.CodeOverflow, 0, 0, ""},
	{"9 ollama", 500, `{"error":{"message":"prompt too long; exceeded max context length by 20 tokens","type":"api_error"}}`, llm.CodeOverflow, 0, 0, ""},
	{"11 openrouter", 400, `{"error":{"message":"This endpoint’s maximum context length is 131072 tokens. However, you requested about 150000 tokens (140000 of text input, 9000 of tool input, 1000 in the output). Please reduce the length of either one.","code":400}}`, llm.CodeOverflow, 131072, 149000, ""},
	{"11 openrouter, upstream quoted", 400, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 250000 tokens > 200000 maximum\"}}","provider_name":"X"}}}`, llm.CodeOverflow, 200000, 250000, ""},
	{"13 together", 400, `{"error":{"message":"Input (33000 tokens) is longer than the model's context length (32769 tokens).","type":"invalid_request_error"}}`, llm.CodeOverflow, 32769, 33000, ""},
	{"14 litellm", 400, `{"error":{"message":"litellm.ContextWindowExceededError: the prompt exceeds the model's maximum context length of 32,768 tokens","type":null,"param":null,"code":"400"}}`, llm.CodeOverflow, 32768, 0, ""},
	{"15 groq", 400, `{"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","param":"messages"}}`, llm.CodeOverflow, 0, 0, ""},
	{"17 mistral", 400, `{"object":"error","message":"Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length","type":"invalid_request_error","code":3051}`, llm.CodeOverflow, 32768, 40000, ""},
	{"18 anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`, llm.CodeOverflow, 200000, 208310, ""},
	{"19 anthropic, with the cap", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: 199990 + 20000 > 200000, decrease input length"}}`, llm.CodeOverflow, 200000, 199990, ""},
	{"20 anthropic, bytes", 413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, llm.CodeOverflow, 0, 0, ""},
	{"20 nginx, bytes", 413, `<html><head><title>413 Request Entity Too Large</title></head></html>`, llm.CodeOverflow, 0, 0, ""},
	{"21 gemini", 400, `[{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}]`, llm.CodeOverflow, 1048575, 1196265, ""},
	{"22 xai", 400, `{"code":"Client specified an invalid argument","error":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}`, llm.CodeOverflow, 131072, 140000, ""},
	{"23 copilot", 400, `{"error":{"message":"prompt token count of 90000 exceeds the limit of 64000","code":"model_max_prompt_tokens_exceeded"}}`, llm.CodeOverflow, 64000, 90000, ""},
	{"24 minimax", 400, `{"error":{"message":"invalid params, context window exceeds limit (2013)"}}`, llm.CodeOverflow, 0, 0, ""},
	{"25 moonshot", 400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)","type":"invalid_request_error"}}`, llm.CodeOverflow, 131072, 140000, ""},
	{"27 dashscope", 400, `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]","type":"invalid_request_error","code":"invalid_parameter_error"}}`, llm.CodeOverflow, 30720, 0, ""},
	{"29 bedrock", 400, `{"message":"ValidationException: Input is too long for requested model."}`, llm.CodeOverflow, 0, 0, ""},
	{"32 any, as a type", 422, `{"error":{"message":"no","type":"context_window_exceeded"}}`, llm.CodeOverflow, 0, 0, ""},

	{"no such model", 404, `{"error":{"message":"The model 'm-1' does not exist","code":"model_not_found"}}`, llm.CodeNotFound, 0, 0, `"m-1"`},
	{"no such model, deepseek", 400, `{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}`, llm.CodeNotFound, 0, 0, `"m-1"`},
	{"no such path", 404, `404 page not found`, llm.CodeNotFound, 0, 0, "base_url"},
	{"a web site", 404, `<!doctype html><title>Not here</title>`, llm.CodeNotFound, 0, 0, "not a Chat Completions endpoint"},
	{"a web site, 405", 405, `<html></html>`, llm.CodeInvalidRequest, 0, 0, "not a Chat Completions endpoint"},
	{"slow request", 408, ``, llm.CodeTimeout, 0, 0, ""},
	{"server error", 500, `{"error":"boom"}`, llm.CodeServer, 0, 0, ""},
	{"gateway error", 502, `<html><head><title>502 Bad Gateway</title></head></html>`, llm.CodeServer, 0, 0, ""},
	{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.CodeServer, 0, 0, ""},
	{"fastapi list", 422, `{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error.missing"}]}`, llm.CodeInvalidRequest, 0, 0, ""},
	{"no reason, small input", 400, ``, llm.CodeInvalidRequest, 0, 0, ""},
}

func TestM17_Refusals(t *testing.T) {
	t.Parallel()
	for _, tt := range refusals {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out := stream(t, endpoint(t, says(tt.status, tt.body), openai.Config{ContextWindow: 1 << 20, APIKey: key, APIKeyEnv: "LLM_KEY"}), ask())
			if out.err == nil {
				t.Fatal("no error")
			}
			e := out.err
			if e.Code != tt.code || e.Status != tt.status || e.Window != tt.window || e.Requested != tt.requested {
				t.Errorf("got %s, status %d, window %d, requested %d; want %s, %d, %d, %d\n%s",
					e.Code, e.Status, e.Window, e.Requested, tt.code, tt.status, tt.window, tt.requested, e.Message)
			}
			if !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("hint %q, want in it %q", e.Hint, tt.hint)
			}
			if strings.TrimSpace(e.Message) == "" {
				t.Error("the message is empty")
			}
		})
	}
}

// A wording that names a sum counts the output cap that was sent; one that names the
// input alone does not.
func TestM17_C10_TheSizeOfARefusalIsItsInput(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"exceeded model token limit: 32768 (requested: 33000)":                                                                        25000,
		"maximum context length is 32768 tokens. However, you requested 33000 tokens":                                                 25000,
		"maximum context length is 32768 tokens. However, you requested 33000 tokens (32000 in the messages, 1000 in the completion)": 32000,
		"maximum context length is 32768 tokens. However, you requested 7000 tokens":                                                  7000, // less than the cap alone
		"maximum context length is 32768 tokens. However, your messages resulted in 33000 tokens":                                     33000,
		"request (33000 tokens) exceeds the available context size (32768 tokens)":                                                    33000,
		"Input (33000 tokens) is longer than the model's context length (32768 tokens)":                                               33000,
		"Prompt contains 33000 tokens and 0 draft tokens, too large for model with 32768 maximum context length":                      33000,
		"prompt is too long: 33000 tokens > 32768 maximum":                                                                            33000,
		"The input token count (33000) exceeds the maximum number of tokens allowed (32768).":                                         33000,
		"maximum prompt length is 32768 but the request contains 33000 tokens":                                                        33000,
		"prompt token count of 33000 exceeds the limit of 32768":                                                                      33000,
		"input length and max_tokens exceed context limit: 32700 + 8000 > 32768":                                                      32700,
		"max_tokens is too large: 8000. This model's maximum context length is 32768 tokens and your request has 32700 input tokens":  32700,
	} {
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": text, "code": 400}})
		out := stream(t, endpoint(t, says(400, string(body)), openai.Config{MaxOutputTokens: 8000}), ask())
		if out.err == nil || out.err.Code != llm.CodeOverflow || out.err.Requested != want {
			t.Errorf("%s: %v, %d tokens of input, want %d", text, out.err, out.err.Requested, want)
		}
	}
}

func TestM17_ABareRefusalOfABigInputIsAnOverflow(t *testing.T) {
	t.Parallel()
	big := ask(llm.Text(llm.RoleUser, strings.Repeat("word ", 600))) // about 1,000 tokens
	for _, tt := range []struct {
		window int
		body   string
		code   llm.Code
	}{
		{1150, ``, llm.CodeOverflow}, // row 16: above 80 %
		{1150, `{"error":{"message":"bad request"}}`, llm.CodeInvalidRequest},
		{1050, `{"error":{"message":"bad request"}}`, llm.CodeOverflow}, // above 90 %
		{1050, `{"error":{"message":"bad value","param":"temperature"}}`, llm.CodeInvalidRequest},
		{0, ``, llm.CodeInvalidRequest},
	} {
		out := stream(t, endpoint(t, says(400, tt.body), openai.Config{ContextWindow: tt.window}), big)
		if out.err == nil || out.err.Code != tt.code {
			t.Errorf("window %d, body %q: got %v, want %s", tt.window, tt.body, out.err, tt.code)
		}
	}
}

func TestM17_N5_OnlyTheCapIsTooLarge(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]string{
		"exact":    `{"error":{"message":"This model's maximum context length is 32768 tokens. However, you requested 38000 tokens (30000 in the messages, 8000 in the completion).","code":400}}`,
		"at least": `{"error":{"message":"This model's maximum context length is 32768 tokens. However, you requested 8000 output tokens and your prompt contains at least 24769 input tokens","code":400}}`,
	} {
		var r recorder
		refuse := true
		c := endpoint(t, func(w http.ResponseWriter, req *http.Request) {
			if refuse {
				refuse = false
				says(400, refusal)(w, req)
				return
			}
			r.ServeHTTP(w, req)
		}, openai.Config{MaxOutputTokens: 8000})
		if out := stream(t, c, ask()); out.err != nil {
			t.Fatalf("%s: %v", name, out.err)
		}
		want := map[string]float64{"exact": 32768 - 30000 - 256, "at least": 4000}[name]
		if got := r.last(t)["max_tokens"]; got != want {
			t.Errorf("%s: resent with max_tokens %v, want %v", name, got, want)
		}
	}
}

func TestM17_N5_ASecondRefusalIsAnOverflow(t *testing.T) {
	t.Parallel()
	for _, refusal := range []string{
		"requested 38000 tokens (30000 in the messages, CAP in the completion)",
		"requested CAP output tokens and your prompt contains at least 24769 input tokens",
	} {
		requests := 0
		c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			var body struct {
				Cap int `json:"max_tokens"`
			}
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			text := strings.ReplaceAll(refusal, "CAP", strconv.Itoa(body.Cap))
			says(400, `{"error":{"message":"maximum context length is 32768 tokens. However, you `+text+`"}}`)(w, r)
		}, openai.Config{MaxOutputTokens: 8000})
		out := stream(t, c, ask())
		if out.err == nil || out.err.Code != llm.CodeOverflow || out.err.Window != 32768 || requests != 2 {
			t.Errorf("got %v after %d requests, want %s after 2", out.err, requests, llm.CodeOverflow)
		}
	}
}

func TestM17_ARefusalInsideOfAStreamIsNotResent(t *testing.T) {
	t.Parallel()
	requests := 0
	c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		requests++
		events(oneDelta+`data: {"error":{"code":400,"message":"maximum context length is 32768 tokens. However, you requested 38000 tokens (30000 in the messages, 8000 in the completion)"}}`+"\n\n")(w, r)
	}, openai.Config{MaxOutputTokens: 8000})
	out := stream(t, c, ask())
	if out.err == nil || out.err.Code != llm.CodeOverflow || out.text != "x" || requests != 1 {
		t.Errorf("got %v after text %q and %d requests, want %s after one", out.err, out.text, requests, llm.CodeOverflow)
	}
}

func TestM20_UsageIsAlwaysAskedForAndDroppedOnce(t *testing.T) {
	t.Parallel()
	var r recorder
	requests := 0
	c := endpoint(t, func(w http.ResponseWriter, req *http.Request) {
		requests++
		b, _ := io.ReadAll(req.Body)
		if strings.Contains(string(b), "stream_options") {
			says(400, `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`)(w, req)
			return
		}
		req.Body = io.NopCloser(strings.NewReader(string(b)))
		r.ServeHTTP(w, req)
	}, openai.Config{})
	for range 2 {
		if out := stream(t, c, ask()); out.err != nil {
			t.Fatal(out.err)
		}
	}
	if requests != 3 {
		t.Errorf("%d requests, want 3: the field is remembered as refused", requests)
	}
}

func TestM17_S2_AnInputThatLeftNoRoomIsAnOverflow(t *testing.T) {
	t.Parallel()
	body := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}],"usage":{"prompt_tokens":998,"completion_tokens":0}}` + "\n\n"
	out := stream(t, endpoint(t, events(body), openai.Config{ContextWindow: 1000}), ask())
	if out.err == nil || out.err.Code != llm.CodeOverflow || out.err.Window != 1000 || out.err.Requested != 998 {
		t.Errorf("got %+v, %v", out.answer, out.err)
	}
}

func TestM17_AWebSiteInsteadOfAnEndpoint(t *testing.T) {
	t.Parallel()
	out := stream(t, endpoint(t, says(200, "<html><head><title>Welcome</title></head></html>", "Content-Type", "text/html"), openai.Config{}), ask())
	if out.err == nil || out.err.Code != llm.CodeNotFound || !strings.Contains(out.err.Hint, "not a Chat Completions endpoint") {
		t.Errorf("got %v, hint %q", out.err, out.err.Hint)
	}
	for body, code := range map[string]llm.Code{
		`{"status":"alive"}`:                    llm.CodeMalformed,
		`{"error":{"message":"no","code":429}}`: llm.CodeRateLimit,
	} {
		if out := stream(t, endpoint(t, says(200, body), openai.Config{}), ask()); out.err == nil || out.err.Code != code {
			t.Errorf("%s gave %v, want %s", body, out.err, code)
		}
	}
}

func TestM17_ARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	out := stream(t, endpoint(t, says(301, "", "Location", "https://elsewhere.test/v1/chat/completions?k=1"), openai.Config{}), ask())
	if out.err == nil || out.err.Code != llm.CodeNotFound || !strings.Contains(out.err.Message, "https://elsewhere.test/v1") || strings.Contains(out.err.Message, "k=1") {
		t.Errorf("got %v", out.err)
	}
}

func TestM17_RetryAfter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		header, value string
		min, max      time.Duration
	}{
		"seconds":      {"Retry-After", "7", 7 * time.Second, 7 * time.Second},
		"fraction":     {"Retry-After", "0.5", 500 * time.Millisecond, 500 * time.Millisecond},
		"milliseconds": {"Retry-After-Ms", "250", 250 * time.Millisecond, 250 * time.Millisecond},
		"date":         {"Retry-After", time.Now().Add(2 * time.Hour).UTC().Format(http.TimeFormat), time.Hour, 2 * time.Hour},
		"past date":    {"Retry-After", "Mon, 02 Jan 2006 15:04:05 GMT", 0, 0},
		"nonsense":     {"Retry-After", "soon", 0, 0},
		"negative":     {"Retry-After", "-3", 0, 0},
	} {
		out := stream(t, endpoint(t, says(429, "slow down", tt.header, tt.value), openai.Config{}), ask())
		if out.err == nil || out.err.Code != llm.CodeRateLimit || out.err.RetryAfter < tt.min || out.err.RetryAfter > tt.max {
			t.Errorf("%s: got %v, retry after %v; want %v to %v", name, out.err, out.err.RetryAfter, tt.min, tt.max)
		}
	}
}

func TestM17_NoServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	out := stream(t, client(t, openai.Config{BaseURL: "http://" + address + "/v1"}), ask())
	if out.err == nil || out.err.Code != llm.CodeTransport || !out.err.Retryable() || !strings.Contains(out.err.Hint, "is the server running at "+address) {
		t.Errorf("got %v, hint %q", out.err, out.err.Hint)
	}
}

func TestM17_HTTPSToAPlainServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler(), ErrorLog: discard()}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	c := client(t, openai.Config{BaseURL: "https://" + l.Addr().String()})
	if out := stream(t, c, ask()); out.err == nil || out.err.Code != llm.CodeTransport || !strings.Contains(out.err.Hint, "http://") {
		t.Errorf("got %v, hint %q", out.err, out.err.Hint)
	}
}
