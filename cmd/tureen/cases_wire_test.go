package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/tureen-host/tureen/host/llm/scripted"
	"github.com/tureen-host/tureen/host/session"
)

// front stands before the model of a crew and refuses what it does not like.
type front struct {
	mu       sync.Mutex
	bodies   [][]byte // that it let through
	refusals int
}

func (p *crew) behind(t *testing.T, refuses func(body []byte) (code, why string)) *front {
	t.Helper()
	to, err := url.Parse(strings.TrimSuffix(p.server.BaseURL(), "/v1"))
	if err != nil {
		t.Fatal(err)
	}
	f := &front{}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) } // the client is gone
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method == http.MethodPost {
			code, why := refuses(body)
			f.mu.Lock()
			if why == "" {
				f.bodies = append(f.bodies, body)
			} else {
				f.refusals++
			}
			f.mu.Unlock()
			if why != "" {
				w.WriteHeader(http.StatusBadRequest)
				_ = json.NewEncoder(w).Encode(object{"error": object{"message": why, "type": "invalid_request_error", "code": code}})
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	p.env = append(p.env, "OPENAI_BASE_URL="+server.URL+"/v1")
	return f
}

// wire is a body with its parts as they were sent.
type wire struct {
	Tools    json.RawMessage   `json:"tools"`
	Messages []json.RawMessage `json:"messages"`
}

func wireOf(t *testing.T, body []byte) (w wire) {
	t.Helper()
	if err := json.Unmarshal(body, &w); err != nil {
		t.Fatalf("%v in %.200s", err, body)
	}
	return w
}

// The person stops a run before the first word of the answer and says something else.
// An endpoint whose template wants roles in turn gets both texts.
func TestP1_C040_WordsAfterAnAbortReachAStrictEndpoint(t *testing.T) {
	t.Parallel()
	p := planned(t, user(t), []scripted.Reply{{Text: "Too late.", DelayMS: 60_000}, {Text: "Heard both."}, {Text: "And this."}})
	f := p.behind(t, func(body []byte) (string, string) {
		var b struct{ Messages []struct{ Role string } }
		_ = json.Unmarshal(body, &b)
		for i, m := range b.Messages {
			if i > 0 && m.Role == "user" && b.Messages[i-1].Role == "user" {
				return "", "After the optional system message, conversation roles must alternate user/assistant/user/assistant/..."
			}
		}
		return "", ""
	})
	p.task = "ALBATROSS is the first word."
	taken := make(chan struct{}, 9)
	p.plan.began = func(int) { taken <- struct{}{} }
	k := p.start(t, "", p.run()...)
	select {
	case <-taken:
	case <-time.After(time.Minute):
		t.Fatalf("no request was taken; %d were refused: %s", f.refusals, &k.stderr)
	}
	if err := k.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if k.wait(t); k.exit != 130 {
		t.Errorf("exit %d: %s", k.exit, &k.stderr)
	}
	for i, words := range []string{"BUSTARD is the second word.", "CURLEW is the third."} {
		if o := p.ok(t, "resume", "last", "-q", words); o.stdout != []string{"Heard both.\n", "And this.\n"}[i] {
			t.Errorf("%q: %s", o.stdout, o.stderr)
		}
	}
	last := string(f.bodies[len(f.bodies)-1])
	for _, word := range []string{"ALBATROSS", "BUSTARD", "CURLEW"} {
		if strings.Count(last, word) != 1 {
			t.Errorf("the last request says %s %d times", word, strings.Count(last, word))
		}
	}
	p.log(t)
}

// hanTokens counts as an endpoint does that takes 0.8 token for a character of Chinese,
// Japanese or Korean, two for an emoji and one for four letters of anything else.
func hanTokens(body []byte) int {
	tenths := 0
	for _, r := range string(body) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			tenths += 32
		case r > 0xffff:
			tenths += 80
		default:
			tenths += 10
		}
	}
	return tenths / 40
}

