package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
)

// streams are the answers of the vendors, byte by byte (testdata/NAME.sse), and
// what has to come of them.
var streams = []struct {
	name      string
	quirk     string
	text      string
	reasoning string
	field     string
	calls     []llm.ToolCall
	stop      llm.StopReason // "" = an error
	usage     llm.Usage
	model     string
	code      llm.Code
	requested int
}{
	{name: "plain", text: "Hello there", stop: llm.StopEnd, usage: llm.Usage{Input: 11, Output: 3}, model: "m-1"},
	{
		name: "openai_tools", quirk: "openai", stop: llm.StopToolCalls, model: "gpt-x",
		calls: []llm.ToolCall{{ID: "call_a", Name: "read", Arguments: `{"path":"a.txt"}`}, {ID: "call_b", Name: "read", Arguments: `{"path":"b.txt"}`}},
		usage: llm.Usage{Input: 176, CacheRead: 1024, Output: 80, Reasoning: 64},
	},
	{
		name: "deepseek_reasoning", quirk: "deepseek", text: "42", reasoning: "Think twice.", field: "reasoning_content",
		stop: llm.StopEnd, usage: llm.Usage{Input: 36, CacheRead: 64, Output: 20, Reasoning: 15}, model: "deepseek-flash",
	},
	{
		name: "sse_comment_openrouter", quirk: "openrouter", text: "Yes.", reasoning: "Hm.", field: "reasoning",
		stop: llm.StopEnd, usage: llm.Usage{Input: 100, CacheRead: 300, CacheWrite: 100, Output: 10, Reasoning: 4}, model: "v/m",
	},
	{name: "together", quirk: "together", text: "7", reasoning: "Sure", field: "reasoning", stop: llm.StopEnd, usage: llm.Usage{Input: 24, CacheRead: 16, Output: 6}, model: "zai-org/GLM"},
	{name: "reasoning_vllm", quirk: "vllm", text: "\n\nDone.", reasoning: "Let me see.", field: "reasoning", stop: llm.StopEnd, usage: llm.Usage{Input: 30, Output: 12}, model: "qwen"},
	{name: "usage_cached_llamacpp", quirk: "llamacpp", text: "hi", stop: llm.StopEnd, usage: llm.Usage{Input: 20, CacheRead: 880, Output: 2}, model: "gguf"},
	{
		name: "tc_no_index", quirk: "ollama", stop: llm.StopToolCalls, model: "o",
		calls: []llm.ToolCall{{ID: "call_1", Name: "read", Arguments: `{"path":"a"}`}, {ID: "call_2", Name: "read", Arguments: `{"path":"b"}`}},
	},
	{name: "plain", quirk: "scripted", text: "Hello there", stop: llm.StopEnd, usage: llm.Usage{Input: 11, Output: 3}, model: "m-1"},

	{name: "sse_keepalives", text: "ab", stop: llm.StopEnd, model: "m-1"},
	{name: "sse_error_first", code: llm.CodeOverflow},
	{name: "sse_error_vllm", code: llm.CodeOverflow, requested: 4900},
	{name: "sse_error_event", code: llm.CodeServer},
	{name: "sse_error_mid", text: "Half an", code: llm.CodeRateLimit},
	{name: "azure_first_empty", text: "ok", stop: llm.StopEnd, model: "gpt-az"},
	{name: "nulls_everywhere", text: "fine", stop: llm.StopEnd, model: "sg"},
	{name: "usage_none", text: "x", stop: llm.StopEnd, model: "m"},
	{name: "usage_zero", text: "x", stop: llm.StopEnd, usage: llm.Usage{Input: 70, Output: 2}, model: "m"},
	{name: "usage_in_choice", text: "x", stop: llm.StopEnd, usage: llm.Usage{Input: 18, CacheRead: 32, Output: 4}, model: "kimi"},

	{name: "reasoning_only", text: " \n", reasoning: "The answer is 7.", code: llm.CodeEmptyResponse},
	{name: "reasoning_only_at_cap", reasoning: "The answer might", field: "reasoning_content", stop: llm.StopMaxTokens, usage: llm.Usage{Input: 9, Output: 5}, model: "m"},
	{name: "empty", code: llm.CodeEmptyResponse},

	{
		name: "tc_index_always_0", stop: llm.StopToolCalls, model: "o",
		calls: []llm.ToolCall{{ID: "call_1", Name: "read", Arguments: `{"path":"a"}`}, {ID: "call_2", Name: "glob", Arguments: `{"pattern":"b"}`}},
	},
	{name: "tc_args_object", stop: llm.StopToolCalls, model: "l", calls: []llm.ToolCall{{ID: "k1", Name: "read", Arguments: `{"path": "a", "limit": 3}`}}},
	{name: "tc_args_null", stop: llm.StopToolCalls, model: "l", calls: []llm.ToolCall{{ID: "k1", Name: "status"}, {ID: "k2", Name: "status"}}},
	{
		name: "tc_dup_id_same", stop: llm.StopToolCalls, model: "x",
		calls: []llm.ToolCall{{ID: "call_same", Name: "read", Arguments: `{"path":"a"}`}, {ID: "call_same-2", Name: "read", Arguments: `{"path":"b"}`}},
	},
	{
		name: "tc_dup_id_no_index", stop: llm.StopToolCalls, model: "x",
		calls: []llm.ToolCall{{ID: "s", Name: "read", Arguments: `{"path":"a"}`}, {ID: "s-2", Name: "read", Arguments: `{"path":"b"}`}},
	},
	{
		name: "tc_dup_id_interleaved", stop: llm.StopToolCalls, model: "x",
		calls: []llm.ToolCall{{ID: "same", Name: "read", Arguments: `{"path":"a"}`}, {ID: "same-2", Name: "glob", Arguments: `{"pattern":"b"}`}},
	},
	{name: "tc_no_args_index_0", stop: llm.StopToolCalls, model: "x", calls: []llm.ToolCall{{ID: "call_1", Name: "status"}, {ID: "call_2", Name: "status"}}},
	{
		name: "tc_no_id_no_index", stop: llm.StopToolCalls, model: "x",
		calls: []llm.ToolCall{{ID: "call-0", Name: "read", Arguments: `{"path":"a"}`}, {ID: "call-1", Name: "read", Arguments: `{"path":"b"}`}, {ID: "call-2", Name: "status"}},
	},
	{name: "tc_id_changes", stop: llm.StopToolCalls, model: "x", calls: []llm.ToolCall{{ID: "a1", Name: "read", Arguments: `{"path":"a"}`}}},
	{
		name: "tc_no_id", stop: llm.StopToolCalls, model: "x",
		calls: []llm.ToolCall{{ID: "call-0", Name: "read", Arguments: `{"path":"a"}`}, {ID: "call-1", Name: "glob", Arguments: `{}`}},
	},
	{name: "tc_id_and_name_repeated", stop: llm.StopToolCalls, model: "x", calls: []llm.ToolCall{{ID: "r1", Name: "read", Arguments: `{"path":"a"}`}}},

	{name: "fin_stop_with_calls", text: "\n", stop: llm.StopToolCalls, model: "g", calls: []llm.ToolCall{{ID: "f1", Name: "read", Arguments: `{"path":"a"}`}}},
	{
		name: "fin_calls_truncated", stop: llm.StopToolCalls, model: "v", usage: llm.Usage{Input: 10, Output: 8192},
		calls: []llm.ToolCall{{ID: "t1", Name: "write", Arguments: `{"path":"a","text":"once upon`}},
	},
	{
		name: "fin_length_with_calls", text: "I write.", reasoning: "plan", field: "reasoning_content", stop: llm.StopMaxTokens,
		usage: llm.Usage{Input: 10, Output: 64}, model: "v",
	},
	{name: "fin_missing", text: "I will now", code: llm.CodeStreamClosed},
	{name: "fin_missing_open_call", text: "ok", code: llm.CodeStreamClosed},
	{name: "fin_missing_nothing", code: llm.CodeStreamClosed},
	{name: "fin_null_done", text: "All of it.", stop: llm.StopEnd, model: "sg"},
	{name: "fin_content_filter", text: "Well,", code: llm.CodeInvalidRequest},
	{name: "bad_json", text: "Well,", code: llm.CodeMalformed},
}

