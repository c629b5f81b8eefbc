package openai

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
)

func exchange(id string) []*llm.Message {
	call := &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: id, Name: "read", Arguments: "{}"}}}}
	return []*llm.Message{call, llm.ToolResult(id, "text", false)}
}

// Whatever a session does between two requests (it goes on, is edited, undone or
// compacted, asks beside its main line, sends what is no conversation), the verdict
// is that of the whole.
func TestM7_M23_VerdictsAreThoseOfTheWhole(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := &encoder{quirk: &quirks[0], bound: maxCached}
		messages := conversation("base", 10)
		for range rapid.IntRange(1, 20).Draw(t, "requests") {
			next := slices.Clone(messages)
			if rapid.IntRange(0, 3).Draw(t, "depart") == 0 {
				next = next[:rapid.IntRange(0, len(next)).Draw(t, "at")]
			}
			for range rapid.IntRange(0, 3).Draw(t, "more") {
				id := fmt.Sprint(rapid.IntRange(0, 30).Draw(t, "id"))
				switch rapid.IntRange(0, 9).Draw(t, "kind") {
				case 0:
					next = append(next, exchange(id)[0])
				case 1:
					next = append(next, exchange(id)[1])
				case 2, 3:
					next = append(next, llm.Text(llm.RoleUser, "on"))
				default:
					next = append(next, exchange(id)...)
				}
			}
			want := llm.Validate(next)
			_, err := e.encode(next, nil, rapid.Bool().Draw(t, "keep"))
			if fmt.Sprint(err) != fmt.Sprint(want) {
				t.Fatalf("got %v, want %v", err, want)
			}
			if want == nil {
				messages = next
			}
		}
	})
}

// What was found valid is not looked at again: spoiling it, which nobody may, goes
// unnoticed until a request departs from the lineage.
func TestM7_M23_OnlyNewMessagesAreValidated(t *testing.T) {
	t.Parallel()
	e := &encoder{quirk: &quirks[0], bound: maxCached}
	messages := append(conversation("base", 10), exchange("a")...)
	encoded(t, e, messages)
	messages[2].Role = "spoiled"
	for i := range 3 {
		messages = append(messages, exchange(fmt.Sprint(i))...)
		encoded(t, e, messages)
		if _, err := e.encode(append(messages[:len(messages):len(messages)], llm.Text(llm.RoleUser, "condense")), nil, false); err != nil {
			t.Errorf("beside the main line: %v", err)
		}
	}
	if _, err := e.encode(append(messages, exchange("a")...), nil, true); err == nil {
		t.Error("an id of an old message is used again")
	}
	fork := append(messages[:4:4], llm.Text(llm.RoleUser, "otherwise"))
	for _, keep := range []bool{true, false} {
		if _, err := e.encode(fork, nil, keep); err == nil {
			t.Errorf("keep %v: a conversation that departs is not validated", keep)
		}
	}
}
