package llm_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
)

func TestC2_EstimateTextKnowsScripts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"nothing", "", 0},
		{"one letter", "a", 1},
		{"three letters", "abc", 1},
		{"four letters", "abcd", 2},
		{"ascii", strings.Repeat("a", 300), 100},
		{"json", `{"path":"a.txt"}`, 6},
		{"chinese", "漢字漢字", 4},
		{"russian", "привет", 6},
		{"emoji", "🙂🙂", 2},
		{"emoji of several code points", "👩‍💻", 3},
		{"mixed", "abc漢", 2},
		{"broken utf-8", "\xff\xfe", 2},
	} {
		if got := llm.EstimateText(tt.text); got != tt.want {
			t.Errorf("%s: %d tokens, want %d", tt.name, got, tt.want)
		}
	}
}

func TestC2_EstimateCountsEveryBlockAndOverhead(t *testing.T) {
	t.Parallel()
	if got := llm.Estimate(&llm.Message{Role: llm.RoleUser}); got != 4 {
		t.Errorf("an empty message takes %d tokens, want 4 for its role", got)
	}
	m := &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{
		{Kind: llm.BlockReasoning, Text: strings.Repeat("r", 30)},
		{Kind: llm.BlockText, Text: strings.Repeat("t", 60)},
		{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: "a", Name: "read", Arguments: strings.Repeat("x", 90)}},
	}}
	if got, want := llm.Estimate(m), 4+(4+10)+(4+20)+(4+2+30); got != want {
		t.Errorf("%d tokens, want %d", got, want)
	}
}

func TestC2_EstimateTools(t *testing.T) {
	t.Parallel()
	if got := llm.EstimateTools(nil); got != 0 {
		t.Errorf("no tools take %d tokens", got)
	}
	small := llm.EstimateTools([]llm.Tool{{Name: "read", Schema: json.RawMessage(`{"type":"object"}`)}})
	big := llm.EstimateTools([]llm.Tool{{Name: "read", Description: strings.Repeat("d", 300), Schema: json.RawMessage(`{"type":"object"}`)}})
	if small <= 4 || big-small != 100 {
		t.Errorf("300 letters of description take %d more tokens, want 100", big-small)
	}
}