func TestM11_M12_M13_M14_M15_M20_VendorStreams(t *testing.T) {
	t.Parallel()
	for _, tt := range streams {
		for ending, body := range map[string]string{"lf": fixture(t, tt.name), "crlf": strings.ReplaceAll(fixture(t, tt.name), "\n", "\r\n")} {
			t.Run(tt.name+"/"+tt.quirk+"/"+ending, func(t *testing.T) {
				t.Parallel()
				out := stream(t, endpoint(t, events(body), openai.Config{Quirk: tt.quirk}), ask())
				if out.text != tt.text || out.reasoning != tt.reasoning {
					t.Errorf("streamed text %q, reasoning %q; want %q, %q", out.text, out.reasoning, tt.text, tt.reasoning)
				}
				if tt.code != "" {
					if out.err == nil || out.err.Code != tt.code || out.err.Requested != tt.requested {
						t.Fatalf("got error %v, want %s and a size of %d", out.err, tt.code, tt.requested)
					}
					return
				}
				if out.err != nil {
					t.Fatal(out.err)
				}
				a := out.answer
				if a.Stop != tt.stop || a.Usage != tt.usage || a.Model != tt.model {
					t.Errorf("got stop %q, usage %+v, model %q; want %q, %+v, %q", a.Stop, a.Usage, a.Model, tt.stop, tt.usage, tt.model)
				}
				if got := a.Message.Calls(); !slices.Equal(got, tt.calls) {
					t.Errorf("got calls %+v, want %+v", got, tt.calls)
				}
				if a.Message.Reasoning() != tt.reasoning || tt.reasoning != "" && a.Message.Blocks[0].Field != tt.field {
					t.Errorf("got blocks %+v, want reasoning %q under %q first", a.Message.Blocks, tt.reasoning, tt.field)
				}
				if want := tt.text; strings.TrimSpace(want) != "" && a.Message.Text() != want {
					t.Errorf("got text %q, want %q", a.Message.Text(), want)
				}
			})
		}
	}
}

