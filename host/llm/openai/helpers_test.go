package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
)

// key is a credential that must not show up anywhere.
const key = "sk-test-0123456789abcdef"

// outcome is all that a stream yielded.
type outcome struct {
	text, reasoning, arguments string
	answer                     *llm.Answer
	err                        *llm.Error
}

func collect(t *testing.T, seq iter.Seq2[llm.Chunk, error]) outcome {
	t.Helper()
	var out outcome
	for ch, err := range seq {
		if out.answer != nil || out.err != nil {
			t.Fatalf("the stream went on after its end: %+v, %v", ch, err)
		}
		switch {
		case err != nil:
			if !errors.As(err, &out.err) {
				t.Fatalf("error of type %T, want *llm.Error: %v", err, err)
			}
		case ch.Answer != nil:
			out.answer = ch.Answer
		case ch.Kind == llm.BlockText:
			out.text += ch.Delta
		case ch.Kind == llm.BlockReasoning:
			out.reasoning += ch.Delta
		case ch.Kind == llm.BlockToolCall:
			out.arguments += ch.Delta
		}
	}
	if out.answer == nil && out.err == nil {
		t.Fatal("the stream ended without an answer and without an error")
	}
	return out
}

// endpoint starts a server and makes a client for it.
func endpoint(t *testing.T, handler http.HandlerFunc, cfg openai.Config) *openai.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	cfg.BaseURL = server.URL + "/v1"
	return client(t, cfg)
}

func client(t *testing.T, cfg openai.Config) *openai.Client {
	t.Helper()
	if cfg.Model == "" {
		cfg.Model = "m-1"
	}
	c, err := openai.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// events answers every request with the bytes of a stream.
func events(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body)
	}
}

// says answers every request with a status and a body.
func says(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// recorder keeps the bodies of requests and answers each with "ok".
type recorder struct{ bodies []string }

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	b, _ := io.ReadAll(req.Body)
	r.bodies = append(r.bodies, string(b))
	events(okStream)(w, req)
}

// last decodes the last body.
func (r *recorder) last(t *testing.T) map[string]any {
	t.Helper()
	if len(r.bodies) == 0 {
		t.Fatal("no request arrived")
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(r.bodies[len(r.bodies)-1]), &body); err != nil {
		t.Fatalf("the body is no JSON: %v\n%s", err, r.bodies[len(r.bodies)-1])
	}
	return body
}

const okStream = "data: {\"model\":\"m-1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

func fixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".sse"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// ask is the smallest request.
func ask(messages ...*llm.Message) llm.Request {
	if len(messages) == 0 {
		messages = []*llm.Message{llm.Text(llm.RoleSystem, "be brief"), llm.Text(llm.RoleUser, "hi")}
	}
	return llm.Request{Messages: messages, Purpose: llm.PurposeMain}
}

func assistant(blocks ...llm.Block) *llm.Message {
	return &llm.Message{Role: llm.RoleAssistant, Blocks: blocks}
}

func callBlock(id, name, arguments string) llm.Block {
	return llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: id, Name: name, Arguments: arguments}}
}

func stream(t *testing.T, c *openai.Client, req llm.Request) outcome {
	t.Helper()
	return collect(t, c.Stream(context.Background(), req))
}
