package openai_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
)

// pipe is an endpoint without a network: write puts bytes on the wire until the
// request ends.
func pipe(t *testing.T, cfg openai.Config, write func(w io.Writer)) *openai.Client {
	cfg.BaseURL = "http://endpoint.test/v1"
	cfg.HTTPClient = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		pr, pw := io.Pipe()
		context.AfterFunc(r.Context(), func() { _ = pr.CloseWithError(r.Context().Err()); _ = pw.CloseWithError(r.Context().Err()) })
		go func() {
			write(pw)
			_ = pw.Close()
		}()
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: pr}, nil
	})}
	return client(t, cfg)
}

const oneDelta = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n"

func TestM19_AnySignOfLifeCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pipe(t, openai.Config{}, func(w io.Writer) {
			for range 20 { // 4000 s: there is no total deadline
				_, _ = io.WriteString(w, ":\n")
				time.Sleep(200 * time.Second)
			}
			_, _ = io.WriteString(w, okStream)
		})
		if out := stream(t, c, ask()); out.err != nil {
			t.Error(out.err)
		}
	})
}

func TestM19_SilenceIsATimeout(t *testing.T) {
	for name, idle := range map[string]time.Duration{"default": 0, "configured": 7 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := pipe(t, openai.Config{IdleTimeout: idle}, func(w io.Writer) {
					_, _ = io.WriteString(w, oneDelta)
					_, _ = io.WriteString(w, oneDelta) // ends with the request
					time.Sleep(time.Hour)
				})
				begin := time.Now()
				out := stream(t, c, ask())
				if out.err == nil || out.err.Code != llm.CodeTimeout || !out.err.Retryable() {
					t.Fatalf("got %v, want a retryable %s", out.err, llm.CodeTimeout)
				}
				want := idle
				if want == 0 {
					want = 300 * time.Second
				}
				if got := time.Since(begin); got != want {
					t.Errorf("gave up after %v, want %v", got, want)
				}
				time.Sleep(time.Hour) // lets the writer end
			})
		})
	}
}

func TestM19_NoHeadOfTheAnswerIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client(t, openai.Config{BaseURL: "http://endpoint.test", HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}})
		if out := stream(t, c, ask()); out.err == nil || out.err.Code != llm.CodeTimeout || !strings.Contains(out.err.Message, "5m0s") {
			t.Errorf("got %v, want %s", out.err, llm.CodeTimeout)
		}
	})
}

func TestM19_ASlowReaderIsNotTheEndpointsFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pipe(t, openai.Config{}, func(w io.Writer) {
			_, _ = io.WriteString(w, oneDelta)
			_, _ = io.WriteString(w, okStream)
		})
		for _, err := range c.Stream(context.Background(), ask()) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Hour)
		}
	})
}

func TestM12_TheUsageTailIsNotWaitedForForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := pipe(t, openai.Config{}, func(w io.Writer) {
			_, _ = io.WriteString(w, strings.TrimSuffix(okStream, "data: [DONE]\n\n"))
			time.Sleep(time.Hour)
		})
		begin := time.Now()
		out := stream(t, c, ask())
		if out.err != nil || out.answer.Message.Text() != "ok" {
			t.Errorf("got %+v, error %v", out.answer, out.err)
		}
		if waited := time.Since(begin); waited > time.Minute {
			t.Errorf("waited %v for a usage that never came", waited)
		}
		time.Sleep(time.Hour) // lets the writer end
	})
}
