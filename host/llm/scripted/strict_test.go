package scripted_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm/scripted"
)

// fine is a conversation that is accepted; each row of the table spoils it.
const fine = `{"model":"scripted","max_tokens":50,
"tools":[{"type":"function","function":{"name":"read","description":"d","parameters":{"type":"object","properties":{}}}}],
"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},
{"role":"assistant","content":null,"reasoning_content":"r","tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"p\":1}"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","content":"y"},
{"role":"user","content":"v"}]}`

const oneTool = `[{"type":"function","function":{"name":"read","description":"d","parameters":{"type":"object","properties":{}}}}]`

func TestM7_M8_M22_RefusesWhatTheStrictestVendorRefuses(t *testing.T) {
	t.Parallel()
	server := serve(t, scripted.Options{Agent: scripted.NewScript(scripted.Reply{Text: "ok"})})
	if status, _, body := post(t, server, fine); status != http.StatusOK {
		t.Fatalf("the conversation that the rows spoil is refused itself: %s", body)
	}
	var many []string
	for i := range 129 {
		many = append(many, fmt.Sprintf(`{"type":"function","function":{"name":"t%d","parameters":{"type":"object"}}}`, i))
	}
	rows := []struct {
		name, old, new string
		param, says    string
	}{
		{"not JSON", `"model"`, `model`, "", "not one JSON value"},
		{"two values", `{"model":"scripted","max_tokens":50,`, `{} {"model":"scripted",`, "", "not one JSON value"},
		{"invalid UTF-8", `"content":"u"`, "\"content\":\"\xff\"", "", "UTF-8"},
		{"unknown field", `"max_tokens":50`, `"max_tokns":50`, "max_tokns", "unknown parameter"},
		{"no model", `"model":"scripted",`, ``, "model", "missing"},
		{"unknown model", `"model":"scripted"`, `"model":"gpt"`, "model", "does not exist"},
		{"model of the wrong type", `"model":"scripted"`, `"model":1`, "model", "expected a string, got number"},
		{"both caps", `"max_tokens":50`, `"max_tokens":50,"max_completion_tokens":50`, "max_tokens", "not both"},
		{"cap of nought", `"max_tokens":50`, `"max_tokens":0`, "max_tokens", "at least 1"},
		{"cap that is no integer", `"max_tokens":50`, `"max_tokens":1.5`, "max_tokens", "integer"},
		{"cap above the model's", `"max_tokens":50`, `"max_tokens":99999`, "max_tokens", "too large"},
		{"stream of the wrong type", `"max_tokens":50`, `"stream":"yes"`, "stream", "expected a boolean"},
		{"stream options without stream", `"max_tokens":50`, `"stream_options":{"include_usage":true}`, "stream_options", "stream is true"},
		{"unknown stream option", `"max_tokens":50`, `"stream":true,"stream_options":{"x":1}`, "stream_options.x", "unknown parameter"},
		{"two answers", `"max_tokens":50`, `"n":2`, "n", "only 1"},
		{"unknown effort", `"max_tokens":50`, `"reasoning_effort":"brutal"`, "reasoning_effort", "not one of"},
		{"forced tool", `"max_tokens":50`, `"tool_choice":"required"`, "tool_choice", `"auto" or "none"`},
		{"no tools but calls", `"tools":` + oneTool + `,`, ``, "messages[2].tool_calls", "declares no tools"},
		{"empty tools", oneTool, `[]`, "tools", "1 to 128 tools, got 0"},
		{"too many tools", oneTool, "[" + strings.Join(many, ",") + "]", "tools", "got 129"},
		{"tool declared twice", oneTool, oneTool[:len(oneTool)-1] + "," + oneTool[1:], "tools[1]", "declared twice"},
		{"bad tool name", `"name":"read","desc`, `"name":"re ad","desc`, "tools[0].function.name", "does not match"},
		{"unknown key of a tool", `"description":"d"`, `"strict":true`, "tools[0].function.strict", "unknown parameter"},
		{"no schema", `,"parameters":{"type":"object","properties":{}}`, ``, "tools[0].function.parameters", "got nothing"},
		{"schema of an array", `{"type":"object","properties":{}}`, `{"type":"array"}`, "tools[0].function.parameters", `type "object"`},
		{"schema that is true", `{"type":"object","properties":{}}`, `true`, "tools[0].function.parameters", "got boolean"},
		{"properties of the wrong type", `"properties":{}`, `"properties":[]`, "tools[0].function.parameters", "properties"},
		{"no messages", fine[strings.Index(fine, ",\n\"messages\""):], `}`, "messages", "got nothing"},
		{"unknown role", `{"role":"user","content":"u"}`, `{"role":"developer","content":"u"}`, "messages[1].role", "not one of"},
		{"system later", `{"role":"user","content":"u"}`, `{"role":"user","content":"u"},{"role":"system","content":"t"}`, "messages[2]", "only stand first"},
		{"assistant first", `{"role":"user","content":"u"},`, ``, "messages[1]", "open the conversation"},
		{"two assistants", `{"role":"user","content":"u"},`, `{"role":"user","content":"u"},{"role":"assistant","content":"t"},`, "messages[3]", "follow each other"},
		{"empty user content", `"content":"u"`, `"content":""`, "messages[1].content", "empty"},
		{"blank system content", `"content":"s"`, `"content":" \n"`, "messages[0].content", "empty"},
		{"content in parts", `"content":"u"`, `"content":[{"type":"text","text":"u"}]`, "messages[1].content", "expected a string, got array"},
		{"empty text beside calls", `"content":null`, `"content":""`, "messages[2].content", "empty"},
		{"no content beside calls", `"content":null,`, ``, "messages[2].content", "got nothing"},
		{"blank result", `"content":"x"`, `"content":""`, "messages[3].content", "empty"},
		{"name of a user", `"role":"user","content":"u"`, `"role":"user","name":"n","content":"u"`, "messages[1].name", "unknown parameter"},
		{"calls of a user", `"role":"user","content":"u"`, `"role":"user","tool_calls":[],"content":"u"`, "messages[1].tool_calls", "not allowed in a user message"},
		{"call without result", `,{"role":"tool","tool_call_id":"b","content":"y"}`, ``, "messages[4]", "before the results of the tool calls b"},
		{"result later", `{"role":"tool","tool_call_id":"b","content":"y"},`, `{"role":"user","content":"w"},{"role":"tool","tool_call_id":"b","content":"y"},`, "messages[4]", "before the results"},
		{"result without call", `{"role":"user","content":"v"}`, `{"role":"tool","tool_call_id":"b","content":"y"}`, "messages[5]", "without an assistant's tool call"},
		{"result of another call", `"tool_call_id":"b"`, `"tool_call_id":"c"`, "messages[4].tool_call_id", `no open call has the id "c"`},
		{"result twice", `"tool_call_id":"b"`, `"tool_call_id":"a"`, "messages[4].tool_call_id", `no open call has the id "a"`},
		{"id used twice", `"id":"b"`, `"id":"a"`, "messages[2].tool_calls[1].id", "used twice"},
		{"bad id", `"id":"b"`, `"id":"b b"`, "messages[2].tool_calls[1].id", "does not match"},
		{"call of no type", `{"id":"b","type":"function"`, `{"id":"b"`, "messages[2].tool_calls[1].type", "got nothing"},
		{"bad name of a call", `"name":"read","arguments":"{}"`, `"name":"","arguments":"{}"`, "messages[2].tool_calls[1].function.name", "does not match"},
		{"arguments as an object", `"arguments":"{}"`, `"arguments":{}`, "messages[2].tool_calls[1].function.arguments", "expected a string, got object"},
		{"arguments that are no object", `"arguments":"{}"`, `"arguments":"[]"`, "messages[2].tool_calls[1].function.arguments", "JSON object"},
		{"arguments cut short", `"arguments":"{}"`, `"arguments":"{\"p\":"`, "messages[2].tool_calls[1].function.arguments", "JSON object"},
		{"no calls in the list", `{"role":"user","content":"v"}`, `{"role":"assistant","content":"t","tool_calls":[]},{"role":"user","content":"v"}`, "messages[5].tool_calls", "empty list"},
		{"answer last", `{"role":"user","content":"v"}`, `{"role":"assistant","content":"v"}`, "messages[5]", "last message"},
		{"calls last", `,
{"role":"tool","tool_call_id":"a","content":"x"},{"role":"tool","tool_call_id":"b","content":"y"},
{"role":"user","content":"v"}`, ``, "messages[2]", "ends before the results of the tool calls a, b"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			body := strings.Replace(fine, row.old, row.new, 1)
			if body == fine {
				t.Fatal("the row spoils nothing")
			}
			status, _, answer := post(t, server, body)
			want := http.StatusBadRequest
			if row.name == "unknown model" {
				want = http.StatusNotFound
			}
			if status != want {
				t.Fatalf("status %d, want %d: %s", status, want, answer)
			}
			var r refusal
			if err := json.Unmarshal([]byte(answer), &r); err != nil {
				t.Fatal(err)
			}
			param := ""
			if r.Error.Param != nil {
				param = *r.Error.Param
			}
			if param != row.param || !strings.Contains(r.Error.Message, row.says) || r.Error.Type != "invalid_request_error" || r.Error.Code == nil {
				t.Errorf("got %s\nwant param %q and a message with %q", answer, row.param, row.says)
			}
		})
	}
	if got := server.Stats(); got.Refused != len(rows) || got.Requests != len(rows)+1 {
		t.Errorf("stats %+v, want %d refused of %d", got, len(rows), len(rows)+1)
	}
}

