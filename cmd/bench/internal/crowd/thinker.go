package crowd

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tureen-host/tureen/host/llm"
)

// thinker is a model in this process that asks for one read a step, so often as a
// prompt of its own says, and notes how long the host takes between two requests.
type thinker struct {
	arguments string

	mu    sync.Mutex
	next  int // the session that gets the next prompt
	steps int
	think time.Duration
	spent []float64 // ms

	answered []atomic.Int64 // by prompt: when the newest answer was given
}

func newThinker(file string, sessions int) *thinker {
	return &thinker{arguments: fmt.Sprintf(`{"file_path":%q}`, file), answered: make([]atomic.Int64, 4*sessions+4)}
}

// begin lets the prompts from here on ask for so many steps.
func (t *thinker) begin(steps int, think time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.steps, t.think, t.spent = steps, think, nil
}

const promptHead = "Crowd prompt "

// prompt is words that no other session gets.
func (t *thinker) prompt() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	return promptHead + strconv.Itoa(t.next) + "."
}

func (t *thinker) costs() []float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.spent
}

// Stream implements llm.Model.
func (t *thinker) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		arrived := time.Now().UnixNano()
		prompt, steps := asked(req.Messages)
		t.mu.Lock()
		if last := t.answered[prompt].Load(); last > 0 {
			t.spent = append(t.spent, float64(arrived-last)/1e6)
		}
		more, think := steps < t.steps, t.think
		t.mu.Unlock()
		if think > 0 {
			select {
			case <-ctx.Done():
				yield(llm.Chunk{}, &llm.Error{Code: llm.CodeAborted, Message: "aborted"})
				return
			case <-time.After(think):
			}
		}
		a := &llm.Answer{Message: llm.Text(llm.RoleAssistant, "Done."), Stop: llm.StopEnd, Model: "bench", Usage: llm.Usage{Input: 5000, Output: 20}}
		if more {
			id := fmt.Sprintf("call_%d_%d", prompt, steps)
			a.Message, a.Stop = &llm.Message{Role: llm.RoleAssistant, Blocks: []llm.Block{
				{Kind: llm.BlockToolCall, Call: &llm.ToolCall{ID: id, Name: "read", Arguments: t.arguments}}}}, llm.StopToolCalls
		}
		t.answered[prompt].Store(time.Now().UnixNano())
		yield(llm.Chunk{Answer: a}, nil)
	}
}

// asked finds the newest prompt of a crowd, and how many steps were taken since.
func asked(messages []*llm.Message) (prompt, steps int) {
	for _, m := range slices.Backward(messages) {
		switch {
		case m.Role == llm.RoleTool:
			steps++
		case m.Role == llm.RoleUser && strings.HasPrefix(m.Text(), promptHead):
			prompt, _ = strconv.Atoi(strings.Trim(strings.TrimPrefix(m.Text(), promptHead), "."))
			return prompt, steps
		}
	}
	return 0, steps
}

// Info implements llm.Model.
func (t *thinker) Info(context.Context) (llm.Info, error) { return llm.Info{}, nil }

// quantile is the least of values that at least the part p of them does not exceed.
func quantile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(max(int(math.Ceil(p*float64(len(sorted))))-1, 0), len(sorted)-1)]
}
