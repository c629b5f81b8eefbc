package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// Model answers requests. It is safe for concurrent use.
type Model interface {
	// Stream sends the request once (no retries) and yields chunks until one
	// carries the Answer, which is the last. A failure is yielded as the last
	// error, always an *Error; what came before it belongs to a dead attempt.
	// Breaking off the loop or cancelling ctx ends the request. Messages that
	// Validate refuses are never sent: its error is what is yielded.
	Stream(ctx context.Context, req Request) iter.Seq2[Chunk, error]
	// Info tells the facts of the model. It may ask the endpoint once.
	Info(ctx context.Context) (Info, error)
}

// Info is what is known about a model. ContextWindow 0 means unknown.
type Info struct {
	Provider        string `json:"provider"`
	Name            string `json:"name"`
	ContextWindow   int    `json:"context_window"`
	WindowSource    string `json:"window_source"` // profile | probed | unknown
	MaxOutputTokens int    `json:"max_output_tokens"`
}

// Purpose says on whose behalf a request is made; model_calls is counted by it.
type Purpose string

const (
	PurposeMain       Purpose = "main"
	PurposeCompaction Purpose = "compaction"
	PurposeNotes      Purpose = "notes"
	PurposeOther      Purpose = "other"
)

// Request is one model call. Messages are shared, never copied or changed.
type Request struct {
	Model           string
	Messages        []*Message
	Tools           []Tool
	MaxOutputTokens int
	Effort          string // "" = the endpoint's default; else off | low | high | max
	Params          map[string]any
	Purpose         Purpose
}

// Tool is a tool's declaration as the model sees it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"` // an object-rooted JSON Schema
}

// Chunk is a piece of a streamed answer: a delta of one kind, or the Answer.
type Chunk struct {
	Kind   BlockKind
	Delta  string
	Answer *Answer
}

// Answer is a complete answer of the model.
type Answer struct {
	Message *Message
	Usage   Usage
	Stop    StopReason
	Model   string // as the endpoint names it
}

// StopReason is why an answer ended (M12).
type StopReason string

const (
	StopEnd       StopReason = "stop"
	StopToolCalls StopReason = "tool_calls"
	StopMaxTokens StopReason = "max_tokens"
)

// Usage counts tokens in disjoint classes (M20): Input excludes cache reads and
// writes. Reasoning is a part of Output, told apart where the endpoint does.
// The zero value means that the endpoint reported nothing.
type Usage struct {
	Input      int `json:"input"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
	Output     int `json:"output"`
	Reasoning  int `json:"reasoning"`
}

// Total is all tokens of the call. Reasoning is inside Output.
func (u Usage) Total() int { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// Prompt is what was sent, cached or not.
func (u Usage) Prompt() int { return u.Input + u.CacheRead + u.CacheWrite }

// Add returns the class by class sum.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.Output + v.Output, u.Reasoning + v.Reasoning}
}

// Sub returns the class by class difference.
func (u Usage) Sub(v Usage) Usage {
	return Usage{u.Input - v.Input, u.CacheRead - v.CacheRead, u.CacheWrite - v.CacheWrite, u.Output - v.Output, u.Reasoning - v.Reasoning}
}