func TestL12_SystemInHistoryIsAnOption(t *testing.T) {
	t.Parallel()
	server := serve(t, scripted.Options{SystemInHistory: true})
	body := `{"model":"scripted","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"},{"role":"assistant","content":"a"},{"role":"system","content":"t"},{"role":"user","content":"v"}]}`
	if status, _, answer := post(t, server, body); status != http.StatusOK {
		t.Errorf("refused: %s", answer)
	}
	body = `{"model":"scripted","messages":[{"role":"user","content":"u"},{"role":"system","content":"t"}]}`
	if status, _, answer := post(t, server, body); status != http.StatusBadRequest || !strings.Contains(answer, "messages[1]") {
		t.Errorf("a system message that nothing follows: %d %s", status, answer)
	}
}

func TestRefusesBodiesOverTheCapAndOtherTypes(t *testing.T) {
	t.Parallel()
	server := serve(t, scripted.Options{MaxBody: int64(len(fine))})
	if status, _, answer := post(t, server, fine+" "); status != http.StatusRequestEntityTooLarge || !strings.Contains(answer, "request_too_large") {
		t.Errorf("one byte over the cap: %d %s", status, answer)
	}
	res, err := http.Post(server.BaseURL()+"/chat/completions", "text/plain", strings.NewReader(fine))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("text/plain: status %d", res.StatusCode)
	}
}
