// Package summary is the strategy that has a model condense the older part of
// the conversation: one call on the unchanged prefix, one checkpoint in its place.
package summary

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// Defaults of Config.
const (
	DefaultRetainRatio     = 0.16
	DefaultMaxOutputTokens = 65536
)

// Config is what a profile may set. The zero value is the default.
type Config struct {
	// Guidance is appended to the instruction.
	Guidance string `json:"guidance"`
	// Model and Effort of the call; "" = the session's own.
	Model  string `json:"model"`
	Effort string `json:"effort"`
	// RetainRatio is the share of the input room whose newest messages stay as
	// they are (C5); nil = DefaultRetainRatio.
	RetainRatio *float64 `json:"retain_ratio"`
	// MaxOutputTokens caps the call; 0 = DefaultMaxOutputTokens or the session's
	// own cap, whichever is smaller.
	MaxOutputTokens int `json:"max_output_tokens"`
}

var (
	// ErrEmpty: the model wrote no text.
	ErrEmpty = errors.New("summary: the model wrote no text")
	// ErrTruncated: the answer ran into its output cap.
	ErrTruncated = errors.New("summary: the answer was cut off at its output cap")
	// ErrNotSmaller: the checkpoint would take no less room than what it replaces.
	ErrNotSmaller = errors.New("summary: the checkpoint is not smaller than what it replaces")
)

//go:embed prompts/instruction.md
var instruction string

//go:embed prompts/preamble.md
var preamble string

const (
	openTag  = "<compacted-summary>"
	closeTag = "</compacted-summary>"
)

// fences are what a summary must not be able to write: the tags around it (C125).
var fences = regexp.MustCompile(`(?i)<(/?\s*compacted-summary)`)

// Strategy is safe for concurrent use; it keeps nothing of a session.
type Strategy struct{ config Config }

// New makes the strategy.
func New(c Config) *Strategy { return &Strategy{config: c} }

// Open shows nothing: a checkpoint is an ordinary message.
func (s *Strategy) Open(context.Context, compaction.Session) (compaction.Opening, error) {
	return compaction.Opening{}, nil
}

// Propose answers pressure, requested, overflow and manual with a checkpoint in
// place of the older messages. At a stopping trigger there is nothing to do: the
// next turn looks at the line before its first step. Where the model's answer is
// of no use it fails and the conversation stays as it is.
func (s *Strategy) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	if in.Trigger == session.TriggerStopping {
		return compaction.Proposal{}, nil
	}
	var nodes []session.Node
	for n, err := range in.Outline {
		if err != nil {
			return compaction.Proposal{}, fmt.Errorf("summary: read the surface: %w", err)
		}
		nodes = append(nodes, n)
	}
	ask := s.ask(in.Instructions)
	limit := s.outputCap(in.Budget)
	cut, ok := s.cut(nodes, in, llm.EstimateText(ask)+limit)
	if !ok || onlyCheckpoints(nodes[1:cut]) {
		return compaction.Proposal{}, nil
	}
	span := nodes[1:cut]
	before := 0
	for _, n := range span {
		before += n.Tokens
	}
	if in.Progress != nil {
		in.Progress(fmt.Sprintf("condensing %d messages, about %d tokens", len(span), before))
	}
	last := span[len(span)-1].Seq
	answer, err := in.Access.Generate(ctx, session.Generate{
		SurfaceUntil: last,
		Append:       []*llm.Message{llm.Text(llm.RoleUser, ask)},
		Model:        s.config.Model, Effort: s.config.Effort,
		MaxOutputTokens: limit, Purpose: llm.PurposeCompaction,
	})
	if err != nil {
		return compaction.Proposal{}, fmt.Errorf("summary: condense %d messages: %w", len(span), err)
	}
	checkpoint, err := frame(answer, limit)
	if err != nil {
		return compaction.Proposal{}, err
	}
	if after := llm.Estimate(checkpoint); after >= before {
		return compaction.Proposal{}, fmt.Errorf("%w: %d messages of %d tokens would become %d", ErrNotSmaller, len(span), before, after)
	}
	return compaction.Proposal{
		Revision: in.Revision, Kind: compaction.KindSummary,
		Edits: []compaction.Edit{{Replace: &compaction.Replace{
			Span:     compaction.Span{From: span[0].Seq, To: last},
			Messages: []*llm.Message{checkpoint},
		}}},
	}, nil
}

// cut chooses how much leaves (C5, C10, C11): under pressure the newest messages
// stay, on overflow and manually none do. On overflow the call must fit where
// the conversation did not, so that as much stays as does not fit beside extra.
func (s *Strategy) cut(nodes []session.Node, in compaction.Input, extra int) (int, bool) {
	ratio := DefaultRetainRatio
	if s.config.RetainRatio != nil {
		ratio = *s.config.RetainRatio
	}
	keep := in.Budget.Retain(ratio)
	switch in.Trigger {
	case session.TriggerManual:
		keep = 0
	case session.TriggerOverflow:
		keep = 0
		if in.Budget.Window > 0 {
			for _, n := range nodes {
				keep += n.Tokens
			}
			keep = max(0, max(keep, in.Measured)+extra-in.Budget.Window)
		}
	}
	return compaction.BalancedTail(nodes, keep)
}

func (s *Strategy) outputCap(b compaction.Budget) int {
	if s.config.MaxOutputTokens > 0 {
		return s.config.MaxOutputTokens
	}
	if b.MaxOutputTokens > 0 {
		return min(DefaultMaxOutputTokens, b.MaxOutputTokens)
	}
	return DefaultMaxOutputTokens
}

// ask is the instruction with what the profile and a manual request add.
func (s *Strategy) ask(manual string) string {
	text := strings.TrimSpace(instruction)
	for _, more := range []string{s.config.Guidance, manual} {
		if more = strings.TrimSpace(more); more != "" {
			text += "\n\n" + more
		}
	}
	return text
}

// frame makes the checkpoint message of an answer (C6, C8).
func frame(answer session.Generated, limit int) (*llm.Message, error) {
	if answer.Stop == llm.StopMaxTokens {
		return nil, fmt.Errorf("%w (%d tokens): raise compaction.summary.max_output_tokens or model.max_output_tokens", ErrTruncated, limit)
	}
	text := ""
	if answer.Message != nil {
		text = strings.TrimSpace(answer.Message.Text())
	}
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(text, openTag), closeTag))
	if text == "" {
		return nil, ErrEmpty
	}
	text = fences.ReplaceAllString(text, `<\$1`)
	return llm.Text(llm.RoleUser, strings.TrimSpace(preamble)+"\n\n"+openTag+"\n"+text+"\n"+closeTag), nil
}

// onlyCheckpoints tells whether there is nothing in a span but what an earlier
// compaction left: condensing that again gains nothing.
func onlyCheckpoints(span []session.Node) bool {
	for _, n := range span {
		if n.Source != session.SourceCheckpoint {
			return false
		}
	}
	return true
}
