package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/llm/openai"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// wire is an endpoint on the loopback that keeps each body and answers from a list;
// an answer is a text, calls as "id name arguments" lines behind "!", or a status.
type wire struct {
	mu      sync.Mutex
	answers []string
	bodies  []body
	strict  bool // users and answers must take turns
	t       *testing.T
}

// body is a request as it arrived, cut where its parts begin.
type body struct {
	raw, tools, messages string
	list                 []json.RawMessage
	at                   time.Time
}

func newWire(t *testing.T, answers ...string) *wire { return &wire{t: t, answers: answers} }

func (w *wire) ServeHTTP(out http.ResponseWriter, req *http.Request) {
	raw, _ := io.ReadAll(req.Body)
	b := body{raw: string(raw), at: time.Now()}
	var parts struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		w.t.Errorf("a body is no JSON: %v: %.300s", err, raw)
	}
	head, messages, _ := strings.Cut(b.raw, `,"messages":[`)
	_, b.tools, _ = strings.Cut(head, `,"tools":`)
	b.messages, b.list = strings.TrimSuffix(messages, "]}"), parts.Messages
	w.mu.Lock()
	w.bodies = append(w.bodies, b)
	turns := takesTurns(parts.Messages)
	answer := "500"
	if w.strict && !turns {
		answer = "alternate"
	} else if len(w.answers) > 0 {
		answer, w.answers = w.answers[0], w.answers[1:]
	}
	w.mu.Unlock()
	switch {
	case answer == "500":
		out.WriteHeader(http.StatusInternalServerError)
	case answer == "alternate":
		out.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(out, `{"error":{"message":"Conversation roles must alternate user/assistant/user/assistant/..."}}`)
	case answer == "hang":
		<-req.Context().Done()
	default:
		_, _ = io.WriteString(out, stream(answer))
	}
}

// takesTurns tells whether users and answers, calls aside, take turns.
func takesTurns(list []json.RawMessage) bool {
	want := "user"
	for _, raw := range list {
		var m struct {
			Role  string            `json:"role"`
			Calls []json.RawMessage `json:"tool_calls"`
		}
		_ = json.Unmarshal(raw, &m)
		if m.Role != "user" && (m.Role != "assistant" || len(m.Calls) > 0) {
			continue
		}
		if m.Role != want {
			return false
		}
		want = map[string]string{"user": "assistant", "assistant": "user"}[m.Role]
	}
	return true
}

