package openai_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
)

// lists serves /models, and "ok" for everything else.
func lists(t *testing.T, status int, body string, asked *atomic.Int32) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			events(okStream)(w, r)
			return
		}
		asked.Add(1)
		if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("asked with %s %v", r.Method, r.Header)
		}
		says(status, body, "Content-Type", "application/json")(w, r)
	}
}

func TestM2_InfoProbesTheServedWindow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		body   string
		window int
		source string
	}{
		"vllm":             {`{"object":"list","data":[{"id":"other","max_model_len":1},{"id":"m-1","object":"model","owned_by":"vllm","max_model_len":40960}]}`, 40960, "probed"},
		"llama.cpp, slot":  {`{"data":[{"id":"/models/some.gguf","owned_by":"llamacpp","meta":{"n_ctx":8192,"n_ctx_train":131072}}]}`, 8192, "probed"},
		"llama.cpp, older": {`{"data":[{"id":"m-1","meta":{"vocab_type":1,"n_ctx_train":131072}}]}`, 131072, "probed"},
		"openrouter":       {`{"data":[{"id":"m-1","context_length":200000,"top_provider":{"context_length":163840,"max_completion_tokens":null}}]}`, 163840, "probed"},
		"together":         {`[{"id":"m-1","context_length":131072,"pricing":{}}]`, 131072, "probed"},
		"openai":           {`{"object":"list","data":[{"id":"m-1","object":"model","owned_by":"system"}]}`, 0, "unknown"},
		"another model":    {`{"data":[{"id":"a","max_model_len":5},{"id":"b","max_model_len":6}]}`, 0, "unknown"},
		"no list":          {`nonsense`, 0, "unknown"},
		"odd types":        {`{"data":[{"id":"m-1","max_model_len":"4096","context_length":{}}]}`, 0, "unknown"},
	} {
		var asked atomic.Int32
		c := endpoint(t, lists(t, 200, tt.body, &asked), openai.Config{APIKey: key})
		for range 2 {
			info, err := c.Info(context.Background())
			if err != nil || info.ContextWindow != tt.window || info.WindowSource != tt.source || info.Name != "m-1" || info.Provider != "openai" {
				t.Errorf("%s: got %+v, %v; want a window of %d, %s", name, info, err, tt.window, tt.source)
			}
		}
		if asked.Load() != 1 {
			t.Errorf("%s: asked %d times, want once", name, asked.Load())
		}
	}
}

func TestM2_ANumberOfTheProfileWins(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	c := endpoint(t, lists(t, 200, `{"data":[{"id":"m-1","max_model_len":40960}]}`, &asked), openai.Config{ContextWindow: 1234, MaxOutputTokens: 55})
	info, err := c.Info(context.Background())
	want := llm.Info{Provider: "openai", Name: "m-1", ContextWindow: 1234, WindowSource: "profile", MaxOutputTokens: 55}
	if err != nil || info != want || asked.Load() != 0 {
		t.Errorf("got %+v, %v after %d questions; want %+v without one", info, err, asked.Load(), want)
	}
}

func TestM2_AFailedProbeLeavesTheWindowUnknown(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	c := endpoint(t, lists(t, 500, `boom`, &asked), openai.Config{APIKey: key})
	for range 2 {
		if info, err := c.Info(context.Background()); err != nil || info.ContextWindow != 0 || info.WindowSource != "unknown" {
			t.Errorf("got %+v, %v", info, err)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times, want once", asked.Load())
	}
}

func TestM2_AutoIsTheFirstModel(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	var r recorder
	list := lists(t, 200, `{"data":[{"id":"first","max_model_len":4096},{"id":"second"}]}`, &asked)
	c := endpoint(t, func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path == "/v1/models" {
			list(w, req)
			return
		}
		r.ServeHTTP(w, req)
	}, openai.Config{APIKey: key, Model: openai.Auto, ContextWindow: 999})
	if out := stream(t, c, ask()); out.err != nil {
		t.Fatal(out.err)
	}
	info, err := c.Info(context.Background())
	if err != nil || info.Name != "first" || info.ContextWindow != 999 || r.last(t)["model"] != "first" || asked.Load() != 1 {
		t.Errorf("got %+v, %v; sent model %v; asked %d times", info, err, r.last(t)["model"], asked.Load())
	}
}

func TestM2_AutoWithoutAModelIsAnError(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		body   string
		code   llm.Code
	}{
		"none":   {200, `{"data":[]}`, llm.CodeNotFound},
		"broken": {500, `boom`, llm.CodeServer},
		"auth":   {401, `no`, llm.CodeAuth},
	} {
		var asked atomic.Int32
		c := endpoint(t, lists(t, tt.status, tt.body, &asked), openai.Config{APIKey: key, Model: openai.Auto})
		if out := stream(t, c, ask()); out.err == nil || out.err.Code != tt.code || out.err.Hint == "" && tt.code != llm.CodeServer {
			t.Errorf("%s: got %v, want %s", name, out.err, tt.code)
		}
		if _, err := c.Info(context.Background()); llm.CodeOf(err) != tt.code {
			t.Errorf("%s: Info gave %v, want %s", name, err, tt.code)
		}
	}
}

func TestM2_ACancelledProbeIsNotRemembered(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	c := endpoint(t, lists(t, 200, `{"data":[{"id":"m-1","max_model_len":4096}]}`, &asked), openai.Config{APIKey: key})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if info, err := c.Info(ctx); err != nil || info.ContextWindow != 0 {
		t.Errorf("got %+v, %v", info, err)
	}
	if info, err := c.Info(context.Background()); err != nil || info.ContextWindow != 4096 {
		t.Errorf("got %+v, %v", info, err)
	}
}
