package endpoint

import (
	"encoding/json"
	"fmt"
)

// Script answers a request. It runs between arrival and answer, so that its time
// counts for nothing; body is the request, only for the time of the call. An error
// refuses the request and stays on the tape.
type Script func(x Exchange, body []byte) (Reply, error)

// Reply is an answer: a tool call, or the final text where there is none.
type Reply struct {
	Text string
	Call *Call
}

// Call is a tool call. Arguments is a JSON object.
type Call struct{ Name, Arguments string }

// Done is the answer that ends a turn.
var Done = Reply{Text: "Done."}

// Calls answers n times with a call, then with Done.
func Calls(n int, call Call) Script {
	return func(x Exchange, _ []byte) (Reply, error) {
		switch {
		case x.Ordinal < n:
			return Reply{Call: &call}, nil
		case x.Ordinal == n:
			return Done, nil
		}
		return Reply{}, fmt.Errorf("the script ended with request %d", n)
	}
}

// Watched lets watch look around before each answer of script.
func Watched(script Script, watch func(Exchange) error) Script {
	return func(x Exchange, body []byte) (Reply, error) {
		if err := watch(x); err != nil {
			return Reply{}, err
		}
		return script(x, body)
	}
}

// stream is the answer as a whole event stream.
func (r Reply) stream(x Exchange) []byte {
	var out []byte
	chunk := func(choices, usage string) {
		out = fmt.Appendf(out, "data: {\"id\":\"chatcmpl-%d\",\"object\":\"chat.completion.chunk\",\"created\":1767225600,\"model\":%q,\"choices\":[%s],\"usage\":%s}\n\n",
			x.Ordinal, Model, choices, usage)
	}
	delta := func(delta string) {
		chunk(`{"index":0,"delta":`+delta+`,"finish_reason":null}`, "null")
	}
	finish := "stop"
	delta(`{"role":"assistant","content":""}`)
	if r.Text != "" {
		delta(`{"content":` + quote(r.Text) + `}`)
	}
	if r.Call != nil {
		finish = "tool_calls"
		delta(fmt.Sprintf(`{"tool_calls":[{"index":0,"id":"call_%06d","type":"function","function":{"name":%s,"arguments":""}}]}`, x.Ordinal, quote(r.Call.Name)))
		delta(`{"tool_calls":[{"index":0,"function":{"arguments":` + quote(r.Call.Arguments) + `}}]}`)
	}
	chunk(`{"index":0,"delta":{},"finish_reason":"`+finish+`"}`, "null")
	tokens := x.Bytes / 4
	chunk("", fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":20,"total_tokens":%d}`, tokens, tokens+20))
	return append(out, "data: [DONE]\n\n"...)
}

func quote(s string) string {
	b, _ := json.Marshal(s) // a string always does
	return string(b)
}
