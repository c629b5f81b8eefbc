package scripted

import (
	"encoding/json"
	"fmt"

	"github.com/tureen-host/tureen/host/llm"
)

// reasoningFields are the names under which a message may carry reasoning back.
var reasoningFields = []string{"reasoning_content", "reasoning", "reasoning_text"}

// readAssistant reads an answer of the model. Beside tool calls its content is
// null or has text; alone it has text.
func (v *conversation) readAssistant(m *llm.Message, fields map[string]json.RawMessage, at string) *fault {
	for _, key := range reasoningFields {
		if fields[key] == nil {
			continue
		}
		reasoning, f := text(fields[key], at+"."+key)
		if f != nil {
			return f
		}
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockReasoning, Text: reasoning, Field: key})
	}
	if fields["tool_calls"] == nil || kind(fields["content"]) != "null" {
		content, f := content(fields, at)
		if f != nil {
			return f
		}
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockText, Text: content})
	}
	if fields["tool_calls"] == nil {
		return nil
	}
	calls, f := list(fields["tool_calls"], at+".tool_calls")
	if f != nil {
		return f
	}
	if len(calls) == 0 {
		return invalid(at+".tool_calls", "an empty list; leave the field out")
	}
	if !v.hasTools {
		return invalid(at+".tool_calls", "the conversation holds tool calls and the request declares no tools")
	}
	for i, raw := range calls {
		c, f := v.readCall(raw, fmt.Sprintf("%s.tool_calls[%d]", at, i))
		if f != nil {
			return f
		}
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: c})
	}
	return nil
}

func (v *conversation) readCall(raw json.RawMessage, at string) (*llm.ToolCall, *fault) {
	fields, f := object(raw, at, "id", "type", "function")
	if f != nil {
		return nil, f
	}
	if string(fields["type"]) != `"function"` {
		return nil, invalid(at+".type", `expected "function", got %s`, or(fields["type"], "nothing"))
	}
	function, f := object(fields["function"], at+".function", "name", "arguments")
	if f != nil {
		return nil, f
	}
	c := &llm.ToolCall{}
	for _, part := range []struct {
		target *string
		raw    json.RawMessage
		at     string
	}{
		{&c.ID, fields["id"], at + ".id"},
		{&c.Name, function["name"], at + ".function.name"},
		{&c.Arguments, function["arguments"], at + ".function.arguments"},
	} {
		if *part.target, f = text(part.raw, part.at); f != nil {
			return nil, f
		}
	}
	switch {
	case !callID().MatchString(c.ID):
		return nil, invalid(at+".id", "%q does not match %s", c.ID, callID())
	case v.ids[c.ID]:
		return nil, invalid(at+".id", "the call id %q is used twice", c.ID)
	case !toolName().MatchString(c.Name):
		return nil, invalid(at+".function.name", "%q does not match %s", c.Name, toolName())
	case kind(json.RawMessage(c.Arguments)) != "object" || !json.Valid([]byte(c.Arguments)):
		return nil, invalid(at+".function.arguments", "the string does not hold a JSON object: %.60q", c.Arguments)
	}
	v.ids[c.ID], v.open[c.ID] = true, true
	return c, nil
}
