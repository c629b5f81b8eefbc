package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// meddle changes a sound reset of the surface that all lists.
type meddle func(p *compaction.Proposal, all []session.Node)

// instead replaces the text that a reset puts in.
func instead(text string) meddle {
	return func(p *compaction.Proposal, _ []session.Node) {
		p.Edits[0].Replace.Messages = []*llm.Message{llm.Text(llm.RoleUser, text)}
	}
}

func spanEdit(from, to session.Node) compaction.Edit {
	return compaction.Edit{Drop: &compaction.Span{From: from.Seq, To: to.Seq}}
}

// The surface when it is asked: node 0, a context, the task, a call, its long result.
var hostileProposals = map[string]struct {
	change meddle
	why    string
}{
	"for another revision": {func(p *compaction.Proposal, _ []session.Node) { p.Revision-- }, "(revision)"},
	"for a later revision": {func(p *compaction.Proposal, _ []session.Node) { p.Revision++ }, "(revision)"},
	"an unknown kind":      {func(p *compaction.Proposal, _ []session.Node) { p.Kind = "fold" }, "(kind)"},
	"a trim that replaces": {func(p *compaction.Proposal, _ []session.Node) { p.Kind = compaction.KindTrim }, "(kind)"},
	"a reset of a part":    {func(p *compaction.Proposal, all []session.Node) { p.Edits[0].Replace.Span.To = all[2].Seq }, "(kind)"},
	"an edit of nothing":   {func(p *compaction.Proposal, _ []session.Node) { p.Edits = []compaction.Edit{{}} }, "(edit)"},
	"node 0":               {func(p *compaction.Proposal, all []session.Node) { p.Edits[0].Replace.Span.From = all[0].Seq }, "(system)"},
	"a pair that is cut":   {func(p *compaction.Proposal, all []session.Node) { p.Edits[0].Replace.Span.To = all[3].Seq }, "(pair)"},
	"a node that is not":   {func(p *compaction.Proposal, _ []session.Node) { p.Edits[0].Replace.Span.To = 1 << 40 }, "(span)"},
	"spans that overlap": {func(p *compaction.Proposal, all []session.Node) {
		p.Edits = []compaction.Edit{spanEdit(all[1], all[2]), spanEdit(all[2], all[2])}
	}, "(span)"},
	"nothing left": {func(p *compaction.Proposal, all []session.Node) {
		p.Edits = []compaction.Edit{spanEdit(all[1], all[4])}
	}, "(span)"},
	"no smaller": {func(p *compaction.Proposal, all []session.Node) {
		p.Kind = compaction.KindSummary
		instead(strings.Repeat("abc", 3000))(p, all)
	}, "(size)"},
	"an empty text":    {instead(" \n"), "(text)"},
	"a NUL":            {instead("a\x00b"), "(text)"},
	"half a character": {instead("\xe2\x82"), "(text)"},
	"an assistant's words": {func(p *compaction.Proposal, _ []session.Node) {
		p.Edits[0].Replace.Messages[0].Role = llm.RoleAssistant
	}, "(text)"},
	"no message":     {func(p *compaction.Proposal, _ []session.Node) { p.Edits[0].Replace.Messages = []*llm.Message{nil} }, "(text)"},
	"an empty steer": {func(p *compaction.Proposal, _ []session.Node) { p.Steer = []string{""} }, "(text)"},
	"100,000 edits":  {func(p *compaction.Proposal, all []session.Node) { p.Edits = many(100_000, spanEdit(all[2], all[2])) }, "(bounds)"},
	"100,000 messages": {func(p *compaction.Proposal, _ []session.Node) {
		p.Edits[0].Replace.Messages = many(100_000, llm.Text(llm.RoleUser, "x"))
	}, "(bounds)"},
	"50 MB of text": {instead(strings.Repeat("x", 50<<20)), "(bounds)"},
	"10,000 records": {func(p *compaction.Proposal, _ []session.Node) {
		p.Records = many(10_000, compaction.Record{Kind: "k", Data: json.RawMessage("1")})
	}, "(bounds)"},
	"10,000 marks": {func(p *compaction.Proposal, _ []session.Node) {
		p.Refresh, p.Marks = true, many(10_000, compaction.Mark{ID: "m", Remaining: 1, Text: "x"})
	}, "(bounds)"},
	"10,000 steers": {func(p *compaction.Proposal, _ []session.Node) { p.Steer = many(10_000, "hurry") }, "(bounds)"},
	"a record of no JSON": {func(p *compaction.Proposal, _ []session.Node) {
		p.Records = []compaction.Record{{Kind: "k", Data: json.RawMessage("{")}}
	}, "(record)"},
	"a record of nothing": {func(p *compaction.Proposal, _ []session.Node) {
		p.Records = []compaction.Record{{Kind: "k", Data: json.RawMessage("")}}
	}, "(record)"},
	"another's record": {func(p *compaction.Proposal, _ []session.Node) {
		p.Records = []compaction.Record{{Kind: "a/b", Data: json.RawMessage("1")}}
	}, "(record)"},
	"a system prompt that fills the window": {func(p *compaction.Proposal, _ []session.Node) {
		p.Refresh, p.Sections = true, []compaction.Section{{ID: "x", Text: strings.Repeat("abc", 9000)}}
	}, "and the window holds 2000"},
	"a summary with a large section": {func(p *compaction.Proposal, all []session.Node) {
		p.Kind, p.Edits = compaction.KindTrim, []compaction.Edit{{Trim: &compaction.Trim{Node: all[4].Seq, Head: 3000, Tail: 100}}}
		p.Refresh, p.Sections = true, []compaction.Section{{ID: "x", Text: strings.Repeat("abc", 500)}}
	}, "with what it puts into the system prompt"},
}

