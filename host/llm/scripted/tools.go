package scripted

import (
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/host/llm"
)

const maxTools = 128

// toolName is what every vendor takes as a function's name, callID as a call's id.
var (
	toolName = pattern(`^[A-Za-z0-9_-]{1,64}$`)
	callID   = pattern(`^[A-Za-z0-9_-]{1,40}$`)
)

// readTools reads the tool declarations. With tool_choice "none" they are checked
// and the agent sees none of them.
func (s *Server) readTools(fields map[string]json.RawMessage, c *call) *fault {
	if fields["tools"] == nil {
		for _, key := range []string{"tool_choice", "parallel_tool_calls"} {
			if fields[key] != nil {
				return invalid(key, "only allowed where tools are given")
			}
		}
		return nil
	}
	items, f := list(fields["tools"], "tools")
	if f != nil {
		return f
	}
	if len(items) == 0 || len(items) > maxTools {
		return invalid("tools", "expected 1 to %d tools, got %d", maxTools, len(items))
	}
	seen := map[string]bool{}
	for i, item := range items {
		at := fmt.Sprintf("tools[%d]", i)
		tool, f := readTool(item, at)
		if f != nil {
			return f
		}
		if seen[tool.Name] {
			return invalid(at, "the tool %q is declared twice", tool.Name)
		}
		seen[tool.Name] = true
		c.Tools = append(c.Tools, tool)
	}
	switch choice := string(fields["tool_choice"]); choice {
	case "", `"auto"`:
	case `"none"`:
		c.Tools = nil
	default:
		return invalid("tool_choice", `expected "auto" or "none", got %s`, choice)
	}
	return nil
}

func readTool(raw json.RawMessage, at string) (llm.Tool, *fault) {
	fields, f := object(raw, at, "type", "function")
	if f != nil {
		return llm.Tool{}, f
	}
	if string(fields["type"]) != `"function"` {
		return llm.Tool{}, invalid(at+".type", `expected "function", got %s`, or(fields["type"], "nothing"))
	}
	at += ".function"
	function, f := object(fields["function"], at, "name", "description", "parameters")
	if f != nil {
		return llm.Tool{}, f
	}
	tool := llm.Tool{Schema: function["parameters"]}
	if tool.Name, f = text(function["name"], at+".name"); f != nil {
		return tool, f
	}
	if !toolName().MatchString(tool.Name) {
		return tool, invalid(at+".name", "%q does not match %s", tool.Name, toolName())
	}
	if function["description"] != nil {
		if tool.Description, f = text(function["description"], at+".description"); f != nil {
			return tool, f
		}
	}
	return tool, checkSchema(tool.Schema, at+".parameters")
}

// checkSchema wants a schema rooted in an object.
func checkSchema(raw json.RawMessage, at string) *fault {
	var schema map[string]json.RawMessage
	if kind(raw) != "object" || json.Unmarshal(raw, &schema) != nil {
		return invalid(at, "expected a JSON Schema object, got %s", kind(raw))
	}
	if string(schema["type"]) != `"object"` {
		return invalid(at, `the root of the schema must have type "object", got %s`, or(schema["type"], "none"))
	}
	if p := schema["properties"]; p != nil && kind(p) != "object" {
		return invalid(at, "properties must be an object, got %s", kind(p))
	}
	return nil
}

// or returns raw, or other where raw is absent.
func or(raw json.RawMessage, other string) string {
	if raw == nil {
		return other
	}
	return string(raw)
}