// stream is an answer as an endpoint sends it.
func stream(answer string) string {
	type object = map[string]any
	delta, finish := object{"content": answer}, "stop"
	if list, ok := strings.CutPrefix(answer, "!"); ok {
		var calls []object
		for i, line := range strings.Split(list, "\n") {
			f := strings.SplitN(line, " ", 3)
			calls = append(calls, object{"index": i, "id": f[0], "type": "function", "function": object{"name": f[1], "arguments": f[2]}})
		}
		delta, finish = object{"tool_calls": calls}, "tool_calls"
	}
	b, _ := json.Marshal(object{"model": "m", "choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}}})
	return "data: " + string(b) + "\n\ndata: [DONE]\n\n"
}

// over lets a setup speak to the endpoint through the adapter that profiles use.
func (w *wire) over(s *setup) *setup {
	w.t.Helper()
	server := httptest.NewServer(w)
	w.t.Cleanup(server.Close)
	model, err := openai.New(openai.Config{BaseURL: server.URL + "/v1", Model: "m", MaxOutputTokens: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	s.options.Model = model
	return s
}

func (w *wire) sent() []body {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]body(nil), w.bodies...)
}

// A retry rebuilds the same step from the same log: the same bytes, after failures
// of every kind that is repeated, with words of the dead attempts in the log (L10).
func TestL10_ARetrySendsTheSameBytes(t *testing.T) {
	t.Parallel()
	w := newWire(t, "500", "", "500", "!a echo {\"n\":1}", "500", "done")
	s := w.over(newSetup(t))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.options.Retry = agent.Retry{Max: 5, Initial: time.Microsecond}
	s.completed("go")
	bodies := w.sent()
	if len(bodies) != 6 {
		t.Fatalf("%d requests", len(bodies))
	}
	for i, same := range []int{0, 0, 0, 0, 4, 4} {
		if bodies[i].raw != bodies[same].raw {
			t.Errorf("attempt %d differs from attempt %d of its step:\n%s\n%s", i, same, bodies[i].raw, bodies[same].raw)
		}
	}
	if s.count(session.KindStepStarted) != 2 || s.count(session.KindMessageUser) != 2 {
		t.Errorf("a retry is a step, or claims input again: %s", s.kinds())
	}
}

// A cancel before the first word and a new prompt: an endpoint that wants roles in
// turn accepts what comes, and both texts are in it (C040).
func TestC040_L7_AStrictEndpointGetsBothTexts(t *testing.T) {
	t.Parallel()
	w := newWire(t, "hang", "both", "!a echo {}", "steered")
	w.strict = true
	s := w.over(newSetup(t))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, func(_ context.Context, c tool.Call) (tool.Result, error) {
		return tool.Result{Text: "r"}, s.agent.Steer(t.Context(), "steering")
	})}
	s.open()
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.agent.Prompt(ctx, "text A"); err != nil {
		t.Fatal(err)
	}
	go func() {
		for len(w.sent()) < 2 { // the first is refused: a context and a prompt are two users
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if reason, _, err := s.agent.Run(ctx); err != nil || reason != session.ReasonCancelled {
		t.Fatalf("ended %s, %v", reason, err)
	}
	s.completed("text B")
	s.completed("text C")
	bodies := w.sent()
	last := bodies[len(bodies)-1]
	for _, text := range []string{"text A", "text B", "text C", "steering"} {
		if strings.Count(last.messages, text) != 1 {
			t.Errorf("%q is not once in %s", text, last.messages)
		}
	}
	if len(bodies) != 5 || !takesTurns(last.list) {
		t.Errorf("%d requests, the last is %s", len(bodies), last.messages)
	}
}

// lively offers a context that changes with every step, as a clock does.
func lively() *offers {
	n := 0
	return &offers{
		sections: func() ([]prompt.Section, error) { return []prompt.Section{{ID: "s", Text: "a section"}}, nil },
		contexts: func() ([]prompt.Context, error) {
			n++
			return []prompt.Context{{ID: "clock", Order: 1, Text: fmt.Sprintf("It is %d o'clock.", n)}}, nil
		},
	}
}

// explains are the kinds of events that may break the prefix of requests.
var explains = map[session.Kind]bool{session.KindCompactionEnded: true, session.KindMessageSystem: true, session.KindRequestHeader: true}

// Each body's tools, and its messages but the last ones, are byte for byte those of
// the body before, through steps, turns, a clock that moves, steering, retries, calls
// of the strategy and a resume. Where they are not, the log has the reason (C131, M23).
func TestC131_M23_EachBodyBeginsWithTheOneBefore(t *testing.T) {
	t.Parallel()
	var answers []string
	for i := range 40 {
		answers = append(answers, fmt.Sprintf("!c%d echo {\"n\":%d}\nd%d echo {}", i, i, i))
		if i%4 == 3 {
			answers = append(answers, "500", fmt.Sprintf("turn %d is done", i/4))
		}
	}
	w := newWire(t, answers...)
	s := w.over(newSetup(t))
	steps := 0
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, func(_ context.Context, c tool.Call) (tool.Result, error) {
		if steps++; steps%5 == 0 {
			if err := s.agent.Steer(t.Context(), fmt.Sprintf("steered at %d", steps)); err != nil {
				t.Error(err)
			}
		}
		return tool.Result{Text: strings.Repeat("r", 50)}, nil
	})}
	s.options.Prompts = []prompt.Provider{lively()}
	s.options.Retry = agent.Retry{Max: 2, Initial: time.Microsecond}
	// the strategy asks a model each time, and is asked by hand after the sixth turn
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		w.mu.Lock()
		w.answers = append([]string{"a summary"}, w.answers...)
		w.mu.Unlock()
		g, err := in.Access.Generate(ctx, session.Generate{Purpose: llm.PurposeCompaction, Append: []*llm.Message{llm.Text(llm.RoleUser, "summarise")}})
		if err != nil {
			return compaction.Proposal{}, err
		}
		return wipe(g.Message.Text())(ctx, in)
	}})
	s.options.Strategy.Auto = false
	var reasons []int64 // per body, the newest event that explains a break
	explain := func() {
		newest := int64(0)
		for _, e := range s.events() {
			if explains[e.Kind] {
				newest = e.Seq
			}
		}
		for len(reasons) < len(w.sent()) {
			reasons = append(reasons, newest)
		}
	}
	for turn := range 10 {
		if turn == 3 || turn == 8 {
			s.agent = nil // a resume
		}
		s.completed(fmt.Sprintf("turn %d", turn))
		explain()
		if turn == 5 {
			if did, err := s.agent.Compact(t.Context(), ""); err != nil || !did {
				t.Fatal(did, err)
			}
			reasons = append(reasons, reasons[len(reasons)-1]) // its call came before its events
		}
	}
	bodies, breaks := w.sent(), 0
	for i := 1; i < len(bodies); i++ {
		if bodies[i].tools != bodies[i-1].tools || bodies[i].tools == "" {
			t.Errorf("body %d declares other tools: %s\n%s", i, bodies[i].tools, bodies[i-1].tools)
		}
		before := bodies[i-1].messages
		if strings.Contains(before, `"summarise"`) { // beside the main line
			before = before[:strings.LastIndex(before, `,{"role":"user","content":"summarise"}`)]
		}
		if strings.HasPrefix(bodies[i].messages, before) {
			continue
		}
		if breaks++; reasons[i] == reasons[i-1] {
			t.Errorf("body %d breaks the prefix and no event says why:\n%s\n%s", i, bodies[i].messages, before)
		}
	}
	if breaks != 1 || len(bodies) != 40+2*10+1 {
		t.Errorf("%d breaks in %d bodies, want the one of the compaction", breaks, len(bodies))
	}
}