func many[T any](n int, one T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = one
	}
	return list
}

func TestN17_C9_AHostileProposalChangesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range hostileProposals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t, calls(`a big {}`), says("done"))
			s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
			asked := 0
			withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
				if asked++; asked > 1 {
					return compaction.Proposal{}, errPlugin
				}
				var all []session.Node
				for n := range in.Outline {
					all = append(all, n)
				}
				if len(all) != 5 {
					return compaction.Proposal{}, fmt.Errorf("%d nodes", len(all))
				}
				p, err := wipe("short")(ctx, in)
				c.change(&p, all)
				return p, err
			}})
			s.completed("task")
			var failed []session.CompactionFailed
			for _, e := range s.events() {
				if p, err := session.Decode[session.CompactionFailed](e); err == nil && e.Kind == session.KindCompactionFailed {
					failed = append(failed, p)
				}
			}
			if len(failed) == 0 || !strings.Contains(failed[0].Error, c.why) || !strings.Contains(failed[0].Error, "refused") || failed[0].Tokens < 1000 || s.count(session.KindCompactionEnded) != 0 {
				t.Fatalf("%+v: %s", failed, s.kinds())
			}
			was, is := s.shown(0), s.shown(1)
			if len(is) != 5 || strings.Join(is[:3], "\n") != strings.Join(was, "\n") || is[4] != "tool: "+strings.Repeat("abc", 1200) {
				t.Errorf("the next request shows %d messages", len(is))
			}
			if s.count(session.KindRecord)+s.count(session.KindNodesDropped) != 0 {
				t.Errorf("the log is %s", s.kinds())
			}
		})
	}
}

// What a strategy shows from the start is held to the same bounds.
func TestN17_AnAbsurdOpeningIsRefused(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]compaction.Opening{
		"records of no JSON": {Records: []compaction.Record{{Kind: "k", Data: json.RawMessage("{")}}},
		"too many marks":     {Marks: many(1000, compaction.Mark{ID: "m", Remaining: 1})},
		"too long a section": {Sections: []compaction.Section{{ID: "x", Text: strings.Repeat("x", 9<<20)}}},
	} {
		s := newSetup(t, says("never"))
		s.open()
		options := s.options
		options.Strategy = agent.Strategy{Strategy: &strategy{propose: nothing, opening: o}, Name: "st", Plugin: "st"}
		a, err := agent.Open(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Begin(t.Context()); compaction.RefusalOf(err) == "" || s.count(session.KindRecord) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A strategy that answers after the turn was cancelled changes nothing.
func TestN17_L7_AnAnswerAfterACancelIsNotApplied(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a big {}`), says("never"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
	ctx, cancel := context.WithCancel(t.Context())
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		cancel()
		<-ctx.Done()
		return wipe("late")(context.WithoutCancel(ctx), in)
	}})
	if err := s.open().Prompt(t.Context(), "task"); err != nil {
		t.Fatal(err)
	}
	reason, _, err := s.agent.Run(ctx)
	if err != nil || reason != session.ReasonCancelled || s.count(session.KindCompactionEnded)+s.count(session.KindCompactionFailed) != 0 {
		t.Errorf("ended %s, %v: %s", reason, err, s.kinds())
	}
	s.check()
}
