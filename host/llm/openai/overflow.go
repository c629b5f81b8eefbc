package openai

import (
	"regexp"
	"strings"
	"sync"
)

// overflowCodes are codes and types that alone mean too much input.
var overflowCodes = words(`(?i)context_?length_?exceeded|context_?window_?exceeded|model_max_prompt_tokens_exceeded|exceed_context|request_too_large`)

// overflowTexts are the wordings of too much input, one vendor or server a row.
// W, S, I and C stand for numbers: window, input and output cap together, input alone,
// output cap; "at least" before I makes it a lower bound.
var overflowTexts = wordings(
	`maximum context length is W tokens.*?requested C output tokens and your prompt contains (?P<least>at least )?I input tokens`, // vLLM, newer
	`too large: C\..*?maximum context length is W tokens and your request has I input tokens`,                                     // vLLM
	`maximum context length is W tokens.*?requested (?:about )?S tokens(?:.*?C (?:tokens )?in the (?:completion|output))?`,        // DeepSeek, vLLM, OpenRouter
	`maximum context length is W tokens.*?resulted in I tokens`,                                                                   // OpenAI
	`maximum context length is W tokens`,
	`exceeds the context window`,                                                     // OpenAI Responses
	`request \(I tokens\) exceeds the available context size \(W tokens\)`,           // llama.cpp
	`exceeds the available context size`,                                             // llama.cpp
	`greater than the context length`,                                                // LM Studio
	`context length exceeded|prompt too long; exceeded (?:max )?context length`,      // Ollama
	`input \(I tokens\) is longer than the model.?s context length \(W tokens\)`,     // Together
	`exceeds (?:the )?model.?s maximum context length(?:(?: of | ?\()W)?`,            // LiteLLM
	`reduce the length of the messages`,                                              // Groq
	`(?:contains I tokens.*?)?too large for model with W maximum context length`,     // Mistral
	`prompt is too long: I tokens > W maximum`,                                       // Anthropic
	`input length and max_tokens exceed context limit: I \+ C > W`,                   // Anthropic
	`request exceeds the maximum size`,                                               // Anthropic
	`input token count(?:\D{0,4}I)?.*?exceeds the maximum(?:[^.\d]*W)?`,              // Gemini
	`maximum prompt length is W but the request contains I tokens`,                   // xAI
	`prompt token count of I exceeds the limit of W`,                                 // GitHub Copilot
	`context window exceeds limit`,                                                   // MiniMax
	`exceeded model token limit: W \(requested: S\)`,                                 // Moonshot
	`range of input length should be \[1, ?W\]`,                                      // DashScope
	`input is too long|exceeds the max(?:imum)? input token limit`,                   // Bedrock
	`context[_ -](?:length|window)[_ -](?:exceeded|overflow|limit exceeded)`,         // any
	`(?:request|prompt|input) too (?:large|long) for (?:the )?(?:model.?s )?context`, // any
	`input\b.{0,200}\bexceeds\b.{0,100}\bmodel.{0,3} context`,                        // any
)

// wordings makes rows into wordings; each letter that stands for a number
// becomes a group.
func wordings(rows ...string) []wording {
	const digits = `\d[\d,]*`
	out := make([]wording, len(rows))
	for i, row := range rows {
		out[i] = sync.OnceValue(func() *regexp.Regexp {
			groups := regexp.MustCompile(`\b[WSIC]\b`)
			row := groups.ReplaceAllStringFunc(row, func(letter string) string { return `(?P<` + letter + `>` + digits + `)` })
			return regexp.MustCompile(`(?is)` + row)
		})
	}
	return out
}

// overflow is what a refusal says about sizes, in tokens; 0 = not said.
type overflow struct {
	window, total, input, cap int
	atLeast                   bool // input is a lower bound
}

// findOverflow tells whether a reply means too much input, and how much.
func findOverflow(r *reply) (overflow, bool) {
	o := overflow{window: r.window, input: r.input}
	found := overflowCodes.MatchString(r.code) || overflowCodes.MatchString(r.kind) || strings.Contains(r.all, "ContextWindowExceeded")
	for _, text := range []string{r.message, r.all} {
		for _, re := range overflowTexts {
			if m := re.FindStringSubmatch(text); m != nil {
				o.fill(re().SubexpNames(), m)
				return o, true
			}
		}
	}
	return o, found
}

func (o *overflow) fill(names, values []string) {
	for i, name := range names {
		switch n := number(values[i]); name {
		case "W":
			o.window = n
		case "S":
			o.total = n
		case "I":
			o.input = n
		case "C":
			o.cap = n
		case "least":
			o.atLeast = values[i] != ""
		}
	}
}

// requested is the input that the refusal names. Where it names the sum alone, the
// output cap that was sent is taken off; one below that cap counts no cap.
func (o overflow) requested(asked int) int {
	output := o.cap
	if output == 0 {
		output = asked
	}
	switch {
	case o.input > 0:
		return o.input
	case o.total > output:
		return o.total - output
	}
	return o.total
}

// Margins of a lowered output cap, in tokens.
const (
	fitMargin = 256
	leastCap  = 1024
)

// fit is an output cap with which the same input is accepted, 0 where none is
// known or it would leave no useful room. asked is the cap that was sent.
func (o overflow) fit(asked int) int {
	output := o.cap
	if output == 0 {
		output = asked
	}
	input := o.input
	if input == 0 && o.total > 0 && o.cap > 0 {
		input = o.total - o.cap
	}
	if o.window == 0 || input <= 0 || output == 0 {
		return 0
	}
	fit := o.window - input - fitMargin
	if o.atLeast { // the input may be more: half the cap is a guess worth one try
		fit = min(fit, output/2)
	}
	if fit < leastCap || fit >= output {
		return 0
	}
	return fit
}
