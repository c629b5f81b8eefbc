package llm_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/host/llm"
)

func TestX1_C081_HalfACharacterInArgumentsIsMended(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"a":"\ud83d\ude00"}`:       `{"a":"\ud83d\ude00"}`,
		`{"a":"\ud83d"}`:             `{"a":"\ufffd"}`,
		`{"a":"x\uDE00y"}`:           `{"a":"x\ufffdy"}`,
		`{"a":"\ude00\ud83d"}`:       `{"a":"\ufffd\ufffd"}`,
		`{"a":"\ud83d\ud83d\ude00"}`: `{"a":"\ufffd\ud83d\ude00"}`,
		`{"a":"\\ud83d"}`:            `{"a":"\\ud83d"}`, // a backslash and letters
		`{"a":"\\\ud83d"}`:           `{"a":"\\\ufffd"}`,
		`{"\udead":1}`:               `{"\ufffd":1}`,
		`"{\"a\":\"\\ud83d\"}"`:      `{"a":"\ufffd"}`, // encoded twice
	} {
		if got, ok := (llm.ToolCall{Arguments: given}).ArgumentsObject(); !ok || string(got) != want {
			t.Errorf("%s became %s, %v; want %s", given, got, ok, want)
		}
	}
}

var (
	whole = regexp.MustCompile(`\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\[^u]`) // pairs, and escapes that are none of \u
	half  = regexp.MustCompile(`\\u[dD][89a-fA-F]`)
)

// What comes out decodes to what went in as Go reads it, and holds no half of a pair.
func TestX1_MendingKeepsTheMeaning(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{`\ud83d`, `\ude00`, `\uDBFF`, `\udFFF`, `\\`, `\"`, `\u0041`, `\u0000`, "a", "é", "u", "d83d"}), 0, 20).Draw(t, "text"), "")
		given := `{"k":"` + text + `"}`
		got, ok := (llm.ToolCall{Arguments: given}).ArgumentsObject()
		if !ok {
			t.Fatalf("%s is refused", given)
		}
		var a, b map[string]string
		if json.Unmarshal([]byte(given), &a) != nil || json.Unmarshal(got, &b) != nil || a["k"] != b["k"] {
			t.Fatalf("%s became %s", given, got)
		}
		if half.MatchString(whole.ReplaceAllString(string(got), "")) {
			t.Fatalf("%s became %s, which holds half a pair", given, got)
		}
	})
}
