package scripted

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// answer is a reply made ready for the wire: cut at the output cap, with ids, a
// finish reason and usage.
type answer struct {
	id     string
	model  string
	reply  Reply
	finish string // "" = none is sent
	usage  *usage // nil = none is sent
}

// usage is the wire's usage object.
type usage struct {
	PromptTokens     int           `json:"prompt_tokens"`
	CompletionTokens int           `json:"completion_tokens"`
	TotalTokens      int           `json:"total_tokens"`
	PromptDetails    promptDetails `json:"prompt_tokens_details"`
	OutputDetails    outputDetails `json:"completion_tokens_details"`
}

type promptDetails struct {
	CachedTokens int `json:"cached_tokens"`
}

type outputDetails struct {
	ReasoningTokens int `json:"reasoning_tokens"`
}

// compose makes the answer to a call out of the agent's reply.
func compose(c *call, reply Reply, cached int) answer {
	sum := sha256.Sum256(c.prompt)
	digest := hex.EncodeToString(sum[:10])
	a := answer{id: "chatcmpl-" + digest, model: c.Model}
	counted, cut := truncate(&reply, c.MaxOutputTokens)
	counted.PromptTokens, counted.CachedTokens = tokens(len(c.prompt)), cached
	for i := range reply.Calls {
		if reply.Calls[i].ID == "" {
			reply.Calls[i].ID = fmt.Sprintf("call_%s_%d", digest, i)
		}
	}
	a.reply = reply
	a.finish = finish(reply, cut)
	if reply.Usage != nil {
		counted = *reply.Usage
	}
	if !reply.NoUsage {
		a.usage = &usage{
			counted.PromptTokens, counted.CompletionTokens, counted.PromptTokens + counted.CompletionTokens,
			promptDetails{counted.CachedTokens}, outputDetails{counted.ReasoningTokens},
		}
	}
	return a
}

func finish(reply Reply, cut bool) string {
	switch {
	case reply.Finish == "none":
		return ""
	case reply.Finish != "":
		return reply.Finish
	case cut:
		return "length"
	case len(reply.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// truncate cuts the reply where a model would have been stopped, and counts it.
// The calls are copied: a reply may be played again.
func truncate(reply *Reply, limit int) (counted Usage, cut bool) {
	left := limit * bytesPerToken
	take := func(text string) string {
		if len(text) > left {
			cut = true
			text = prefix(text, left)
		}
		left -= len(text)
		return text
	}
	reply.Reasoning = take(reply.Reasoning)
	counted.ReasoningTokens = tokens(len(reply.Reasoning))
	reply.Text = take(reply.Text)
	var calls []Call
	for _, call := range reply.Calls {
		if cut || left < len(call.Name) {
			cut = true
			break
		}
		left -= len(call.Name)
		call.Arguments = Arguments(take(string(call.Arguments)))
		calls = append(calls, call)
	}
	reply.Calls = calls
	counted.CompletionTokens = tokens(limit*bytesPerToken - left)
	return counted, cut
}

// prefix returns the longest beginning of text that has at most n bytes and does
// not end within a character.
func prefix(text string, n int) string {
	if n >= len(text) {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// write sends the answer in one piece.
func (a answer) write(w http.ResponseWriter) {
	if a.reply.DropAfter > 0 {
		panic(http.ErrAbortHandler)
	}
	message := map[string]any{"role": "assistant", "content": nil}
	if a.reply.Text != "" || len(a.reply.Calls) == 0 {
		message["content"] = a.reply.Text
	}
	if a.reply.Reasoning != "" {
		message[a.reasoningField()] = a.reply.Reasoning
	}
	if len(a.reply.Calls) > 0 {
		calls := make([]toolDelta, len(a.reply.Calls))
		for i, c := range a.reply.Calls {
			calls[i] = toolDelta{ID: c.ID, Type: "function", Function: functionDelta{Name: c.Name, Arguments: string(c.Arguments)}}
		}
		message["tool_calls"] = calls
	}
	body := map[string]any{
		"id": a.id, "object": "chat.completion", "created": created, "model": a.model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": a.finishReason()}},
	}
	if a.usage != nil {
		body["usage"] = a.usage
	}
	writeJSON(w, body)
}

// finishReason is the finish reason, or JSON null.
func (a answer) finishReason() any {
	if a.finish == "" {
		return nil
	}
	return a.finish
}

func (a answer) reasoningField() string {
	if a.reply.ReasoningField != "" {
		return a.reply.ReasoningField
	}
	return reasoningFields[0]
}
