package guards

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

// canonical writes a call's arguments in the one form that equal arguments share:
// keys sorted at every depth, no white space between values, numbers by value. What
// is no JSON object stands as it is, without white space around it.
func canonical(arguments string) string {
	object, ok := llm.ToolCall{Arguments: arguments}.ArgumentsObject()
	if !ok {
		return strings.TrimSpace(arguments)
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return strings.TrimSpace(arguments)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out) // sorts keys
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(plainNumbers(value)); err != nil {
		return strings.TrimSpace(arguments)
	}
	return strings.TrimSpace(out.String())
}

// plainNumbers makes 3, 3.0 and 3e0 the same. A number that a float64 would
// change is left as it was written.
func plainNumbers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plainNumbers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case json.Number:
		const exact = 1 << 53
		f, err := strconv.ParseFloat(v.String(), 64)
		if err != nil || f >= exact || f <= -exact {
			return v
		}
		if f == 0 {
			return 0 // -0 too
		}
		return f
	}
	return value
}
