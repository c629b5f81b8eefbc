package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

// emptySchema is sent for a tool without a schema.
var emptySchema = json.RawMessage(`{"type":"object","properties":{}}`)

// appendMessage appends the wire form of a message. It appends nothing for an
// assistant message that has nothing to say (M26).
func (q *Quirk) appendMessage(dst []byte, m *llm.Message) []byte {
	switch m.Role {
	case llm.RoleAssistant:
		return q.appendAssistant(dst, m)
	case llm.RoleTool:
		dst = append(dst, `{"role":"tool","tool_call_id":`...)
		dst = appendString(dst, m.CallID)
	default:
		dst = append(dst, `{"role":`...)
		dst = appendString(dst, string(m.Role))
	}
	dst = append(dst, `,"content":`...)
	dst = appendString(dst, m.Text())
	return append(dst, '}')
}

// appendAssistant writes content as a plain string, null only beside calls.
func (q *Quirk) appendAssistant(dst []byte, m *llm.Message) []byte {
	text, calls := m.Text(), m.Calls()
	if text == "" && len(calls) == 0 {
		return dst // also where there are thoughts: vendors refuse empty content
	}
	thoughts := q.thoughts(m)
	dst = append(dst, `{"role":"assistant","content":`...)
	if text == "" && len(calls) > 0 {
		dst = append(dst, "null"...)
	} else {
		dst = appendString(dst, text)
	}
	for _, t := range thoughts {
		dst = appendString(append(dst, ','), t.Field)
		dst = appendString(append(dst, ':'), t.Text)
	}
	if q.Required != "" && !hasField(thoughts, q.Required) {
		dst = append(appendString(append(dst, ','), q.Required), `:""`...)
	}
	if len(calls) > 0 {
		dst = append(dst, `,"tool_calls":[`...)
		for i, c := range calls {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCall(dst, c)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// thoughts are the reasoning blocks to send back, joined by field (M6).
func (q *Quirk) thoughts(m *llm.Message) []llm.Block {
	if !q.Passback {
		return nil
	}
	var out []llm.Block
next:
	for _, b := range m.Blocks {
		if b.Kind != llm.BlockReasoning || b.Text == "" {
			continue
		}
		if b.Field == "" {
			b.Field = q.Reasoning[0]
		}
		for i := range out {
			if out[i].Field == b.Field {
				out[i].Text += b.Text
				continue next
			}
		}
		out = append(out, b)
	}
	return out
}

func hasField(blocks []llm.Block, field string) bool {
	for _, b := range blocks {
		if b.Field == field {
			return true
		}
	}
	return false
}

// appendCall writes arguments as a string, always: some servers refuse an
// object. Arguments that are no object go as {} (M9).
func appendCall(dst []byte, c llm.ToolCall) []byte {
	arguments, ok := c.ArgumentsObject()
	if !ok {
		arguments = json.RawMessage("{}")
	}
	dst = appendString(append(dst, `{"id":`...), c.ID)
	dst = appendString(append(dst, `,"type":"function","function":{"name":`...), wireName(c.Name))
	dst = appendString(append(dst, `,"arguments":`...), string(arguments))
	return append(dst, "}}"...)
}

// wireName makes a tool name that a model invented fit for a replay: vendors
// refuse the whole request for one odd character in it.
func wireName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), 64)]
}

// appendTools writes the tool declarations (M22).
func appendTools(dst []byte, tools []llm.Tool) ([]byte, error) {
	dst = append(dst, '[')
	for i, t := range tools {
		if i > 0 {
			dst = append(dst, ',')
		}
		schema := t.Schema
		if len(schema) == 0 {
			schema = emptySchema
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, schema); err != nil {
			return nil, fmt.Errorf("the schema of tool %q is no JSON: %w", t.Name, err)
		}
		dst = appendString(append(dst, `{"type":"function","function":{"name":`...), t.Name)
		dst = appendString(append(dst, `,"description":`...), t.Description)
		dst = append(append(dst, `,"parameters":`...), compact.Bytes()...)
		dst = append(dst, "}}"...)
	}
	return append(dst, ']'), nil
}

// appendString appends s as a JSON string; what is not UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	b, _ := marshal(s) // a string always encodes
	return append(dst, b...)
}

// marshal is json.Marshal without the escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
