package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
)

// said is a message as the wire has it.
type said struct {
	Role    string            `json:"role"`
	Content string            `json:"content"`
	Calls   []json.RawMessage `json:"tool_calls"`
}

// alternating refuses, as strict chat templates do, users and answers that do not
// take turns; calls and their results do not count.
type alternating struct {
	mu       sync.Mutex
	status   int
	words    string
	bodies   []string
	accepted [][]said
}

func (a *alternating) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var r struct {
		Messages []said `json:"messages"`
	}
	err := json.Unmarshal(body, &r)
	want, ok := "user", err == nil
	for _, m := range r.Messages {
		if m.Role == "user" || m.Role == "assistant" && len(m.Calls) == 0 {
			ok, want = ok && m.Role == want, map[string]string{"user": "assistant", "assistant": "user"}[m.Role]
		}
	}
	a.mu.Lock()
	a.bodies = append(a.bodies, string(body))
	if ok {
		a.accepted = append(a.accepted, r.Messages)
	}
	a.mu.Unlock()
	if !ok {
		says(a.status, a.words)(w, req)
		return
	}
	events(okStream)(w, req)
}

// An endpoint that wants roles in turn is asked once more with something between
// two users, and remembered: what it gets is accepted, whole, and only grows.
func TestC040_M26_AnEndpointThatWantsRolesInTurnGetsThem(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]struct {
		status int
		words  string
	}{
		"llama.cpp":  {500, `{"error":{"code":500,"message":"Conversation roles must alternate user/assistant/user/assistant/...","type":"server_error"}}`},
		"vllm":       {400, `{"object":"error","message":"After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."}`},
		"bedrock":    {400, `{"error":{"message":"messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"user\" roles in a row"}}`},
		"perplexity": {422, `{"error":{"message":"After the (optional) system message(s), user and assistant roles should be alternating."}}`},
	} {
		server := &alternating{status: refusal.status, words: refusal.words}
		c := endpoint(t, server.ServeHTTP, openai.Config{})
		messages := []*llm.Message{llm.Text(llm.RoleSystem, "s"), llm.Text(llm.RoleUser, "facts"), llm.Text(llm.RoleUser, "A")}
		steps := [][]*llm.Message{
			{llm.Text(llm.RoleUser, "B")}, // nothing was answered to A
			{assistant(callBlock("a", "read", "{}")), llm.ToolResult("a", "r", false)},
			{llm.Text(llm.RoleUser, "steered")},
			{assistant(llm.Block{Kind: llm.BlockReasoning, Text: "hm"}), llm.Text(llm.RoleUser, "C")}, // an answer of thoughts alone is not sent
			{assistant(llm.Block{Kind: llm.BlockText, Text: "done"}), llm.Text(llm.RoleUser, "D")},
		}
		for i := range len(steps) + 1 {
			if i > 0 {
				messages = append(messages[:len(messages):len(messages)], steps[i-1]...)
			}
			if out := stream(t, c, ask(messages...)); out.err != nil {
				t.Fatalf("%s: request %d: %v", name, i, out.err)
			}
			side := ask(append(messages[:len(messages):len(messages)], llm.Text(llm.RoleUser, "summarise"))...)
			side.Purpose = llm.PurposeCompaction
			if out := stream(t, c, side); out.err != nil {
				t.Errorf("%s: beside request %d: %v", name, i, out.err)
			}
		}
		if extra := len(server.bodies) - len(server.accepted); extra != 1 {
			t.Errorf("%s: %d requests were refused, want the first alone", name, extra)
		}
		var got []string
		for _, m := range server.accepted[len(server.accepted)-2] {
			if m.Role == "user" {
				got = append(got, m.Content)
			}
		}
		if fmt.Sprint(got) != "[facts A B steered C D]" {
			t.Errorf("%s: the model saw %q", name, got)
		}
		for i := 1; i+2 < len(server.bodies); i += 2 {
			if before := strings.TrimSuffix(server.bodies[i], "]}"); !strings.HasPrefix(server.bodies[i+2], before) {
				t.Errorf("%s: request %d does not begin with the one before:\n%s\n%s", name, i+2, server.bodies[i+2], before)
			}
		}
	}
}

// Another refusal is no reason to put words between.
func TestC040_OtherRefusalsStandAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, words := range []string{`{"error":{"message":"unknown role: developer"}}`, `{"error":{"message":"too many messages"}}`, `{"error":{"message":"messages with role 'tool' must follow tool_calls"}}`} {
		asked := 0
		c := endpoint(t, func(w http.ResponseWriter, r *http.Request) { asked++; says(400, words)(w, r) }, openai.Config{})
		if out := stream(t, c, ask()); out.err == nil || asked != 1 {
			t.Errorf("%s: %v after %d requests", words, out.err, asked)
		}
	}
}