func TestM11_ALineOf3MiBIsRead(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("0123456789abcdef", 3<<16)
	arguments, _ := json.Marshal(fmt.Sprintf(`{"text":%q}`, big))
	body := `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"write","arguments":` + string(arguments) +
		`}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	out := stream(t, endpoint(t, events(body), openai.Config{}), ask())
	if out.err != nil {
		t.Fatal(out.err)
	}
	if got := out.answer.Message.Calls()[0].Arguments; len(got) != len(big)+len(`{"text":""}`) {
		t.Errorf("got %d bytes of arguments, want %d", len(got), len(big)+11)
	}
}

func TestM11_TheLastEventNeedsNoBlankLine(t *testing.T) {
	t.Parallel()
	body := `data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`
	if out := stream(t, endpoint(t, events(body), openai.Config{}), ask()); out.err != nil || out.answer.Message.Text() != "x" {
		t.Errorf("got %+v, error %v", out.answer, out.err)
	}
}

func TestM11_AServerThatDoesNotStream(t *testing.T) {
	t.Parallel()
	body := `{"object":"chat.completion","model":"w","choices":[{"index":0,"message":{"role":"assistant","content":"whole",
		"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":{"path":"x"}}}]},"finish_reason":"tool_calls"}],
		"usage":{"prompt_tokens":5,"completion_tokens":2}}`
	out := stream(t, endpoint(t, says(200, body, "Content-Type", "application/json"), openai.Config{}), ask())
	if out.err != nil {
		t.Fatal(out.err)
	}
	want := []llm.ToolCall{{ID: "a", Name: "read", Arguments: `{"path":"x"}`}}
	if a := out.answer; a.Message.Text() != "whole" || !slices.Equal(a.Message.Calls(), want) || a.Usage != (llm.Usage{Input: 5, Output: 2}) {
		t.Errorf("got %+v", a)
	}
}

func TestM11_CallIDsAreUniqueInTheConversation(t *testing.T) {
	t.Parallel()
	c := endpoint(t, events(fixture(t, "tc_no_id")), openai.Config{})
	out := stream(t, c, ask(
		llm.Text(llm.RoleUser, "go"),
		assistant(callBlock("call-0", "read", "{}")), llm.ToolResult("call-0", "text", false),
	))
	if out.err != nil {
		t.Fatal(out.err)
	}
	calls := out.answer.Message.Calls()
	if calls[0].ID != "call-0-2" || calls[1].ID != "call-1" {
		t.Errorf("got ids %q and %q, want call-0-2 and call-1", calls[0].ID, calls[1].ID)
	}
}

func TestM11_ACallWithoutANameIsMalformed(t *testing.T) {
	t.Parallel()
	body := `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\n"
	out := stream(t, endpoint(t, events(body), openai.Config{}), ask())
	if out.err == nil || out.err.Code != llm.CodeMalformed || !out.err.Retryable() {
		t.Errorf("got %v, want a retryable %s", out.err, llm.CodeMalformed)
	}
}

