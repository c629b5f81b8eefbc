package scripted

import (
	"encoding/json"
	"maps"
	"slices"
)

// object reads raw as a JSON object with no keys but the allowed ones.
func object(raw json.RawMessage, at string, allowed ...string) (map[string]json.RawMessage, *fault) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return nil, refuse(at, "invalid_type", "%sexpected an object, got %s", prefixed(at, ": "), kind(raw))
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(allowed, key) {
			name := prefixed(at, ".") + key
			return nil, refuse(name, "unknown_parameter", "unknown parameter: %q", name)
		}
	}
	return fields, nil
}

// text reads raw as a JSON string.
func text(raw json.RawMessage, at string) (string, *fault) {
	var s string
	if kind(raw) != "string" || json.Unmarshal(raw, &s) != nil {
		return "", refuse(at, "invalid_type", "%s: expected a string, got %s", at, kind(raw))
	}
	return s, nil
}

// list reads raw as a JSON array.
func list(raw json.RawMessage, at string) ([]json.RawMessage, *fault) {
	var items []json.RawMessage
	if kind(raw) != "array" || json.Unmarshal(raw, &items) != nil {
		return nil, refuse(at, "invalid_type", "%s: expected an array, got %s", at, kind(raw))
	}
	return items, nil
}

// kind names the JSON type of valid JSON text; "nothing" for none.
func kind(raw json.RawMessage) string {
	for _, b := range raw {
		switch b {
		case ' ', '\t', '\n', '\r':
			continue
		case '{':
			return "object"
		case '[':
			return "array"
		case '"':
			return "string"
		case 't', 'f':
			return "boolean"
		case 'n':
			return "null"
		default:
			return "number"
		}
	}
	return "nothing"
}

func prefixed(at, sep string) string {
	if at == "" {
		return ""
	}
	return at + sep
}
