package llm

import (
	"fmt"
	"slices"
)

// Validate checks that messages form a conversation which every vendor accepts:
// it is not empty; a system message stands first, or later right after a user
// message or a tool result; the first message beside it is a user's, and no
// assistant message follows another; each call is answered once and at once, no
// answer lacks its call, no id stands twice (M7, M8). It runs before every send;
// the error is an *Error with CodeInvalidRequest.
func Validate(messages []*Message) error {
	if len(messages) == 0 {
		return invalid(0, "the conversation is empty")
	}
	seen := map[string]bool{}
	open := map[string]bool{}
	before := RoleSystem // the role of the message before, RoleSystem at the start
	for i, m := range messages {
		if len(open) > 0 && m.Role != RoleTool {
			return invalid(i, "a %s message stands before the results of %d tool calls", m.Role, len(open))
		}
		switch m.Role {
		case RoleSystem, RoleUser:
			if len(m.Calls()) > 0 {
				return invalid(i, "a %s message carries tool calls", m.Role)
			}
			if m.Role == RoleSystem && i > 0 && before != RoleUser && before != RoleTool {
				return invalid(i, "a system message follows a message of role %s", before)
			}
		case RoleAssistant:
			if before == RoleAssistant || before == RoleSystem && !answered(messages[:i]) {
				return invalid(i, "an assistant message follows a message of role %s", before)
			}
			for _, c := range m.Calls() {
				if c.ID == "" || c.Name == "" {
					return invalid(i, "a tool call has no id or no name")
				}
				if seen[c.ID] {
					return invalid(i, "tool call id %q is used twice", c.ID)
				}
				seen[c.ID], open[c.ID] = true, true
			}
		case RoleTool:
			if !open[m.CallID] {
				return invalid(i, "the result for %q has no open call before it", m.CallID)
			}
			delete(open, m.CallID)
		default:
			return invalid(i, "unknown role %q", m.Role)
		}
		before = m.Role
	}
	if len(open) > 0 {
		return invalid(len(messages)-1, "%d tool calls have no result", len(open))
	}
	if last := messages[len(messages)-1]; last.Role != RoleUser && last.Role != RoleTool {
		return invalid(len(messages)-1, "the last message is a %s message; a user message or a tool result is due", last.Role)
	}
	return nil
}

// answered tells whether a user spoke among the messages.
func answered(messages []*Message) bool {
	return slices.ContainsFunc(messages, func(m *Message) bool { return m.Role == RoleUser })
}

func invalid(index int, format string, args ...any) error {
	return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("message %d: ", index) + fmt.Sprintf(format, args...)}
}
