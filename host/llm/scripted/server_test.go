package scripted_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/scripted"
)

func client(s *scripted.Server) openai.Client {
	return openai.NewClient(option.WithBaseURL(s.BaseURL()), option.WithAPIKey("none"), option.WithMaxRetries(0))
}

func TestModelsTellTheWindow(t *testing.T) {
	t.Parallel()
	server := serve(t, scripted.Options{Model: "soup-1", ContextWindow: 12345})
	c := client(server)
	page, err := c.Models.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Data) != 1 || page.Data[0].ID != "soup-1" || page.Data[0].JSON.ExtraFields["max_model_len"].Raw() != "12345" {
		t.Errorf("got %s", page.RawJSON())
	}
	for path, want := range map[string]int{"/models/soup-1": 200, "/models/other": 404, "/embeddings": 404} {
		res, err := http.Get(server.BaseURL() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != want || want == 404 && !strings.Contains(string(body), `{"error":{`) {
			t.Errorf("%s: status %d, %s", path, res.StatusCode, body)
		}
	}
}

func TestServesOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:0", "example.org:0", "nonsense"} {
		if s, err := scripted.Serve(t.Context(), scripted.Options{Addr: addr}); err == nil {
			s.Close()
			t.Errorf("%s was taken", addr)
		}
	}
	server := serve(t, scripted.Options{Addr: "localhost:0"})
	if !strings.HasSuffix(server.BaseURL(), "/v1") {
		t.Errorf("base URL %s", server.BaseURL())
	}
}

func TestRequestsAreRememberedWithinABound(t *testing.T) {
	t.Parallel()
	body := func(s string) string {
		return `{"model":"scripted","messages":[{"role":"user","content":"` + s + `"}]}`
	}
	server := serve(t, scripted.Options{Agent: say("ok"), KeepBytes: 2 * len(body("a"))})
	for _, s := range []string{"a", "b", "c"} {
		complete(t, server, body(s))
	}
	got := server.Requests()
	if len(got) != 2 || string(got[0]) != body("b") || string(got[1]) != body("c") {
		t.Errorf("remembered %q", got)
	}
	if stats := server.Stats(); stats.Requests != 3 || stats.Bytes != int64(3*len(body("a"))) {
		t.Errorf("stats %+v", stats)
	}
}

func TestCloseEndsRequestsAndTheContextEndsTheServer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	started := make(chan struct{})
	server, err := scripted.Serve(ctx, scripted.Options{Agent: scripted.AgentFunc(func(llm.Request) scripted.Reply {
		close(started)
		return scripted.Reply{Text: "late", DelayMS: 3_600_000}
	})})
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error)
	go func() {
		res, err := http.Post(server.BaseURL()+"/chat/completions", "application/json", strings.NewReader(`{"model":"scripted","messages":[{"role":"user","content":"u"}]}`))
		if err == nil {
			res.Body.Close()
		}
		failed <- err
	}()
	<-started
	cancel()
	if err := <-failed; err == nil {
		t.Error("the request under way was answered")
	}
	if err := server.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	addr := strings.TrimSuffix(strings.TrimPrefix(server.BaseURL(), "http://"), "/v1")
	if conn, err := net.Dial("tcp", addr); err == nil {
		conn.Close()
		t.Error("it still listens")
	}
}
