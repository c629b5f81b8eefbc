package agent

import (
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/tool"
)

// partialMessage is what a broken answer had said; nil where that is nothing.
func partialMessage(text, reasoning string) *llm.Message {
	m := &llm.Message{Role: llm.RoleAssistant}
	if strings.TrimSpace(reasoning) != "" {
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockReasoning, Text: tool.Clean(reasoning)})
	}
	if strings.TrimSpace(text) != "" {
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockText, Text: tool.Clean(text)})
	}
	if len(m.Blocks) == 0 {
		return nil
	}
	return m
}

// cleanMessage makes a fresh answer storable. It must not be shared yet.
func cleanMessage(m *llm.Message) {
	for i := range m.Blocks {
		m.Blocks[i].Text = tool.Clean(m.Blocks[i].Text)
		if c := m.Blocks[i].Call; c != nil {
			c.ID, c.Name, c.Arguments = tool.Clean(c.ID), tool.Clean(c.Name), tool.Clean(c.Arguments)
		}
	}
}

// uniqueCallIDs renames calls whose id already stands on the surface: some
// servers number the calls of each answer anew. The message must not be shared
// yet.
func (a *Agent) uniqueCallIDs(m *llm.Message) {
	for i := range m.Blocks {
		c := m.Blocks[i].Call
		if c == nil {
			continue
		}
		id := c.ID
		for n := 2; c.ID == "" || a.callIDs[c.ID]; n++ {
			c.ID = fmt.Sprintf("%s-%d", orCall(id), n)
		}
		a.callIDs[c.ID] = true
	}
}

func orCall(id string) string {
	if id == "" {
		return "call"
	}
	return id
}