func TestTextIsCleanedOfNUL(t *testing.T) {
	t.Parallel()
	body := `data: {"choices":[{"index":0,"delta":{"content":"a\u0000b\ud83d"},"finish_reason":"stop"}]}` + "\n\n"
	out := stream(t, endpoint(t, events(body), openai.Config{}), ask())
	if out.err != nil || out.answer.Message.Text() != "ab\ufffd" {
		t.Errorf("got %+v, %v", out.answer, out.err)
	}
}

func TestM17_AResetInMidStreamIsTransport(t *testing.T) {
	t.Parallel()
	c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		conn, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = buffered.WriteString("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" +
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\"}}]}\n\n")
		_ = buffered.Flush()
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}, openai.Config{})
	out := stream(t, c, ask())
	if out.err == nil || out.err.Code != llm.CodeTransport || !out.err.Retryable() {
		t.Errorf("got %v after %q, want a retryable %s", out.err, out.text, llm.CodeTransport)
	}
}

func TestM17_ACutConnectionIsStreamClosed(t *testing.T) {
	t.Parallel()
	c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "4096")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\"}}]}\n\n")
	}, openai.Config{})
	out := stream(t, c, ask())
	if out.err == nil || out.err.Code != llm.CodeStreamClosed {
		t.Errorf("got %v, want %s", out.err, llm.CodeStreamClosed)
	}
}

func TestM12_ABreakAfterTheFinishReasonCostsNothing(t *testing.T) {
	t.Parallel()
	c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "4096")
		_, _ = io.WriteString(w, strings.TrimSuffix(okStream, "data: [DONE]\n\n"))
	}, openai.Config{})
	if out := stream(t, c, ask()); out.err != nil {
		t.Error(out.err)
	}
}

func TestM19_CancelInMidStreamIsAborted(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}, openai.Config{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for ch, err := range c.Stream(ctx, ask()) {
		if ch.Delta == "Half" {
			cancel()
		}
		last = err
	}
	if llm.CodeOf(last) != llm.CodeAborted {
		t.Errorf("got %v, want %s", last, llm.CodeAborted)
	}
	<-gone // the request ended at the server too
}

func TestM19_BreakingOffTheLoopEndsTheRequest(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(gone)
	}, openai.Config{})
	for range c.Stream(context.Background(), ask()) {
		break
	}
	<-gone
}

func TestM19_CancelledBeforeItIsSent(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := endpoint(t, events(okStream), openai.Config{})
	if out := collect(t, c.Stream(ctx, ask())); out.err == nil || out.err.Code != llm.CodeAborted {
		t.Errorf("got %v, want %s", out.err, llm.CodeAborted)
	}
}
