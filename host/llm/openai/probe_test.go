package openai_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
)

// vendor is an endpoint that is probed.
type vendor struct {
	models string // the body of /models, "" = it has none
	asked  atomic.Int32
	bodies []string
	answer func(body string) http.HandlerFunc
}

func (v *vendor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		if v.models == "" {
			says(404, `not here`)(w, r)
			return
		}
		says(200, v.models, "Content-Type", "application/json")(w, r)
		return
	}
	v.asked.Add(1)
	body, _ := io.ReadAll(r.Body)
	v.bodies = append(v.bodies, string(body))
	v.answer(string(body))(w, r)
}

func (v *vendor) probe(t *testing.T, cfg openai.Config) (openai.ProbeResult, error) {
	t.Helper()
	server := httptest.NewServer(v)
	t.Cleanup(server.Close)
	cfg.BaseURL = server.URL + "/v1"
	return openai.Probe(context.Background(), cfg, "", nil)
}

const thinking = `data: {"model":"m-1","choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]}

data: {"choices":[{"index":0,"delta":{"content":"ready"},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":3}}

data: [DONE]

`

func TestProbeTellsWhatAnEndpointDoes(t *testing.T) {
	t.Parallel()
	v := vendor{models: `{"data":[{"id":"m-1","max_model_len":40960},{"id":"m-2"}]}`, answer: func(string) http.HandlerFunc { return events(thinking) }}
	r, err := v.probe(t, openai.Config{Model: "m-1"})
	if err != nil || r.ModelsErr != nil || !slices.Equal(r.Models, []string{"m-1", "m-2"}) || !r.Listed || r.Model != "m-1" || r.Window != 40960 {
		t.Errorf("%+v, %v", r, err)
	}
	if !r.Streams || !r.Tools || r.Usage.Input != 20 || r.ReasoningField != "reasoning_content" || r.FirstByte <= 0 || r.Took < r.FirstByte {
		t.Errorf("%+v", r)
	}
	if v.asked.Load() != 1 || !strings.Contains(v.bodies[0], `"noop"`) {
		t.Errorf("%d requests: %s", v.asked.Load(), v.bodies)
	}
}

func TestProbeOfAnEndpointThatDoesLittle(t *testing.T) {
	t.Parallel()
	v := vendor{answer: func(body string) http.HandlerFunc {
		if strings.Contains(body, `"tools"`) {
			return says(400, `{"error":{"message":"tools are not supported by this model"}}`)
		}
		return says(200, `{"choices":[{"message":{"role":"assistant","content":"ready"},"finish_reason":"stop"}]}`, "Content-Type", "application/json")
	}}
	r, err := v.probe(t, openai.Config{Model: "m-1"})
	if err != nil || r.ModelsErr == nil || r.Listed || r.Streams || r.Tools || r.Usage != (llm.Usage{}) || r.ReasoningField != "" {
		t.Errorf("%+v, %v", r, err)
	}
	if r.ToolsErr == nil || !strings.Contains(r.ToolsErr.Error(), "not supported") || v.asked.Load() != 2 {
		t.Errorf("after %d requests: %v", v.asked.Load(), r.ToolsErr)
	}
}

func TestProbeFails(t *testing.T) {
	t.Parallel()
	refuses := func(status int) func(string) http.HandlerFunc {
		return func(string) http.HandlerFunc { return says(status, `{"error":{"message":"no"}}`) }
	}
	for name, tt := range map[string]struct {
		v     *vendor
		model string
		code  llm.Code
		asked int32
	}{
		"no list for auto": {&vendor{answer: refuses(500)}, openai.Auto, llm.CodeNotFound, 0},
		"an empty list":    {&vendor{models: `{"data":[]}`, answer: refuses(500)}, openai.Auto, llm.CodeNotFound, 0},
		"a wrong key":      {&vendor{models: `{"data":[{"id":"m-1"}]}`, answer: refuses(401)}, "m-1", llm.CodeAuth, 1},
		"invalid anyway":   {&vendor{models: `{"data":[{"id":"m-1"}]}`, answer: refuses(400)}, "m-1", llm.CodeInvalidRequest, 2},
	} {
		r, err := tt.v.probe(t, openai.Config{Model: tt.model, APIKey: key})
		if llm.CodeOf(err) != tt.code || tt.v.asked.Load() != tt.asked || r.Tools || r.ToolsErr != nil || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %+v, %v after %d requests; want %s after %d", name, r, err, tt.v.asked.Load(), tt.code, tt.asked)
		}
	}
}
