package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
)

// A preview tells what a compaction right after it comes to, and changes nothing.
func TestC11_C19_APreviewIsTrueAndAppliesNothing(t *testing.T) {
	t.Parallel()
	s, b := worked(t, says("more"))
	mood := &moody{}
	s.options.Prompts, s.agent = []prompt.Provider{mood}, nil
	s.open()
	log, request := s.kinds(), b.opened
	p, err := s.agent.Preview(t.Context(), "")
	if err != nil || s.kinds() != log || b.opened != request {
		t.Fatalf("%v; the log went from %s to %s", err, log, s.kinds())
	}
	if p.Strategy != "st" || p.Kind != compaction.KindReset || p.Refused != "" || !p.Relieved || p.ModelCalls != 0 || p.ResetAt != 1000 ||
		p.Boot != "boot 2" || len(p.Added) != 1 || p.Added[0] != "go on from your notes" || p.Trimmed != 0 || p.Dropped != len(s.state().Surface.Nodes)-1 {
		t.Errorf("%+v", p)
	}
	s.compacted()
	ended := one[session.CompactionEnded](s, session.KindCompactionEnded)
	if p.TokensBefore != ended.TokensBefore || p.TokensAfter != ended.TokensAfter {
		t.Errorf("told %d → %d, came to %d → %d", p.TokensBefore, p.TokensAfter, ended.TokensBefore, ended.TokensAfter)
	}
}

// After a preview the next request is what it would have been.
func TestC19_SP2_APreviewLeavesThePromptAlone(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"), says("more"))
	s.options.Prompts = []prompt.Provider{&moody{}}
	withStrategy(s, &strategy{propose: wipe("short")})
	s.completed("task")
	if _, err := s.agent.Preview(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	s.completed("more")
	if s.shown(0)[0] != s.shown(1)[0] {
		t.Errorf("the prompt became %q", s.shown(1)[0])
	}
}

func TestC19_APreviewTellsWhatTheHostWouldRefuse(t *testing.T) {
	t.Parallel()
	const key = "sk-canary-0123456789"
	for name, bad := range map[string]func(in compaction.Input, p *compaction.Proposal){
		"revision": func(_ compaction.Input, p *compaction.Proposal) { p.Revision++ },
		"span":     func(_ compaction.Input, p *compaction.Proposal) { p.Edits[0].Replace.Span.To += 1000 },
		"nothing":  func(_ compaction.Input, p *compaction.Proposal) { p.Edits[0].Replace.Messages = []*llm.Message{nil} },
		"no edit":  func(_ compaction.Input, p *compaction.Proposal) { p.Edits[0] = compaction.Edit{} },
		"orphan": func(in compaction.Input, p *compaction.Proposal) {
			p.Kind = compaction.KindTrim
			for n := range in.Outline {
				if len(n.CallIDs) > 0 {
					p.Edits = []compaction.Edit{{Drop: &compaction.Span{From: n.Seq, To: n.Seq}}}
				}
			}
		},
	} {
		s := newSetup(t, calls(`a echo {}`), says("done"))
		s.options.Secrets = []string{key}
		withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
			p, err := wipe("short "+key)(ctx, in)
			bad(in, &p)
			return p, err
		}})
		s.completed("task")
		log := s.kinds()
		p, err := s.agent.Preview(t.Context(), "")
		if err != nil || p.Refused == "" || p.TokensAfter != p.TokensBefore || s.kinds() != log || strings.Contains(strings.Join(p.Added, ""), "canary") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestC19_APreviewBooksItsModelCallsAndPassesInstructionsOn(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"), says("a summary"))
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		if in.Trigger != session.TriggerManual || in.Instructions != "keep the numbers" {
			t.Errorf("asked with %s %q", in.Trigger, in.Instructions)
		}
		g, err := in.Access.Generate(ctx, session.Generate{Append: []*llm.Message{llm.Text(llm.RoleUser, "condense")}, Purpose: llm.PurposeCompaction})
		if err != nil {
			return compaction.Proposal{}, err
		}
		return wipe(g.Message.Text())(ctx, in)
	}})
	s.completed("task")
	p, err := s.agent.Preview(t.Context(), "keep the numbers")
	if err != nil || p.ModelCalls != 1 || len(p.Added) != 1 || p.Added[0] != "a summary" || p.Refused != "" {
		t.Errorf("%+v, %v", p, err)
	}
	if call := one[session.ModelCall](s, session.KindModelCall); call.Purpose != llm.PurposeCompaction || s.count(session.KindCompactionStarted) != 0 {
		t.Errorf("%+v; the log is %s", call, s.kinds())
	}
	s.check()
}

func TestC19_APreviewOfNothingAndOfAFailure(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"))
	s.open()
	if _, err := s.agent.Preview(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "no compaction strategy") {
		t.Errorf("without a strategy: %v", err)
	}
	var fails error
	withStrategy(s, &strategy{propose: func(context.Context, compaction.Input) (compaction.Proposal, error) {
		return compaction.Proposal{}, fails
	}})
	s.agent = nil
	s.open()
	if p, err := s.agent.Preview(t.Context(), ""); err != nil || p.Kind != "" || !p.Relieved || p.TokensAfter != p.TokensBefore {
		t.Errorf("of nothing: %+v, %v", p, err)
	}
	fails = errPlugin
	for range 4 {
		if _, err := s.agent.Preview(t.Context(), ""); !errors.Is(err, errPlugin) {
			t.Errorf("of a failure: %v", err)
		}
	}
	if c := s.state().Compaction; c.Failures != 0 || c.Breaker || s.count(session.KindCompactionFailed) != 0 {
		t.Errorf("%+v", c)
	}
}

// A session without a message has nothing to replace, whatever a strategy proposes.
func TestC19_N17_AProposalForAnEmptySurfaceIsRefused(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	withStrategy(s, &strategy{propose: func(_ context.Context, in compaction.Input) (compaction.Proposal, error) {
		return compaction.Proposal{Revision: in.Revision, Kind: compaction.KindReset, Edits: []compaction.Edit{{Replace: &compaction.Replace{
			Span: compaction.Span{From: 1, To: 1}, Messages: []*llm.Message{llm.Text(llm.RoleUser, "x")}}}}}, nil
	}})
	s.open()
	if p, err := s.agent.Preview(t.Context(), ""); err != nil || p.Refused == "" {
		t.Errorf("%+v, %v", p, err)
	}
	if did, err := s.agent.Compact(t.Context(), ""); did || err != nil || s.count(session.KindCompactionFailed) != 1 {
		t.Errorf("%v, %v; the log is %s", did, err, s.kinds())
	}
}
