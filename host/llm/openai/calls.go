package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

// openCall is a tool call under assembly.
type openCall struct {
	id, name  string
	index     int
	indexed   bool
	arguments strings.Builder
	checked   int  // the length at which whole was found
	whole     bool // the arguments are a complete JSON value
}

// complete tells whether the arguments so far are JSON. It looks only where the
// text ends like an object and once per length.
func (c *openCall) complete() bool {
	text := c.arguments.String()
	if c.checked != len(text) {
		c.checked = len(text)
		c.whole = strings.HasSuffix(strings.TrimSpace(text), "}") && json.Valid([]byte(text))
	}
	return c.whole
}

// callSet are the calls of one answer, in the order in which they opened.
type callSet []*openCall

// add puts a fragment where it belongs and returns its arguments.
func (s *callSet) add(d callDelta) string {
	id, name := clean(d.ID), strings.TrimSpace(clean(d.Function.Name))
	fragment := d.arguments()
	c := s.route(d.Index, id, name, fragment)
	if c == nil {
		c = &openCall{}
		*s = append(*s, c)
	}
	if d.Index != nil && !c.indexed {
		c.index, c.indexed = *d.Index, true
	}
	// Ids and names are set once, never appended to.
	if c.id == "" {
		c.id = id
	}
	if c.name == "" {
		c.name = name
	}
	c.arguments.WriteString(fragment)
	return fragment
}

// route finds the open call that a fragment continues: the one with its id, else
// the one at its index, else the one opened last. nil means a new call.
func (s callSet) route(index *int, id, name, fragment string) *openCall {
	if id != "" {
		if c := s.last(func(c *openCall) bool { return c.id == id }); c != nil {
			// One id for two calls: told apart by the index, or by whole arguments twice.
			if index != nil && c.indexed && c.index != *index {
				if at := s.last(func(c *openCall) bool { return c.indexed && c.index == *index }); at != nil && at.id == id {
					return at.unless(name, fragment)
				}
				return nil
			}
			return c.unless(name, fragment)
		}
	}
	if index != nil {
		c := s.last(func(c *openCall) bool { return c.indexed && c.index == *index })
		if c == nil || id != "" && c.id != "" && name != "" {
			return nil
		}
		return c.unless(name, fragment)
	}
	c := s.last(func(*openCall) bool { return true })
	if c == nil || id != "" && name != "" && c.id != "" || name != "" && c.name != "" && c.name != name {
		return nil
	}
	return c.unless(name, fragment)
}

// unless returns the call, or nil where a named fragment begins another: the
// call is named and its arguments are whole already.
func (c *openCall) unless(name, fragment string) *openCall {
	if name != "" && c.name != "" && fragment != "" && c.complete() {
		return nil
	}
	return c
}

func (s callSet) last(match func(*openCall) bool) *openCall {
	for i := len(s) - 1; i >= 0; i-- {
		if match(s[i]) {
			return s[i]
		}
	}
	return nil
}

// open tells whether a call lacks a part of its arguments.
func (s callSet) open() bool {
	return s.last(func(c *openCall) bool { return !c.complete() }) != nil
}

// finish returns the calls with ids that are given, differ and are not taken by the
// conversation (M11). It fails where a call has no name: nothing could run or
// answer it.
func (s callSet) finish(taken func(string) bool) ([]llm.Block, error) {
	var blocks []llm.Block
	own := map[string]bool{}
	for i, c := range s {
		if c.name == "" {
			return nil, fmt.Errorf("tool call %d has no name", i)
		}
		id := c.id
		if id == "" {
			id = fmt.Sprintf("call-%d", i)
		}
		for n, plain := 2, id; own[id] || taken(id); n++ {
			id = fmt.Sprintf("%s-%d", plain, n)
		}
		own[id] = true
		blocks = append(blocks, llm.Block{
			Kind: llm.BlockToolCall,
			Call: &llm.ToolCall{ID: id, Name: c.name, Arguments: c.arguments.String()},
		})
	}
	return blocks, nil
}

// usesCall tells whether a conversation uses a call id.
func usesCall(messages []*llm.Message, id string) bool {
	for _, m := range messages {
		for i := range m.Blocks {
			if c := m.Blocks[i].Call; c != nil && c.ID == id {
				return true
			}
		}
	}
	return false
}
