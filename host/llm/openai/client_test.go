package openai_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
)

func discard() *log.Logger { return log.New(io.Discard, "", 0) }

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]openai.Config{
		"scheme":  {BaseURL: "ftp://x/v1"},
		"no host": {BaseURL: "localhost:8080/v1"},
		"escape":  {BaseURL: "http://user:hunter22secret@x/%zz"},
		"key":     {APIKey: key + "\nX-Evil: 1", APIKeyEnv: "LLM_KEY"},
	} {
		_, err := openai.New(cfg)
		if err == nil {
			t.Errorf("%s: no error", name)
		} else if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "hunter22secret") {
			t.Errorf("%s: the error tells a secret: %v", name, err)
		}
	}
}

func TestThePathOfTheEndpoint(t *testing.T) {
	t.Parallel()
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.RequestURI())
		events(okStream)(w, r)
	}))
	t.Cleanup(server.Close)
	for _, suffix := range []string{"", "/v1", "/v1/", "/v1/chat/completions", "/api?version=2"} {
		stream(t, client(t, openai.Config{BaseURL: server.URL + suffix}), ask())
	}
	want := "/chat/completions /v1/chat/completions /v1/chat/completions /v1/chat/completions /api/chat/completions?version=2"
	if strings.Join(got, " ") != want {
		t.Errorf("asked %q, want %q", got, want)
	}
}

// C129: what is secret in an address is known by the name of its parameter; the rest
// of the address is no secret, or texts would lose what they say.
func TestM25_C129_SecretsOfAnAddress(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"http://h/v1":                             "",
		"http://h/v1?key=a%2Fb&api-version=2024":  "a/b",
		"http://user:word@h/v1?X-Auth-Token=t":    "word t",
		"http://h/v1?deployment=x&signature=s%3D": "s=",
		"http://h/%zz?key=k":                      "",
	} {
		if got := strings.Join(openai.Secrets(base), " "); got != want {
			t.Errorf("%s: %q, want %q", base, got, want)
		}
	}
}

func TestM21_M25_HeadersCarryTheKeyAndNoTelemetry(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"} {
		t.Setenv(name, "ambient-secret-of-the-user")
	}
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Ambient: ambient-secret-of-the-user")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/elsewhere")
	for given, want := range map[string]string{key: "Bearer " + key, " " + key + "\n": "Bearer " + key, "": ""} {
		var header http.Header
		var length int64
		c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
			header, length = r.Header, r.ContentLength
			events(okStream)(w, r)
		}, openai.Config{APIKey: given})
		if out := stream(t, c, ask()); out.err != nil {
			t.Fatal(out.err)
		}
		if got := header.Get("Authorization"); got != want {
			t.Errorf("Authorization %q, want %q", got, want)
		}
		if length <= 0 || header.Get("Content-Type") != "application/json" || header.Get("Accept") != "text/event-stream" || header.Get("Accept-Encoding") != "" {
			t.Errorf("length %d, header %v", length, header)
		}
		for name, values := range header {
			if strings.HasPrefix(name, "X-Stainless") || strings.Contains(fmt.Sprint(values), "ambient") {
				t.Errorf("sent %s: %s", name, values)
			}
		}
	}
}

func TestM21_M25_TheKeyShowsUpNowhere(t *testing.T) {
	t.Parallel()
	echo := fmt.Sprintf(`{"error":{"message":"bad header Bearer %s","metadata":{"raw":"{\"error\":\"%s\"}"},"code":"%s"}}`, key, key, key)
	cfg := openai.Config{APIKey: key, APIKeyEnv: "LLM_KEY"}
	clients := map[string]*openai.Client{
		"refused":   endpoint(t, says(401, echo), cfg),
		"bad":       endpoint(t, says(400, echo), cfg),
		"text":      endpoint(t, says(500, "no "+key), cfg),
		"in stream": endpoint(t, events("data: "+echo+"\n\n"), cfg),
		"malformed": endpoint(t, events("data: "+key+"\n\n"), cfg),
		"document":  endpoint(t, says(200, `{"x":"`+key+`"}`), cfg),
		"redirect":  endpoint(t, says(302, "", "Location", "http://x.test/"+key), cfg),
	}
	cfg.BaseURL = "http://user:" + key + "@127.0.0.1:1/v1?key=" + key
	clients["unreachable"] = client(t, cfg)
	for name, c := range clients {
		out := stream(t, c, ask())
		if out.err == nil {
			t.Fatalf("%s: no error", name)
		}
		shown := []any{out.err, *out.err, out.err.Hint, out.err.Message}
		for e := error(out.err); e != nil; {
			shown = append(shown, e)
			u, ok := e.(interface{ Unwrap() error })
			if !ok {
				break
			}
			e = u.Unwrap()
		}
		for _, v := range append(shown, c, cfg) {
			for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
				if text := fmt.Sprintf(format, v); strings.Contains(text, key) {
					t.Errorf("%s: %s of a %T tells the key: %s", name, format, v, text)
				}
			}
		}
	}
}

func TestAProxyIsNeverUsedForLoopback(t *testing.T) {
	if base := os.Getenv("TUREEN_TEST_ENDPOINT"); base != "" { // the child, with proxy variables set
		out := stream(t, client(t, openai.Config{BaseURL: base}), ask())
		if out.err != nil {
			t.Fatal(out.err)
		}
		return
	}
	proxied := false
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { proxied = true }))
	t.Cleanup(proxy.Close)
	server := httptest.NewServer(events(okStream))
	t.Cleanup(server.Close)
	cmd := exec.CommandContext(context.Background(), os.Args[0], "-test.run=^TestAProxyIsNeverUsedForLoopback$")
	cmd.Env = append(os.Environ(), "TUREEN_TEST_ENDPOINT="+server.URL,
		"HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY=", "no_proxy=")
	if out, err := cmd.CombinedOutput(); err != nil || proxied {
		t.Errorf("proxied %v, error %v\n%s", proxied, err, out)
	}
}

func TestAConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	addresses := map[string]bool{}
	c := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		addresses[r.RemoteAddr] = true
		events(fixture(t, "plain"))(w, r)
		w.(http.Flusher).Flush()
		time.Sleep(5 * time.Millisecond) // the end of the body comes in a packet of its own
	}, openai.Config{})
	for range 10 {
		stream(t, c, ask(llm.Text(llm.RoleUser, "hi")))
	}
	if len(addresses) > 5 {
		t.Errorf("ten requests took %d connections", len(addresses))
	}
}
