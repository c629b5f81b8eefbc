package scripted_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
)

type completion struct {
	ID      string
	Choices []struct {
		Message struct {
			Content   *string
			ToolCalls []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason *string `json:"finish_reason"`
	}
	Usage *struct {
		PromptTokens     int `json:"prompt_tokens"`
		CompletionTokens int `json:"completion_tokens"`
		TotalTokens      int `json:"total_tokens"`
		Details          struct {
			Cached int `json:"cached_tokens"`
		} `json:"prompt_tokens_details"`
		Output struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
}

func complete(t *testing.T, s *scripted.Server, body string) completion {
	t.Helper()
	status, _, answer := post(t, s, body)
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, answer)
	}
	var c completion
	if err := json.Unmarshal([]byte(answer), &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// say answers every request in the same words.
func say(text string) scripted.Agent {
	return scripted.AgentFunc(func(llm.Request) scripted.Reply { return scripted.Reply{Text: text} })
}

func TestM20_UsageCountsFourBytesAToken(t *testing.T) {
	t.Parallel()
	server := serve(t, scripted.Options{Agent: scripted.AgentFunc(func(llm.Request) scripted.Reply {
		return scripted.Reply{Text: "12345", Reasoning: "1234567", Calls: []scripted.Call{{Name: "read", Arguments: "{}"}}}
	})})
	messages := `[{"role":"user","content":"hello"}]`
	declared := `[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]`
	c := complete(t, server, `{"model":"scripted","tools":`+declared+`,"messages":`+messages+`}`)
	u := c.Usage
	prompt := (len(messages) + len(declared) + 3) / 4
	output := (5 + 7 + 4 + 2 + 3) / 4
	if u.PromptTokens != prompt || u.CompletionTokens != output || u.TotalTokens != prompt+output || u.Output.Reasoning != 2 || u.Details.Cached != 0 {
		t.Errorf("usage %+v, want prompt %d, completion %d, reasoning 2, cached 0", u, prompt, output)
	}
}

func TestM20_M23_CachedTokensAreTheCommonPrefix(t *testing.T) {
	t.Parallel()
	server := serve(t, scripted.Options{Agent: say("ok")})
	filler := strings.Repeat("All units ran through the night. ", 60)
	first := []*llm.Message{system("You log. " + filler), user("one " + filler)}
	prefixOf := func(messages []*llm.Message) int { // bytes of the messages that a follow-up repeats
		body := wire(t, llm.Request{Messages: messages}, nil)
		return len(body[strings.Index(body, "[{"):strings.LastIndex(body, "]")])
	}
	blocks := func(bytes int) int { return bytes / 64 * 16 }
	ask := func(messages ...*llm.Message) (cached, prompt int) {
		c := complete(t, server, wire(t, llm.Request{Messages: messages}, nil))
		return c.Usage.Details.Cached, c.Usage.PromptTokens
	}
	if cached, _ := ask(first...); cached != 0 {
		t.Errorf("the first request has %d cached tokens", cached)
	}
	longer := append(first[:2:2], llm.Text(llm.RoleAssistant, "ok"), user("two "+filler))
	if cached, prompt := ask(longer...); cached != blocks(prefixOf(first)) || cached >= prompt {
		t.Errorf("the follow-up has %d cached tokens of %d, want %d", cached, prompt, blocks(prefixOf(first)))
	}
	if cached, _ := ask(system("You log."), user("elsewhere")); cached != 0 {
		t.Errorf("another conversation has %d cached tokens", cached)
	}
	if cached, _ := ask(longer...); cached < blocks(prefixOf(longer))-16 {
		t.Errorf("the request between evicted the prefix: %d cached", cached)
	}
	changed := append([]*llm.Message{system("You Log. " + filler)}, longer[1:]...)
	if cached, _ := ask(changed...); cached != 0 {
		t.Errorf("one letter changed at the head and %d tokens are cached", cached)
	}
}

func TestC10_OverflowNamesTheNumbers(t *testing.T) {
	t.Parallel()
	server := serve(t, scripted.Options{ContextWindow: 1000, MaxOutputTokens: 600, Agent: say("ok")})
	body := func(size, limit int) string {
		return fmt.Sprintf(`{"model":"scripted","max_tokens":%d,"messages":[{"role":"user","content":"%s"}]}`, limit, strings.Repeat("x", size))
	}
	overhead := len(`[{"role":"user","content":""}]`)
	for _, row := range []struct {
		size, limit int
		says        string
	}{
		{4*400 - overhead, 600, ""},
		{4*400 - overhead + 1, 600, "maximum context length is 1000 tokens. However, you requested 1001 tokens (401 in the messages, 600 in the completion)"},
		{4*1000 - overhead, 1, "maximum context length is 1000 tokens. However, your messages resulted in 1000 tokens"},
	} {
		status, _, answer := post(t, server, body(row.size, row.limit))
		var r refusal
		_ = json.Unmarshal([]byte(answer), &r)
		switch {
		case row.says == "":
			if status != http.StatusOK {
				t.Errorf("what fits to the token is refused: %s", answer)
			}
		case status != http.StatusBadRequest || r.Error.Code == nil || *r.Error.Code != "context_length_exceeded" || *r.Error.Param != "messages" || !strings.Contains(r.Error.Message, row.says):
			t.Errorf("status %d, %s\nwant %q", status, answer, row.says)
		}
	}
	c := complete(t, server, fmt.Sprintf(`{"model":"scripted","messages":[{"role":"user","content":"%s"}]}`, strings.Repeat("x", 3900)))
	if *c.Choices[0].Message.Content != "ok" {
		t.Error("without a cap the rest of the window has to do")
	}
}

func TestM12_M14_AnswersAreCutAtTheCap(t *testing.T) {
	t.Parallel()
	server := serve(t, scripted.Options{Agent: scripted.NewScript(
		scripted.Reply{Text: "ääää"},
		scripted.Reply{Text: "1234", Calls: []scripted.Call{{Name: "read", Arguments: `{"file_path":"x"}`}, {Name: "read", Arguments: `{}`}}},
	)})
	body := func(limit int) string {
		return fmt.Sprintf(`{"model":"scripted","max_tokens":%d,"tools":%s,"messages":[{"role":"user","content":"u"}]}`, limit, oneTool)
	}
	c := complete(t, server, body(1)).Choices[0]
	if *c.Message.Content != "ää" || *c.FinishReason != "length" {
		t.Errorf("got %q, %s", *c.Message.Content, *c.FinishReason)
	}
	c = complete(t, server, body(3)).Choices[0]
	if len(c.Message.ToolCalls) != 1 || c.Message.ToolCalls[0].Function.Arguments != `{"fi` || *c.FinishReason != "length" {
		t.Errorf("got %+v, %s", c.Message.ToolCalls, *c.FinishReason)
	}
}
