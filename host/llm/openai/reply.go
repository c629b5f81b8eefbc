package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// reply is what an endpoint said instead of an answer, read loosely.
type reply struct {
	status  int    // HTTP status, 0 inside of a stream
	message string // for people, "" where there is none
	code    string // numbers as text
	kind    string // the "type"
	param   string
	all     string // everything that was said, for patterns
	html    bool
	empty   bool
	limited bool // a Retry-After came with it
	window  int  // given as fields of their own (llama.cpp)
	input   int
}

var htmlTitle = words(`(?is)<title[^>]*>\s*(.*?)\s*</title>`)

// readReply reads the body of a refusal or the data of an error event: an error
// object, a top-level object, a list of them, a string, HTML, plain text, nothing.
func readReply(status int, body []byte) reply {
	r := reply{status: status}
	body = bytes.TrimSpace(body)
	r.all = string(body)
	switch {
	case len(body) == 0:
		r.empty = true
	case body[0] == '<':
		r.html = true
		r.message = "an HTML page"
		if m := htmlTitle.FindStringSubmatch(r.all); m != nil {
			r.message += ": " + m[1]
		}
	default:
		var v any
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		if dec.Decode(&v) != nil {
			v = r.all
		}
		r.read(v)
	}
	// A proxy or a stream carries the upstream's status as a code.
	if n, err := strconv.Atoi(r.code); err == nil && r.status == 0 && n >= 400 && n < 600 {
		r.status = n
	}
	return r
}

// read takes the facts from a decoded body, inner objects first.
func (r *reply) read(v any) {
	switch v := v.(type) {
	case string:
		var inner any
		if strings.HasPrefix(strings.TrimSpace(v), "{") && json.Unmarshal([]byte(v), &inner) == nil {
			r.read(inner) // an upstream's error, quoted
			return
		}
		fill(&r.message, v)
	case []any:
		if len(v) > 0 {
			r.read(v[0])
		}
	case map[string]any:
		for _, name := range []string{"error", "errors", "detail"} {
			if inner, ok := v[name]; ok && inner != nil {
				r.read(inner)
			}
		}
		fill(&r.message, text(v["message"]), text(v["msg"]), text(v["error_msg"]))
		fill(&r.code, text(v["code"]), text(v["status"]))
		fill(&r.kind, text(v["type"]))
		fill(&r.param, text(v["param"]))
		r.window = max(r.window, number(text(v["n_ctx"])))
		r.input = max(r.input, number(text(v["n_prompt_tokens"])))
		if meta, ok := v["metadata"].(map[string]any); ok && meta["raw"] != nil {
			upstream := reply{}
			upstream.read(meta["raw"])
			if upstream.message != "" && !strings.Contains(r.message, upstream.message) {
				r.message = strings.TrimSpace(r.message + ": " + upstream.message)
				r.all += "\n" + upstream.message // without the quoting
			}
		}
	}
}

// fill sets a fact that is still unknown to the first text that is not empty.
func fill(fact *string, texts ...string) {
	for _, t := range texts {
		if *fact == "" {
			*fact = strings.TrimSpace(t)
		}
	}
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// number reads a decimal number with or without thousands commas, 0 = none.
func number(s string) int {
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// summary says what the reply said, in a length that fits a line or two.
func (r *reply) summary() string {
	s := r.message
	if r.code != "" && number(r.code) == 0 && !strings.Contains(s, r.code) {
		s = strings.TrimSpace(s + " [" + r.code + "]")
	}
	if s == "" {
		s = r.kind
	}
	if s == "" && r.empty {
		s = "(no body)"
	}
	if s == "" {
		s = r.all
	}
	if runes := []rune(s); len(runes) > 600 {
		s = string(runes[:600]) + "…"
	}
	return s
}
