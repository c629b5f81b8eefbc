package tool_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/tureen-host/tureen/host/tool"
)

// A value that may have several forms gets one sentence, and names that a model made
// up are told as it wrote them (T3).
func TestT3_FormsAndOddNamesAreSaidPlainly(t *testing.T) {
	t.Parallel()
	schema := `{"type":"object","additionalProperties":false,"properties":{
		"when":{"oneOf":[{"type":"object","required":["at"],"properties":{"at":{"type":"string"}}},{"type":"object","required":["every"],"properties":{"every":{"type":"integer"}}}]},
		"who":{"anyOf":[{"type":"string"},{"type":"array"}]},
		"it's":{"type":"object","required":["a/b 'c'"],"properties":{"a/b 'c'":{"type":"string"}}}}}`
	r, err := tool.NewRegistry(t.Context(), "s", []tool.Provider{provider{"p", []tool.Spec{spec("x", schema)}}})
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"when":{"after":3}}`:           `"when" must match exactly one of 2 forms, and matches none (missing required property "when.at", or missing required property "when.every")`,
		`{"when":{"at":"x","every":3}}`:  `"when" must match exactly one of the forms that its schema allows, and matches several`,
		`{"who":7}`:                      `"who" must match at least one of 2 forms, and matches none ("who" must be a string, or "who" must be an array)`,
		`{"it's":{}}`:                    `missing required property "it's.a/b 'c'"`,
		`{"it's":{"a/b 'c'":1}}`:         `"it's.a/b 'c'" must be a string`,
		`{"o'dd":1}`:                     `"o'dd" is not a declared property (additionalProperties: false)`,
		`{"say \"hi\"":1}`:               `"say \"hi\"" is not a declared property (additionalProperties: false)`,
		`{"back\\slash":1}`:              `"back\\slash" is not a declared property (additionalProperties: false)`,
		"{\"\\u001b[31m\\u202e\\n漢\":1}": `"\x1b[31m\u202e\n漢" is not a declared property (additionalProperties: false)`,
	} {
		got, refused := r.Validate("x", json.RawMessage(arguments))
		if !refused || got.Text != "Error: invalid arguments: "+want || !utf8.ValidString(got.Text) {
			t.Errorf("%s gives\n%s\nwant\n%s", arguments, got.Text, want)
		}
	}
}