// A run over text of which four characters make far more than one token: it resets in
// time by its own estimate, and no request is ever refused for its length.
func TestT1_C078_TextOfManyTokensDoesNotOverflow(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"han": "每次重置之后都要重新阅读笔记然后继续工作直到任务完成为止", "hangul": "메모를 다시 읽고 나서 일을 계속하고 끝날 때까지 멈추지 않는다", "mixed": "読んで🙂ください done 完了 さあ、続けましょう",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Repeat(line+"\n", 6000/len([]rune(line)))
			var replies []scripted.Reply
			for n := 1; n <= 12; n++ {
				r := batch(n, "read", reads("c.md"))
				r.NoUsage = true
				replies = append(replies, r)
			}
			p := planned(t, user(t), nil)
			var err error
			if p.server, err = scripted.Serve(t.Context(), scripted.Options{Model: "scripted", ContextWindow: 200_000, MaxOutputTokens: 2000,
				Agent: &plan{replies: append(replies, scripted.Reply{Text: "Done.", NoUsage: true})}}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.server.Close() })
			write(t, p.path("work", "c.md"), text)
			most := 0
			f := p.behind(t, func(body []byte) (string, string) {
				n := hanTokens(body)
				most = max(most, n)
				if n+2000 > 32_000 {
					return "context_length_exceeded", fmt.Sprintf("This model's maximum context length is 32000 tokens. However, you requested %d tokens.", n+2000)
				}
				return "", ""
			})
			p.plan = nil
			r := p.ends(t, 0, "")
			if f.refusals > 0 || len(r.Compactions) == 0 || r.Text != "Done." {
				t.Errorf("%d requests were refused, the longest had %d tokens; %d compactions, %q", f.refusals, most, len(r.Compactions), r.Text)
			}
		})
	}
}

const clockRow = `[[plugins]]
use = "instructions"
config = { time_every = "0s" }
`

// Twenty turns in which the clock moves at each step, and a resume: every request has
// the tools and messages of the one before it, byte for byte, and more behind them.
// Where one does not, a compaction in the log says why.
func TestC1_C131_APrefixStandsUntilACompaction(t *testing.T) {
	t.Parallel()
	for name, strategy := range map[string]string{"notesoup": "notesoup", "summary": "summary"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const turns = 20
			var replies []scripted.Reply
			for n := 1; n <= turns; n++ { // the end of each job opens the next turn
				job := object{"description": "a job", "command": "sleep 0.02", "run_in_background": true}
				replies = append(replies, batch(n, "shell", job, "read", reads("a.md")), scripted.Reply{Text: fmt.Sprintf("Turn %d is over.", n)})
			}
			replies = append(replies, scripted.Reply{Text: "That was all."}, scripted.Reply{Text: "Resumed."}, scripted.Reply{Text: "After the compaction."})
			p := planned(t, user(t), replies)
			write(t, p.path("work", "crash.toml"), crashProfile+clockRow)
			p.flags = append(p.flags, "-c", "compaction.strategy="+strategy, "-c", "model.context_window=128000")
			f := p.behind(t, func([]byte) (string, string) { return "", "" })
			p.ends(t, 0, "")
			if o := p.ok(t, append([]string{"resume", "last", "-q", "Once more."}, p.flags...)...); o.stdout == "" {
				t.Error("no answer")
			}
			calls := len(f.bodies)
			breaks := checkPrefixes(t, f.bodies)
			if len(breaks) > 0 || calls < turns/2 {
				t.Errorf("%d requests; these do not begin with the one before them: %v", calls, breaks)
			}
			last := wireOf(t, f.bodies[calls-1])
			times := regexp.MustCompile(`It is \d{4}-`).FindAllString(string(bytes.Join(wireMessages(last), nil)), -1)
			if len(times) < 3 || regexp.MustCompile(`It is \d{4}-`).Match(last.Messages[0]) {
				t.Errorf("the time was told %d times", len(times))
			}
			p.ok(t, append([]string{"compact"}, p.flags...)...)
			p.ok(t, append([]string{"resume", "last", "-q", "And once more."}, p.flags...)...)
			breaks = checkPrefixes(t, slices.DeleteFunc(slices.Clone(f.bodies), func(b []byte) bool { return bytes.Contains(b, []byte(jsonText(summaryAsk()))) }))
			if ended := compacted(t, p.log(t)); len(breaks) != 1 || ended.Seq == 0 {
				t.Errorf("after one compaction these break: %v", breaks)
			}
		})
	}
}

