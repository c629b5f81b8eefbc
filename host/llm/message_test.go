package llm_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
)

func TestM9_M15_ArgumentsObject(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{ // "" = none
		`{"path":"a"}`:          `{"path":"a"}`,
		` { "path" : "a" } `:    ` { "path" : "a" } `,
		``:                      `{}`,
		" \n\t":                 `{}`,
		`{}`:                    `{}`,
		`"{\"path\":\"a\"}"`:    `{"path":"a"}`,
		`""`:                    `{}`,
		`"\"{}\""`:              ``, // encoded three times
		`{"path":"a"`:           ``,
		`{"path":"a"} and more`: ``,
		`{"a":1}{"b":2}`:        ``,
		`[{"path":"a"}]`:        ``,
		`null`:                  `{}`, // as empty as no text
		`"null"`:                ``,
		`true`:                  ``,
		`7`:                     ``,
		`"just text"`:           ``,
		`just text`:             ``,
		"{\"a\":\"\n\"}":        ``, // a bare line break in a string
	} {
		got, ok := llm.ToolCall{Arguments: given}.ArgumentsObject()
		if ok != (want != "") || string(got) != want {
			t.Errorf("%q gave %q, %v; want %q", given, got, ok, want)
		}
	}
}

func TestMessageParts(t *testing.T) {
	t.Parallel()
	m := &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{
		{Kind: llm.BlockReasoning, Text: "hm", Field: "reasoning"},
		{Kind: llm.BlockText, Text: "I "},
		{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: "a", Name: "read", Arguments: "{}"}},
		{Kind: llm.BlockText, Text: "read"},
		{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: "b", Name: "glob", Arguments: "{"}},
	}}
	if m.Text() != "I read" || m.Reasoning() != "hm" {
		t.Errorf("text %q, reasoning %q", m.Text(), m.Reasoning())
	}
	want := []llm.ToolCall{{ID: "a", Name: "read", Arguments: "{}"}, {ID: "b", Name: "glob", Arguments: "{"}}
	if got := m.Calls(); !reflect.DeepEqual(got, want) {
		t.Errorf("calls %+v, want %+v", got, want)
	}
}

func TestAMessageSurvivesTheLog(t *testing.T) {
	t.Parallel()
	for _, m := range []*llm.Message{
		llm.Text(llm.RoleUser, "hi <&> 漢"),
		llm.ToolResult("a", "no such file", true),
		{Role: llm.RoleAssistant, Interrupted: true, Blocks: []llm.Block{
			{Kind: llm.BlockReasoning, Text: "hm", Field: "reasoning_content"},
			{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: "a", Name: "read", Arguments: `{"broken`}},
		}},
	} {
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var back llm.Message
		if err := json.Unmarshal(b, &back); err != nil || !reflect.DeepEqual(&back, m) {
			t.Errorf("%s came back as %+v, %v", b, back, err)
		}
	}
}
