package llm

import "fmt"

// Validate checks that messages form a conversation which every vendor accepts:
// it is not empty; a system message stands first, or later right after a user
// message or a tool result; the first message beside it is a user's, and no
// assistant message follows another; each call is answered once and at once, no
// answer lacks its call, no id stands twice (M7, M8). A Model does so before every
// send; the error is an *Error with CodeInvalidRequest.
func Validate(messages []*Message) error { return new(Validator).Check(messages) }

// Validator validates a conversation that grows, at a cost that goes by what is
// new. It knows what it needs of a valid conversation, at first of the empty one,
// and holds no message. It is not safe for concurrent use.
type Validator struct {
	known  int             // messages
	ids    map[string]bool // of their calls
	before Role            // of the last one, "" at the start
	spoken bool            // a user is among them
}

// Known is the number of messages that were found valid.
func (v *Validator) Known() int { return v.known }

// Check is the verdict of Validate on the known messages followed by more.
func (v *Validator) Check(more []*Message) error {
	_, err := v.follow(more)
	return err
}

// Extend is Check; messages that are valid are known from then on.
func (v *Validator) Extend(more []*Message) error {
	next, err := v.follow(more)
	if err != nil {
		return err
	}
	if v.ids == nil {
		v.ids = map[string]bool{}
	}
	for id := range next.ids {
		v.ids[id] = true
	}
	v.known, v.before, v.spoken = next.known, next.before, next.spoken
	return nil
}

// follow looks at more messages. What it returns has the ids of their calls only.
func (v *Validator) follow(more []*Message) (Validator, error) {
	next := Validator{known: v.known, ids: map[string]bool{}, before: v.before, spoken: v.spoken}
	open := map[string]bool{} // a valid conversation leaves no call open
	for _, m := range more {
		if err := v.admit(&next, open, m); err != nil {
			return next, err
		}
		next.known, next.before, next.spoken = next.known+1, m.Role, next.spoken || m.Role == RoleUser
	}
	switch {
	case next.known == 0:
		return next, invalid(0, "the conversation is empty")
	case len(open) > 0:
		return next, invalid(next.known-1, "%d tool calls have no result", len(open))
	case next.before != RoleUser && next.before != RoleTool:
		return next, invalid(next.known-1, "the last message is a %s message; a user message or a tool result is due", next.before)
	}
	return next, nil
}

// admit looks at one message behind those of v and next.
func (v *Validator) admit(next *Validator, open map[string]bool, m *Message) error {
	i := next.known
	if len(open) > 0 && m.Role != RoleTool {
		return invalid(i, "a %s message stands before the results of %d tool calls", m.Role, len(open))
	}
	switch m.Role {
	case RoleSystem, RoleUser:
		if len(m.Calls()) > 0 {
			return invalid(i, "a %s message carries tool calls", m.Role)
		}
		if m.Role == RoleSystem && i > 0 && next.before != RoleUser && next.before != RoleTool {
			return invalid(i, "a system message follows a message of role %s", next.before)
		}
	case RoleAssistant:
		if next.before == RoleAssistant {
			return invalid(i, "an assistant message follows a message of role %s", next.before)
		}
		if !next.spoken {
			return invalid(i, "an assistant message stands before a user's")
		}
		for _, c := range m.Calls() {
			if c.ID == "" || c.Name == "" {
				return invalid(i, "a tool call has no id or no name")
			}
			if v.ids[c.ID] || next.ids[c.ID] {
				return invalid(i, "tool call id %q is used twice", c.ID)
			}
			next.ids[c.ID], open[c.ID] = true, true
		}
	case RoleTool:
		if !open[m.CallID] {
			return invalid(i, "the result for %q has no open call before it", m.CallID)
		}
		delete(open, m.CallID)
	default:
		return invalid(i, "unknown role %q", m.Role)
	}
	return nil
}

func invalid(index int, format string, args ...any) error {
	return &Error{Code: CodeInvalidRequest, Message: fmt.Sprintf("message %d: ", index) + fmt.Sprintf(format, args...)}
}
