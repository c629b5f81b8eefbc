package openai_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
	"github.com/tureen-host/tureen/host/llm/scripted"
)

func TestTheStrictestServerTakesOurRequests(t *testing.T) {
	t.Parallel()
	server, err := scripted.Serve(context.Background(), scripted.Options{
		ContextWindow: 5000, Agent: scripted.NewScript(scripted.Reply{Text: "one"}, scripted.Reply{Text: "two"}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	c, err := openai.New(openai.Config{Provider: "scripted", BaseURL: server.BaseURL()})
	if err != nil {
		t.Fatal(err)
	}
	info, err := c.Info(context.Background())
	if err != nil || info.ContextWindow != 5000 || info.WindowSource != "probed" || info.Name != server.Model() {
		t.Errorf("info %+v, %v", info, err)
	}
	req := ask(history()...)
	req.Tools = []llm.Tool{{Name: "read", Description: "reads", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}}
	req.MaxOutputTokens, req.Effort = 100, "high"
	out := stream(t, c, req)
	if out.err != nil || out.answer.Message.Text() != "one" || out.answer.Usage.Input == 0 {
		t.Fatalf("got %+v, %v", out.answer, out.err)
	}
	req.Messages = append(req.Messages, out.answer.Message, llm.Text(llm.RoleUser, "and?"))
	if out = stream(t, c, req); out.err != nil || out.answer.Message.Text() != "two" || out.answer.Usage.CacheRead == 0 {
		t.Errorf("got %+v, %v", out.answer, out.err)
	}
	long := ""
	for range 20000 {
		long += "word "
	}
	req.Messages = append(req.Messages[:len(req.Messages):len(req.Messages)], llm.Text(llm.RoleUser, long))
	if out = stream(t, c, req); out.err == nil || out.err.Code != llm.CodeOverflow || out.err.Window != 5000 {
		t.Errorf("an input beyond the window gave %v", out.err)
	}
}
