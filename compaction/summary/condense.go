package summary

import (
	"context"
	"fmt"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
)

// condense has a model write the summary of nodes[1:]: in one call about the unchanged
// prefix where that fits, else in stages, each of which condenses the checkpoint so far
// and the next part. Where the first call is refused as too long, what that tells is
// heeded and shorter ones follow; that happens once.
func (s *Strategy) condense(ctx context.Context, in compaction.Input, nodes []session.Node, g gauge, ask string) (string, error) {
	text, asked, err := s.attempt(ctx, in, nodes, g, ask)
	raised, ok := g.overflowed(err, asked)
	if !ok {
		return text, err
	}
	if text, _, err = s.attempt(ctx, in, nodes, raised, ask); err != nil {
		err = fmt.Errorf("%w (a call about more was too long)", err)
	}
	return text, err
}

// attempt condenses once. asked is, where the first call failed, how many tokens of
// conversation it was about.
func (s *Strategy) attempt(ctx context.Context, in compaction.Input, nodes []session.Node, g gauge, ask string) (text string, asked int, err error) {
	what := fmt.Sprintf("condensing %d messages, about %d tokens", len(nodes)-1, g.count(tokens(nodes[1:])))
	if limit, ok := g.whole(tokens(nodes[1:])); ok {
		say(in, what)
		text, _, err = s.call(ctx, in, part{from: 1, to: len(nodes)}, nodes, nil, final(ask), limit)
		return text, tokens(nodes[1:]), err
	}
	limit, level, err := g.script(nodes)
	if err != nil {
		return "", 0, s.tooLarge(in, g, err)
	}
	held := g.held(limit)
	var checkpoint *llm.Message
	for stage, at := 1, 1; at < len(nodes); stage++ {
		parts, err := g.plan(nodes, at, held, limit, level, maxStages+1-stage)
		if err != nil {
			return "", 0, s.tooLarge(in, g, err)
		}
		say(in, fmt.Sprintf("%s: stage %d of %d", what, stage, stage+len(parts)-1))
		request := final(ask)
		if len(parts) > 1 {
			request = staged(ask)
		}
		var kept bool
		if text, kept, err = s.call(ctx, in, parts[0], nodes, checkpoint, request, limit); err != nil {
			if asked = 0; stage == 1 {
				asked = parts[0].tokens
			}
			return "", asked, fmt.Errorf("%w (stage %d of %d)", err, stage, stage+len(parts)-1)
		}
		checkpoint, at = frame(text, nil, false), parts[0].to
		if !kept {
			held = max(held, llm.Estimate(checkpoint))
		}
	}
	return text, 0, nil
}

// call asks for the summary of one part; checkpoint, where not nil, stands for what
// lies before it. kept tells that the endpoint counted no more for it than it was to be.
func (s *Strategy) call(ctx context.Context, in compaction.Input, p part, nodes []session.Node, checkpoint *llm.Message, ask string, limit int) (text string, kept bool, err error) {
	var edits []compaction.Edit
	if checkpoint != nil {
		edits = append(edits, compaction.Edit{Replace: &compaction.Replace{
			Span: compaction.Span{From: nodes[1].Seq, To: nodes[p.from-1].Seq}, Messages: []*llm.Message{checkpoint}}})
	}
	answer, err := in.Access.Generate(ctx, session.Generate{
		SurfaceUntil: nodes[p.to-1].Seq, Edits: append(edits, p.trims...),
		Append: []*llm.Message{llm.Text(llm.RoleUser, ask)},
		Model:  s.config.Model, Effort: s.config.Effort, MaxOutputTokens: limit, Purpose: llm.PurposeCompaction,
	})
	if err != nil {
		return "", false, fmt.Errorf("summary: condense %d messages: %w", p.to-p.from, err)
	}
	text, err = read(answer, limit)
	return text, answer.Usage.Output > 0 && answer.Usage.Output <= limit, err
}

func say(in compaction.Input, text string) {
	if in.Progress != nil {
		in.Progress(text)
	}
}
