package openai

import (
	"strings"

	"github.com/tureen-host/tureen/host/llm"
)

// finishes maps what endpoints call the end of an answer (M12). A reason that is
// not listed counts as a normal stop: only the calls decide what comes next.
var finishes = map[string]llm.StopReason{
	"length": llm.StopMaxTokens, "max_tokens": llm.StopMaxTokens,
	"max_output_tokens": llm.StopMaxTokens, "model_length": llm.StopMaxTokens,
}

// broken are finish reasons that are failures.
var broken = map[string]llm.Error{
	"content_filter": {
		Code: llm.CodeInvalidRequest, Message: "the endpoint's content filter stopped the answer",
		Hint: "word the task differently, or choose another model",
	},
	"error":                        {Code: llm.CodeServer, Message: "the endpoint ended the answer with an error"},
	"abort":                        {Code: llm.CodeServer, Message: "the endpoint gave the answer up"},
	"insufficient_system_resource": {Code: llm.CodeServer, Message: "the endpoint ran out of resources during the answer"},
}

// assembly is an answer under construction.
type assembly struct {
	quirk    *Quirk
	model    string
	text     strings.Builder
	thoughts []*thought
	calls    callSet
	usage    usage
	finish   string // what the endpoint calls it, in lower case; "" = not yet
	done     bool   // the closing [DONE] came
}

type thought struct {
	field string
	text  strings.Builder
}

// add takes in a chunk and passes its deltas on; it stops where yield says so.
func (a *assembly) add(c *chunk, yield func(llm.Chunk) bool) bool {
	if a.model == "" {
		a.model = clean(c.Model)
	}
	a.usage.merge(c.Usage)
	for i := range c.Choices {
		ch := &c.Choices[i]
		if ch.Index != nil && *ch.Index != 0 {
			continue
		}
		a.usage.merge(ch.Usage)
		if finish := strings.ToLower(ch.FinishReason); a.finish == "" || finishes[finish] == llm.StopMaxTokens {
			a.finish = finish
		}
		if !a.addDelta(ch.Delta, yield) || !a.addDelta(ch.Message, yield) {
			return false
		}
	}
	return true
}

func (a *assembly) addDelta(d delta, yield func(llm.Chunk) bool) bool {
	for _, field := range a.quirk.Reasoning {
		text := d.text(field)
		if text == "" {
			continue
		}
		a.thought(field).WriteString(text)
		if !yield(llm.Chunk{Kind: llm.BlockReasoning, Delta: text}) {
			return false
		}
		break
	}
	text := d.text("content")
	if text == "" {
		text = d.text("refusal")
	}
	if text != "" {
		a.text.WriteString(text)
		if !yield(llm.Chunk{Kind: llm.BlockText, Delta: text}) {
			return false
		}
	}
	for _, cd := range d.calls() {
		if fragment := a.calls.add(cd); fragment != "" && !yield(llm.Chunk{Kind: llm.BlockToolCall, Delta: fragment}) {
			return false
		}
	}
	return true
}

func (a *assembly) thought(field string) *strings.Builder {
	for _, t := range a.thoughts {
		if t.field == field {
			return &t.text
		}
	}
	t := &thought{field: field}
	a.thoughts = append(a.thoughts, t)
	return &t.text
}

func (a *assembly) blank() bool { return strings.TrimSpace(a.text.String()) == "" }

// ended tells whether the stream came to a proper end: a finish reason, or
// [DONE] after something whole.
func (a *assembly) ended() bool {
	return a.finish != "" || a.done && !a.calls.open() && (!a.blank() || len(a.calls) > 0)
}

// answer turns an ended assembly into the Answer (M11 to M14). taken tells of call
// ids that the conversation uses; window is the context window, 0 = unknown.
func (a *assembly) answer(taken func(string) bool, window int) (*llm.Answer, error) {
	if e, ok := broken[a.finish]; ok {
		return nil, &e
	}
	out := &llm.Answer{Message: &llm.Message{Role: llm.RoleAssistant}, Usage: a.usage.disjoint(), Model: a.model, Stop: llm.StopEnd}
	m := out.Message
	for _, t := range a.thoughts {
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockReasoning, Text: t.text.String(), Field: t.field})
	}
	if !a.blank() {
		m.Blocks = append(m.Blocks, llm.Block{Kind: llm.BlockText, Text: a.text.String()})
	}
	if finishes[a.finish] == llm.StopMaxTokens {
		out.Stop = llm.StopMaxTokens
		if prompt := out.Usage.Total() - out.Usage.Output; window > 0 && out.Usage.Output == 0 && len(m.Blocks) == 0 && prompt >= window/100*99 {
			return nil, &llm.Error{
				Code: llm.CodeOverflow, Window: window, Requested: prompt,
				Message: "the endpoint cut the input to the window and had no room for an answer",
			}
		}
		return out, nil // calls may be cut short: none is kept (M14)
	}
	if len(a.calls) > 0 {
		calls, err := a.calls.finish(taken)
		if err != nil {
			return nil, &llm.Error{Code: llm.CodeMalformed, Message: err.Error()}
		}
		m.Blocks, out.Stop = append(m.Blocks, calls...), llm.StopToolCalls
		return out, nil
	}
	if a.blank() {
		what := "the answer is empty"
		if len(a.thoughts) > 0 {
			what = "the answer holds reasoning only"
		}
		return nil, &llm.Error{Code: llm.CodeEmptyResponse, Message: what + ": no text and no tool call"}
	}
	return out, nil
}
