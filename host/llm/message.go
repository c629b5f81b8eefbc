package llm

import "encoding/json"

// Role says who speaks in a Message.
type Role string

const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// BlockKind tells the parts of a Message apart.
type BlockKind string

const (
	BlockText      BlockKind = "text"
	BlockReasoning BlockKind = "reasoning"
	BlockToolCall  BlockKind = "tool_call"
)

// Message is one entry of a conversation. A Message that has been handed to a
// surface or a Request is immutable: encoders cache by its address.
type Message struct {
	Role   Role    `json:"role"`
	Blocks []Block `json:"blocks,omitempty"`
	// CallID names the call that a RoleTool message answers.
	CallID string `json:"call_id,omitempty"`
	// IsError marks a RoleTool message as a failure that the model may correct.
	IsError bool `json:"is_error,omitempty"`
	// Interrupted marks an assistant message that a cancel cut short (L7).
	Interrupted bool `json:"interrupted,omitempty"`
}

// Block is one part of a Message. Call is set for BlockToolCall, Text otherwise.
type Block struct {
	Kind BlockKind `json:"kind"`
	Text string    `json:"text,omitempty"`
	// Field is the wire field in which a reasoning block arrived; it goes back
	// under the same name (M6).
	Field string    `json:"field,omitempty"`
	Call  *ToolCall `json:"call,omitempty"`
}

// ToolCall is a model's wish to run a tool. Arguments is the text exactly as the
// model wrote it, which need not be JSON.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// ArgumentsObject returns the arguments as a JSON object and whether they are
// one. Doubly encoded objects are unwrapped once; empty text is an empty object.
// Escapes of half a character, which are JSON but no text, read U+FFFD.
func (c ToolCall) ArgumentsObject() (json.RawMessage, bool) {
	text := c.Arguments
	for range 2 {
		if isBlank(text) {
			return json.RawMessage("{}"), true
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &object) == nil && object != nil {
			return json.RawMessage(mend(text)), true
		}
		var inner string
		if json.Unmarshal([]byte(text), &inner) != nil {
			return nil, false
		}
		text = inner
	}
	return nil, false
}

// Text returns the message's text blocks joined; reasoning and calls are left out.
func (m *Message) Text() string { return m.join(BlockText) }

// Reasoning returns the message's reasoning blocks joined.
func (m *Message) Reasoning() string { return m.join(BlockReasoning) }

// Calls returns the message's tool calls in order.
func (m *Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, b := range m.Blocks {
		if b.Kind == BlockToolCall && b.Call != nil {
			calls = append(calls, *b.Call)
		}
	}
	return calls
}

func (m *Message) join(kind BlockKind) string {
	text := ""
	for _, b := range m.Blocks {
		if b.Kind == kind {
			text += b.Text
		}
	}
	return text
}

// Text makes a message of one text block.
func Text(role Role, text string) *Message {
	return &Message{Role: role, Blocks: []Block{{Kind: BlockText, Text: text}}}
}

// ToolResult makes the message that answers a call.
func ToolResult(callID, text string, isError bool) *Message {
	m := Text(RoleTool, text)
	m.CallID, m.IsError = callID, isError
	return m
}

func isBlank(s string) bool {
	for _, r := range s {
		if r != ' ' && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}
