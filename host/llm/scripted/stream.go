package scripted

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// deltaBytes is how much text one event carries at most.
const deltaBytes = 48

type chunk struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int      `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   any      `json:"usage,omitempty"` // JSON null where usage was asked for and comes later
}

type choice struct {
	Index        int            `json:"index"`
	Delta        map[string]any `json:"delta"`
	FinishReason any            `json:"finish_reason"`
}

type toolDelta struct {
	Index    *int          `json:"index,omitempty"`
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function functionDelta `json:"function"`
}

type functionDelta struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// stream sends the answer as events: the role, reasoning, text, the calls with
// their arguments in pieces, the finish reason, usage, [DONE].
func (a answer) stream(ctx context.Context, w http.ResponseWriter, withUsage bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	reply := a.reply
	wait := time.Duration(reply.ChunkDelayMS) * time.Millisecond
	flush := http.NewResponseController(w).Flush
	for i, c := range a.chunks(withUsage) {
		if reply.DropAfter > 0 && i == reply.DropAfter || !pause(ctx, wait) {
			_ = flush()
			panic(http.ErrAbortHandler)
		}
		body, _ := json.Marshal(c)
		if _, err := w.Write(append(append([]byte("data: "), body...), "\n\n"...)); err != nil {
			return
		}
		if i == 0 || wait > 0 {
			_ = flush()
		}
	}
	if reply.DropAfter > 0 {
		_ = flush()
		panic(http.ErrAbortHandler)
	}
	if !reply.NoDone {
		_, _ = w.Write([]byte("data: [DONE]\n\n"))
	}
}

// chunks are the events of the answer in order.
func (a answer) chunks(withUsage bool) []chunk {
	base := chunk{ID: a.id, Object: "chat.completion.chunk", Created: created, Model: a.model, Choices: []choice{}}
	withUsage = withUsage && a.usage != nil
	if withUsage {
		base.Usage = json.RawMessage("null")
	}
	var out []chunk
	add := func(delta map[string]any, finish any) {
		c := base
		c.Choices = []choice{{Delta: delta, FinishReason: finish}}
		out = append(out, c)
	}
	add(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, part := range split(a.reply.Reasoning) {
		add(map[string]any{a.reasoningField(): part}, nil)
	}
	for _, part := range split(a.reply.Text) {
		add(map[string]any{"content": part}, nil)
	}
	for i, call := range a.reply.Calls {
		open := toolDelta{Index: &i, ID: call.ID, Type: "function", Function: functionDelta{Name: call.Name}}
		add(map[string]any{"tool_calls": []toolDelta{open}}, nil)
		for _, part := range split(string(call.Arguments)) {
			more := toolDelta{Index: &i, Function: functionDelta{Arguments: part}}
			add(map[string]any{"tool_calls": []toolDelta{more}}, nil)
		}
	}
	if a.finish != "" {
		add(map[string]any{}, a.finish)
	}
	if withUsage {
		c := base
		c.Usage = a.usage
		out = append(out, c)
	}
	return out
}

// split cuts a text into pieces for events.
func split(text string) []string {
	var parts []string
	for text != "" {
		part := prefix(text, deltaBytes)
		if part == "" { // not UTF-8
			part = text[:deltaBytes]
		}
		parts = append(parts, part)
		text = text[len(part):]
	}
	return parts
}
