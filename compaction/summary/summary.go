// Package summary is the strategy that has a model condense the older part of
// the conversation: one checkpoint in its place, and what the user said behind it.
package summary

import (
	"context"
	"fmt"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/compaction/prune"
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
	// Instruction takes the place of the shipped one; "" = the shipped one.
	Instruction string `json:"-"`
	// Guidance is appended to the instruction.
	Guidance string `json:"guidance"`
	// Model and Effort of the call; "" = the session's own. ContextWindow is that of
	// Model; it must be set where Model is another one than the session's.
	Model         string `json:"model"`
	ContextWindow int    `json:"context_window"`
	Effort        string `json:"effort"`
	// RetainRatio is the share of the input room whose newest messages stay as
	// they are (C5); nil = DefaultRetainRatio.
	RetainRatio *float64 `json:"retain_ratio"`
	// MaxOutputTokens caps the call; 0 = DefaultMaxOutputTokens or the session's
	// own cap, whichever is smaller.
	MaxOutputTokens int `json:"max_output_tokens"`
	// UserTokens bounds what is kept of the user's own messages; nil = 20000 or a
	// 20th of the window, whichever is smaller; 0 = nothing is kept.
	UserTokens *int `json:"user_tokens"`
	// Prune cuts long results first and condenses only where that is not enough (C12).
	// Off, the model condenses from whole results: what is cut out of one is in no
	// summary. Of what stays long ones are cut either way, where it must be.
	Prune bool `json:"prune"`
}

// Strategy is safe for concurrent use; it keeps nothing of a session.
type Strategy struct{ config Config }

// New makes the strategy.
func New(c Config) *Strategy { return &Strategy{config: c} }

// Open shows nothing: a checkpoint is an ordinary message. Where the summary has a
// model of its own whose window nobody told, the error is ErrModelWindow.
func (s *Strategy) Open(_ context.Context, in compaction.Session) (compaction.Opening, error) {
	if own := s.config.Model; own != "" && own != in.Model && s.config.ContextWindow == 0 {
		return compaction.Opening{}, fmt.Errorf("%w: it is %s, and the session runs on %s: set compaction.summary.context_window to what %s takes", ErrModelWindow, own, in.Model, own)
	}
	return compaction.Opening{}, nil
}

// Propose answers pressure, requested, overflow and manual with a checkpoint in
// place of the older messages; under pressure it only cuts long results where the config
// wants that and it brings relief enough. At a stopping trigger there is nothing to do: the next turn
// looks at the line before its first step. Where the model's answer is of no use it
// fails and the conversation stays as it is.
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
	if len(nodes) == 0 {
		return compaction.Proposal{}, nil
	}
	child, err := spawned(ctx, in.Access)
	if err != nil {
		return compaction.Proposal{}, err
	}
	ask := s.ask(in.Instructions)
	if child {
		ask += "\n\n" + childNote
	}
	g := s.gauge(ctx, in, nodes, staged(ask))
	trim := s.trim(in, nodes)
	if s.config.Prune && in.Trigger == session.TriggerPressure && below(in, g, nodes, trim) {
		return trim, nil
	}
	cut, ok := compaction.BalancedTail(nodes, s.keep(nodes, in, g))
	if !ok || !worthwhile(nodes[1:cut]) {
		if in.Trigger == session.TriggerPressure {
			return trim, nil // little as it is
		}
		return compaction.Proposal{}, nil
	}
	checkpoint, err := s.checkpoint(ctx, in, nodes, cut, g, ask, child)
	if err != nil {
		return compaction.Proposal{}, err
	}
	p := compaction.Proposal{Revision: in.Revision, Kind: compaction.KindSummary, Edits: []compaction.Edit{{Replace: &compaction.Replace{
		Span:     compaction.Span{From: nodes[1].Seq, To: nodes[cut-1].Seq},
		Messages: []*llm.Message{checkpoint},
	}}}}
	if in.Budget.ResetAt > 0 && !below(in, g, nodes, p) {
		p.Edits = append(p.Edits, behind(trim.Edits, nodes[cut:])...)
	}
	return p, nil
}

// checkpoint is the message that stands for nodes[1:cut].
func (s *Strategy) checkpoint(ctx context.Context, in compaction.Input, nodes []session.Node, cut int, g gauge, ask string, child bool) (*llm.Message, error) {
	before := tokens(nodes[1:cut])
	said, err := words(ctx, in.Access, nodes[cut:], s.userTokens(in.Budget.Window, before))
	if err != nil {
		return nil, err
	}
	text, err := s.condense(ctx, in, nodes[:cut], g, ask)
	if err != nil {
		return nil, err
	}
	m := frame(text, said, child)
	if after := llm.Estimate(m); after >= before {
		return nil, fmt.Errorf("%w: %d messages of %d tokens would become %d", ErrNotSmaller, cut-1, before, after)
	}
	return m, nil
}

// keep is how many of the newest tokens stay (C5, C10, C11): a share under pressure;
// on overflow what was said and is not answered yet, within that share; manually none.
func (s *Strategy) keep(nodes []session.Node, in compaction.Input, g gauge) int {
	ratio := DefaultRetainRatio
	if s.config.RetainRatio != nil {
		ratio = *s.config.RetainRatio
	}
	share := int(float64(in.Budget.Retain(ratio)) / max(g.ratio, 1)) // in tokens of the nodes
	switch in.Trigger {
	case session.TriggerManual:
		return 0
	case session.TriggerOverflow:
		open := 0
		for i := len(nodes) - 1; i > 0 && nodes[i].Role == llm.RoleUser && nodes[i].Source != session.SourceCheckpoint; i-- {
			open += nodes[i].Tokens
		}
		if open > share {
			return 0
		}
		return open
	}
	return share
}

// trim proposes to cut every long result that the model has seen (C12).
func (s *Strategy) trim(in compaction.Input, nodes []session.Node) compaction.Proposal {
	edits := prune.Results(nodes)
	if len(edits) == 0 {
		return compaction.Proposal{}
	}
	return compaction.Proposal{Revision: in.Revision, Kind: compaction.KindTrim, Edits: edits}
}

// below tells whether a proposal brings the measure clearly below the line.
func below(in compaction.Input, g gauge, nodes []session.Node, p compaction.Proposal) bool {
	gain := g.count(tokens(nodes) - compaction.After(nodes, p, nil))
	return !p.IsZero() && float64(in.Measured-gain) < clearlyBelow*float64(in.Budget.ResetAt)
}

// behind are the edits of results that stay.
func behind(edits []compaction.Edit, tail []session.Node) []compaction.Edit {
	stays := make(map[int64]bool, len(tail))
	for _, n := range tail {
		stays[n.Seq] = true
	}
	var kept []compaction.Edit
	for _, e := range edits {
		if stays[e.Trim.Node] {
			kept = append(kept, e)
		}
	}
	return kept
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

// worthwhile tells whether condensing a span can gain anything: it is more than what
// an earlier compaction left, and more than a checkpoint without a word.
func worthwhile(span []session.Node) bool {
	for _, n := range span {
		if n.Source != session.SourceCheckpoint {
			return tokens(span) > llm.Estimate(frame("", nil, false))
		}
	}
	return false
}
