package openai

import (
	"encoding/json"
	"math"

	"github.com/tureen-host/tureen/host/llm"
)

// count is a number of tokens, however it is written; anything else is 0.
type count int

// UnmarshalJSON never fails: a usage must not cost an answer.
func (c *count) UnmarshalJSON(data []byte) error {
	var n float64
	if json.Unmarshal(data, &n) != nil || !(n > 0 && n < math.MaxInt32) {
		n = 0
	}
	*c = count(n)
	return nil
}

// usage is what endpoints report, under all the names they use.
type usage struct {
	Prompt     count `json:"prompt_tokens"`
	Completion count `json:"completion_tokens"`

	PromptDetails struct {
		Cached     count `json:"cached_tokens"`
		CacheWrite count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`

	Cached        count `json:"cached_tokens"`               // Moonshot, Together
	CacheHit      count `json:"prompt_cache_hit_tokens"`     // DeepSeek
	CacheRead     count `json:"cache_read_input_tokens"`     // LiteLLM
	CacheCreation count `json:"cache_creation_input_tokens"` // LiteLLM
	Reasoning     count `json:"reasoning_tokens"`
}

// merge takes over the fields that v reports: the last that is not zero wins.
func (u *usage) merge(v usage) {
	for _, f := range []struct {
		to   *count
		from count
	}{
		{&u.Prompt, v.Prompt},
		{&u.Completion, v.Completion},
		{&u.Cached, max(v.PromptDetails.Cached, v.Cached, v.CacheHit, v.CacheRead)},
		{&u.CacheCreation, max(v.PromptDetails.CacheWrite, v.CacheCreation)},
		{&u.Reasoning, max(v.CompletionDetails.Reasoning, v.Reasoning)},
	} {
		if f.from != 0 {
			*f.to = f.from
		}
	}
}

// disjoint tells merged usage in classes that do not overlap (M20). An endpoint
// that counts cached tokens beside the prompt, or reasoning beside the
// completion, gives itself away by a part greater than its whole.
func (u *usage) disjoint() llm.Usage {
	out := llm.Usage{
		Input: int(u.Prompt), CacheRead: int(u.Cached), CacheWrite: int(u.CacheCreation),
		Output: int(u.Completion), Reasoning: int(u.Reasoning),
	}
	if part := out.CacheRead + out.CacheWrite; part <= out.Input {
		out.Input -= part
	}
	if out.Reasoning > out.Output {
		out.Output += out.Reasoning
	}
	return out
}
