package openai_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
)

// FuzzM11_Stream feeds any bytes as the body of a 200: there is one end, an
// Answer that can stand in the conversation or an *llm.Error.
func FuzzM11_Stream(f *testing.F) {
	names, err := filepath.Glob(filepath.Join("testdata", "*.sse"))
	if err != nil || len(names) == 0 {
		f.Fatalf("no fixtures: %v", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add("")
	f.Add("<html>")
	f.Add("{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"name\":\"x\",\"arguments\":{\"\xf1\":0}}}]}}]}")
	f.Add(`{"choices":[{"message":{"content":[{"type":"text","text":"x"}]}}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		c, err := openai.New(openai.Config{Model: "m", HTTPClient: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return respond(body), nil
		})}})
		if err != nil {
			t.Fatal(err)
		}
		req := ask()
		var answer *llm.Answer
		ends := 0
		for ch, err := range c.Stream(context.Background(), req) {
			if err != nil || ch.Answer != nil {
				ends++
				answer = ch.Answer
			}
			if e := (*llm.Error)(nil); err != nil && (!errors.As(err, &e) || e.Code == "" || e.Message == "") {
				t.Fatalf("an error without a code or a message: %#v", err)
			}
			if !utf8.ValidString(ch.Delta) || strings.Contains(ch.Delta, "\x00") {
				t.Fatalf("delta %q", ch.Delta)
			}
		}
		if ends != 1 {
			t.Fatalf("%d ends", ends)
		}
		if answer == nil {
			return
		}
		calls := answer.Message.Calls()
		if (answer.Stop == llm.StopToolCalls) != (len(calls) > 0) {
			t.Fatalf("stop %q with %d calls", answer.Stop, len(calls))
		}
		messages := append(req.Messages, answer.Message)
		for _, call := range calls {
			messages = append(messages, llm.ToolResult(call.ID, "x", false))
		}
		if err := llm.Validate(append(messages, llm.Text(llm.RoleUser, "on"))); err != nil {
			t.Fatalf("the answer cannot stand in the conversation: %v", err)
		}
	})
}
