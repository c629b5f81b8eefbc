package endpoint

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestM23_ContinuesKnowsAnAppendedRequest(t *testing.T) {
	t.Parallel()
	const first = `{"tools":[{"a":"]"}],"messages":[{"role":"system","content":"s"},{"role":"user","content":"x ]} \"role\":\"user\""}]}`
	more := func(old, new string) string { return strings.Replace(first, old, new, 1) }
	end := `\""}]}`
	for _, c := range []struct {
		what, next string
		want       bool
	}{
		{"a message more", more(end, `\""},{"role":"user","content":"y"}]}`), true},
		{"the same again", first, false},
		{"an empty one", "", false},
		{"a changed system prompt", more(`"s"`, `"t"`), false},
		{"a changed tool", more(`"a"`, `"b"`), false},
		{"a message in the middle", more(`,{"role":"user"`, `,{"role":"user","content":"y"},{"role":"user"`), false},
		{"other fields behind the messages", more(end, `\""},{"role":"user","content":"y"}],"n":1}`), false},
		{"a longer last message", more(end, `\" and more"}]}`), false},
	} {
		if got := continues([]byte(first), []byte(c.next)); got != c.want {
			t.Errorf("%s: continues = %v, want %v", c.what, got, c.want)
		}
	}
}

// ask sends a request and returns the data of the events.
func ask(t *testing.T, s *Server, body string) (events []string) {
	t.Helper()
	res, err := http.Post(s.BaseURL()+"/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(res.Body)
		return []string{res.Status, string(text)}
	}
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			events = append(events, data)
		}
	}
	return events
}

func serve(t *testing.T) *Server {
	t.Helper()
	s, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestTheScriptAnswersAndTheTapeKeepsTheTimes(t *testing.T) {
	t.Parallel()
	s := serve(t)
	tape := s.Record(Calls(1, Call{Name: "read", Arguments: `{"file_path":"a \"b\""}`}))
	first, second := `{"messages":[{"role":"user"}]}`, `{"messages":[{"role":"user"},{"role":"tool"}]}`

	var name, arguments, finish string
	events := ask(t, s, first)
	for _, e := range events[:len(events)-1] {
		var chunk struct {
			Choices []struct {
				Delta struct {
					Calls []struct {
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(e), &chunk); err != nil {
			t.Fatalf("event %s: %v", e, err)
		}
		for _, c := range chunk.Choices {
			finish += c.FinishReason
			for _, call := range c.Delta.Calls {
				name, arguments = name+call.Function.Name, arguments+call.Function.Arguments
			}
		}
	}
	if name != "read" || arguments != `{"file_path":"a \"b\""}` || finish != "tool_calls" || events[len(events)-1] != "[DONE]" {
		t.Errorf("call %s %s, finish %q, last event %s", name, arguments, finish, events[len(events)-1])
	}
	if all := strings.Join(ask(t, s, second), "\n"); !strings.Contains(all, `"content":"Done."`) || !strings.Contains(all, `"finish_reason":"stop"`) {
		t.Errorf("the last answer is %s", all)
	}

	x, err := tape.Exchanges()
	if err != nil || len(x) != 2 {
		t.Fatalf("%d exchanges, %v", len(x), err)
	}
	if !x[1].Continues || x[1].Bytes != len(second) || x[1].Arrived.Before(x[0].Answered) || x[0].Answered.Before(x[0].Arrived) {
		t.Errorf("exchanges %+v", x)
	}
}

func TestAnErrorOfTheScriptIsRefusedAndKept(t *testing.T) {
	t.Parallel()
	s := serve(t)
	looked := 0
	tape := s.Record(Watched(Calls(0, Call{}), func(x Exchange) error {
		if looked++; x.Ordinal == 1 {
			return errors.New("seen enough")
		}
		return nil
	}))
	ask(t, s, `{}`)
	if got := ask(t, s, `{}`); got[0] != "400 Bad Request" || !strings.Contains(got[1], "seen enough") {
		t.Errorf("the answer is %q", got)
	}
	if _, err := tape.Exchanges(); err == nil || looked != 2 {
		t.Errorf("tape error %v after %d looks", err, looked)
	}
	past := s.Record(Calls(0, Call{}))
	ask(t, s, `{}`)
	ask(t, s, `{}`)
	if _, err := past.Exchanges(); err == nil {
		t.Error("a request past the end of the script went unnoticed")
	}
}