func wireMessages(w wire) (all [][]byte) {
	for _, m := range w.Messages {
		all = append(all, m)
	}
	return all
}

// jsonText is a text as it stands inside of a JSON string.
func jsonText(text string) string {
	b, _ := json.Marshal(strings.SplitN(text, "\n", 2)[0])
	return strings.Trim(string(b), `"`)
}

// checkPrefixes names the requests that do not begin with the one before them.
func checkPrefixes(t *testing.T, bodies [][]byte) (breaks []int) {
	t.Helper()
	for i := 1; i < len(bodies); i++ {
		a, b := wireOf(t, bodies[i-1]), wireOf(t, bodies[i])
		if !bytes.Equal(a.Tools, b.Tools) || len(b.Messages) < len(a.Messages) ||
			!slices.EqualFunc(a.Messages, b.Messages[:len(a.Messages)], func(x, y json.RawMessage) bool { return bytes.Equal(x, y) }) {
			breaks = append(breaks, i)
		}
	}
	return breaks
}

// NUL from everywhere: of a command (as UTF-16 has it), of the model, for a file and a
// note. The store takes it, the text beside it is intact, notes refuse it in words, and
// the session goes on.
func TestX1_C083_NULStopsNobody(t *testing.T) {
	t.Parallel()
	p := planned(t, user(t), []scripted.Reply{
		batch(1, "shell", object{"description": "print", "command": `printf 'W\0s\0l\0 is here\n\377\376 \355\240\200 end\n'`},
			"write", object{"file_path": "out.md", "content": "left\x00right\n"},
			"notes_write", object{"path": "zero", "mode": "create", "text": "before\x00after \ufeff"}),
		{Text: "said\x00so, \x1b[2J and \u202e more"},
		{Text: "Done."}})
	p.task = "Look at \x1b[31mthis\x1b[0m."
	p.ends(t, 0, "")
	events := p.log(t)
	texts := map[string]string{}
	for _, e := range find(t, events, session.KindToolResult, func(session.ToolResult) bool { return true }) {
		r, _ := session.Decode[session.ToolResult](e)
		texts[r.Name] = r.Message.Text()
	}
	for name, parts := range map[string][]string{"shell": {"W", "s", "l", " is here", " end"}, "notes_write": {"Error: E_BINARY"}} {
		rest := texts[name]
		for _, part := range parts {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Errorf("%s: %q lacks %q", name, texts[name], part)
			}
			rest = after
		}
	}
	if said := find(t, events, session.KindMessageAssistant, func(a session.Assistant) bool {
		return strings.HasPrefix(a.Message.Text(), "said") && strings.Contains(a.Message.Text(), "so, ")
	}); len(said) != 1 {
		t.Errorf("the answer is stored %d times", len(said))
	}
	if o := p.ok(t, "session", "verify", p.lastSession()); !strings.Contains(o.stdout, " ok, ") {
		t.Error(o.stdout)
	}
	exported := p.ok(t, "session", "export", "last").stdout
	for e, err := range session.ReadLines(strings.NewReader(exported)) {
		if err != nil || string(e.Data) == "" {
			t.Fatalf("event %d: %v", e.Seq, err)
		}
	}
	if o := p.ok(t, "resume", "last", "-q", "go on"); o.stdout != "Done.\n" || p.server.Stats().Refused > 0 {
		t.Errorf("%q, %+v", o.stdout, p.server.Stats())
	}
	if got, err := os.ReadFile(p.path("work", "out.md")); err != nil || !strings.HasPrefix(string(got), "left") || !strings.HasSuffix(string(got), "right\n") {
		t.Errorf("the file holds %q, %v", got, err)
	}
}
