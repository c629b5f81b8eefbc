package scripted

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

// conversation checks messages one by one as they stand in order.
type conversation struct {
	systemInHistory bool
	hasTools        bool
	messages        []*llm.Message
	ids             map[string]bool // every call id so far
	open            map[string]bool // calls without a result
}

func (s *Server) readMessages(fields map[string]json.RawMessage, c *call) *fault {
	items, f := list(fields["messages"], "messages")
	if f != nil {
		return f
	}
	if len(items) == 0 {
		return invalid("messages", "the conversation is empty")
	}
	conv := conversation{
		systemInHistory: s.opts.SystemInHistory,
		hasTools:        fields["tools"] != nil,
		ids:             map[string]bool{}, open: map[string]bool{},
	}
	for i, item := range items {
		if f := conv.add(item, fmt.Sprintf("messages[%d]", i)); f != nil {
			return f
		}
	}
	c.Messages = conv.messages
	return conv.end(fmt.Sprintf("messages[%d]", len(items)-1))
}

// add reads the next message.
func (v *conversation) add(raw json.RawMessage, at string) *fault {
	fields, f := object(raw, at, append([]string{"role", "content", "tool_calls", "tool_call_id"}, reasoningFields...)...)
	if f != nil {
		return f
	}
	name, f := text(fields["role"], at+".role")
	if f != nil {
		return f
	}
	m := &llm.Message{Role: llm.Role(name)}
	if f := v.checkRole(m.Role, at); f != nil {
		return f
	}
	for key := range fields {
		if !allowedKey(m.Role, key) {
			return refuse(at+"."+key, "unknown_parameter", "%s.%s: not allowed in a %s message", at, key, m.Role)
		}
	}
	read := v.readText
	switch m.Role {
	case llm.RoleAssistant:
		read = v.readAssistant
	case llm.RoleTool:
		read = v.readResult
	}
	if f := read(m, fields, at); f != nil {
		return f
	}
	v.messages = append(v.messages, m)
	return nil
}

func allowedKey(role llm.Role, key string) bool {
	switch key {
	case "role", "content":
		return true
	case "tool_call_id":
		return role == llm.RoleTool
	}
	return role == llm.RoleAssistant
}

// checkRole tells whether a message of that role may stand here.
func (v *conversation) checkRole(role llm.Role, at string) *fault {
	previous := llm.Role("")
	if n := len(v.messages); n > 0 {
		previous = v.messages[n-1].Role
	}
	if len(v.open) > 0 && role != llm.RoleTool {
		return invalid(at, "a %s message stands before the results of the tool calls %s", role, v.openIDs())
	}
	switch role {
	case llm.RoleSystem:
		if previous != "" && !v.systemInHistory {
			return invalid(at, "a system message may only stand first")
		}
	case llm.RoleUser:
	case llm.RoleAssistant:
		if previous == "" || previous == llm.RoleSystem && len(v.messages) == 1 {
			return invalid(at, "an assistant message may not open the conversation; a user message is due")
		}
		if previous == llm.RoleAssistant {
			return invalid(at, "two assistant messages follow each other")
		}
	case llm.RoleTool:
		if len(v.open) == 0 {
			return invalid(at, "a tool message without an assistant's tool call before it")
		}
	default:
		return invalid(at+".role", "%q is not one of system, user, assistant, tool", role)
	}
	return nil
}

// readText reads the content of a system or user message.
func (v *conversation) readText(m *llm.Message, fields map[string]json.RawMessage, at string) *fault {
	content, f := content(fields, at)
	if f != nil {
		return f
	}
	m.Blocks = []llm.Block{{Kind: llm.BlockText, Text: content}}
	return nil
}

// readResult reads a tool message.
func (v *conversation) readResult(m *llm.Message, fields map[string]json.RawMessage, at string) *fault {
	id, f := text(fields["tool_call_id"], at+".tool_call_id")
	if f != nil {
		return f
	}
	if !v.open[id] {
		return invalid(at+".tool_call_id", "no open call has the id %q; open are %s", id, v.openIDs())
	}
	delete(v.open, id)
	m.CallID = id
	if f := v.readText(m, fields, at); f != nil {
		return f
	}
	m.IsError = strings.HasPrefix(m.Text(), "Error:")
	return nil
}

// end checks that the conversation waits for the model.
func (v *conversation) end(at string) *fault {
	if len(v.open) > 0 {
		return invalid(at, "the conversation ends before the results of the tool calls %s", v.openIDs())
	}
	if last := v.messages[len(v.messages)-1].Role; last != llm.RoleUser && last != llm.RoleTool {
		return invalid(at, "the last message is a %s message; a user message or a tool result is due", last)
	}
	return nil
}

func (v *conversation) openIDs() string {
	return strings.Join(slices.Sorted(maps.Keys(v.open)), ", ")
}

// content reads a message's content: a string with more in it than white space.
func content(fields map[string]json.RawMessage, at string) (string, *fault) {
	content, f := text(fields["content"], at+".content")
	if f != nil {
		return "", f
	}
	if strings.TrimSpace(content) == "" {
		return "", invalid(at+".content", "the content is empty")
	}
	return content, nil
}
