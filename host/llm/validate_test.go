package llm_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/host/llm"
)

func calling(ids ...string) *llm.Message {
	m := &llm.Message{Role: llm.RoleAssistant}
	for _, id := range ids {
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: id, Name: "read", Arguments: "{}"}})
	}
	return m
}

func result(id string) *llm.Message { return llm.ToolResult(id, "text", false) }

var (
	system = llm.Text(llm.RoleSystem, "be brief")
	user   = llm.Text(llm.RoleUser, "hi")
	said   = llm.Text(llm.RoleAssistant, "hello")
)

func TestM7_M8_ValidConversations(t *testing.T) {
	t.Parallel()
	for name, messages := range map[string][]*llm.Message{
		"first turn":          {system, user},
		"no system message":   {user},
		"second turn":         {system, user, said, user},
		"tool loop":           {system, user, calling("a"), result("a")},
		"parallel calls":      {system, user, calling("a", "b"), result("a"), result("b")},
		"results out of turn": {system, user, calling("a", "b"), result("b"), result("a")},
		"steered":             {system, user, calling("a"), result("a"), user},
		"two users in a row":  {system, user, user},
		"system in history":   {system, user, said, user, system, user},
		"interrupted":         {system, user, {Role: llm.RoleAssistant, Interrupted: true}, user},
		"several steps":       {system, user, calling("a"), result("a"), calling("b"), result("b"), said, user},
	} {
		if err := llm.Validate(messages); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestM7_M8_InvalidConversations(t *testing.T) {
	t.Parallel()
	unnamed := calling("a")
	unnamed.Blocks[0].Call.Name = ""
	for name, tt := range map[string]struct {
		messages []*llm.Message
		want     string // in the message
	}{
		"empty":                        {nil, "empty"},
		"unanswered at the end":        {[]*llm.Message{system, user, calling("a")}, "no result"},
		"unanswered before a user":     {[]*llm.Message{system, user, calling("a"), user}, "message 3"},
		"one of two unanswered":        {[]*llm.Message{system, user, calling("a", "b"), result("a"), user}, "before the results of 1"},
		"one of two, at the end":       {[]*llm.Message{system, user, calling("a", "b"), result("a")}, "no result"},
		"result without a call":        {[]*llm.Message{system, user, result("a")}, `"a"`},
		"result before its call":       {[]*llm.Message{system, user, result("a"), calling("a"), result("a")}, "message 2"},
		"answered twice":               {[]*llm.Message{system, user, calling("a"), result("a"), result("a")}, "message 4"},
		"id twice in one message":      {[]*llm.Message{system, user, calling("a", "a"), result("a")}, "used twice"},
		"id twice in the conversation": {[]*llm.Message{system, user, calling("a"), result("a"), calling("a"), result("a")}, "used twice"},
		"call without an id":           {[]*llm.Message{system, user, calling(""), result("")}, "no id"},
		"call without a name":          {[]*llm.Message{system, user, unnamed, result("a")}, "no name"},
		"a user that calls":            {[]*llm.Message{system, {Role: llm.RoleUser, Blocks: calling("a").Blocks}, result("a")}, "user message carries"},
		"a system that calls":          {[]*llm.Message{{Role: llm.RoleSystem, Blocks: calling("a").Blocks}, result("a")}, "system message carries"},
		"unknown role":                 {[]*llm.Message{system, {Role: "developer"}}, "developer"},
		"nothing to answer":            {[]*llm.Message{system, user, said}, "last message"},
		"system only":                  {[]*llm.Message{system}, "last message"},
	} {
		err := llm.Validate(tt.messages)
		var e *llm.Error
		if !errors.As(err, &e) || e.Code != llm.CodeInvalidRequest || !strings.Contains(e.Message, tt.want) {
			t.Errorf("%s: got %v, want an %s with %q", name, err, llm.CodeInvalidRequest, tt.want)
		}
		if e != nil && e.Retryable() {
			t.Errorf("%s: an invalid conversation is retryable", name)
		}
	}
}
