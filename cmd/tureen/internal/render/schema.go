package render

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/tureen-host/tureen/host"
	"github.com/tureen-host/tureen/host/session"
)

// object is a JSON object that is written as it is.
type object = map[string]any

// Schema returns a JSON Schema (draft 2020-12) of what programs read: a line of
// -o stream-json is an instance of it, $defs has one entry a type of event, and
// $defs/result is the object of -o json. Objects are open, as fields may be added.
func Schema() map[string]any {
	defs := object{"result": objectOf(reflect.TypeFor[host.Result]())}
	var lines []any
	for _, t := range types {
		line := objectOf(reflect.TypeOf(t.payload))
		line["description"] = t.when
		properties := line["properties"].(object)
		for name, of := range envelope(t.name) {
			properties[name] = of
		}
		line["required"] = append([]string{"v", "seq", "ts", "type"}, line["required"].([]string)...)
		defs[t.name] = line
		lines = append(lines, object{"$ref": "#/$defs/" + t.name})
	}
	return object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"$id":         fmt.Sprintf("https://github.com/tureen-host/tureen/schema/stream-%d.json", StreamVersion),
		"title":       "tureen run -o stream-json",
		"description": "One line of the stream. Readers ignore types and fields that are not here. $defs/result is the object of -o json.",
		"oneOf":       lines,
		"$defs":       defs,
	}
}

// envelope is what every line has.
func envelope(name string) object {
	return object{
		"v":    object{"const": StreamVersion},
		"seq":  object{"type": "integer", "minimum": 1},
		"ts":   object{"type": "string", "format": "date-time"},
		"type": object{"const": name},
	}
}

// words are the types that take a few texts only.
var words = map[reflect.Type][]any{
	reflect.TypeFor[session.Reason](): {session.ReasonCompleted, session.ReasonMaxTokens, session.ReasonLimit,
		session.ReasonBlocked, session.ReasonCancelled, session.ReasonError},
	reflect.TypeFor[session.Trigger](): {session.TriggerPressure, session.TriggerStopping, session.TriggerRequested,
		session.TriggerOverflow, session.TriggerManual},
	reflect.TypeFor[session.QuestionKind](): {session.QuestionApproval, session.QuestionOpen},
	reflect.TypeFor[session.Outcome](): {session.OutcomeAnswered, session.OutcomeDeclined, session.OutcomePending,
		session.OutcomeUnavailable},
}

// schemaOf describes what encoding/json makes of a type.
func schemaOf(t reflect.Type) object {
	if allowed := words[t]; allowed != nil {
		return object{"type": "string", "enum": allowed}
	}
	if t == reflect.TypeFor[json.RawMessage]() {
		return object{} // any JSON
	}
	switch t.Kind() {
	case reflect.Pointer:
		return object{"oneOf": []any{object{"type": "null"}, schemaOf(t.Elem())}}
	case reflect.Struct:
		return objectOf(t)
	case reflect.Slice:
		return object{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	}
	panic("render: no schema for " + t.String())
}

func objectOf(t reflect.Type) object {
	properties, required := object{}, []string{}
	for name, f := range jsonFields(t) {
		properties[name] = schemaOf(f.Type)
		if !strings.Contains(f.Tag.Get("json"), ",omitempty") {
			required = append(required, name)
		}
	}
	return object{"type": "object", "properties": properties, "required": required}
}
