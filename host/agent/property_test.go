package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// play is a session in which everything that may happen happens in a drawn order.
type play struct {
	*setup
	rt       *rapid.T
	whims    []int // what the model does next
	turns    []int // what the strategy does next
	ctx      context.Context
	cancel   context.CancelCauseFunc
	n        int      // texts so far
	reached  []string // texts that a request showed, in order of their first time
	requests int
	broken   error // a request that no model takes
}

func newPlay(t *testing.T, rt *rapid.T) *play {
	p := &play{setup: newSetup(t), rt: rt}
	p.whims = rapid.SliceOfN(rapid.IntRange(0, 16), 10, 60).Draw(rt, "model")
	p.turns = rapid.SliceOfN(rapid.IntRange(0, 6), 5, 20).Draw(rt, "strategy")
	p.options.Model = p
	p.options.Retry = agent.Retry{Max: 1, Initial: 1, MaxDelay: 1}
	p.options.Strategy = agent.Strategy{Strategy: &whimsical{p: p}, Name: "st", Plugin: "st", Auto: true}
	p.options.Budget = tight
	result := func(r tool.Result, err error) func(context.Context, tool.Call) (tool.Result, error) {
		return func(context.Context, tool.Call) (tool.Result, error) { return r, err }
	}
	p.tools = []tool.Provider{newToolbox("p").
		add(tool.Spec{Name: "echo", Parallel: true}, echo).
		add(tool.Spec{Name: "big"}, big(400)).
		add(tool.Spec{Name: "fail"}, result(tool.Result{Text: "no", IsError: true}, nil)).
		add(tool.Spec{Name: "break"}, result(tool.Result{}, errPlugin)).
		add(tool.Spec{Name: "stop"}, result(tool.Result{Text: "stopped", Effects: []tool.Effect{tool.EffectConcludeTurn}}, nil)).
		add(tool.Spec{Name: "cut"}, func(context.Context, tool.Call) (tool.Result, error) {
			p.cancel(context.Canceled)
			return tool.Result{Text: "too late"}, nil
		}),
		newToolbox("st").add(tool.Spec{Name: "reset"}, result(tool.Result{Text: "armed", Effects: []tool.Effect{tool.EffectRequestCompaction}}, nil))}
	p.open()
	return p
}

func next(list *[]int, otherwise int) int {
	if len(*list) == 0 {
		return otherwise
	}
	n := (*list)[0]
	*list = (*list)[1:]
	return n
}

func (p *play) must(err error) {
	p.rt.Helper()
	if err != nil {
		p.rt.Fatal(err)
	}
}

// text is one that nobody has said yet.
func (p *play) text() string {
	p.n++
	return fmt.Sprintf("<text %d>", p.n)
}

func (p *play) Info(context.Context) (llm.Info, error) { return llm.Info{Name: "m"}, nil }

// Stream answers by whim, and notes what it is shown.
func (p *play) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if err := llm.Validate(r.Messages); err != nil {
			p.broken = errors.Join(p.broken, err)
		}
		p.requests++
		for _, m := range r.Messages {
			if m.Role == llm.RoleUser && strings.HasPrefix(m.Text(), "<text ") && !slices.Contains(p.reached, m.Text()) {
				p.reached = append(p.reached, m.Text())
			}
		}
		p.answer(next(&p.whims, 0))(ctx, r, yield)
	}
}

func (p *play) answer(whim int) answerFunc {
	transport := &llm.Error{Code: llm.CodeTransport, Message: "it broke off"}
	switch whim {
	case 1:
		return calls("a echo {}", "b echo {}", "c fail {}", "d echo {}")
	case 2:
		return calls("a break {}", "a echo {}", "a nothere {}", "e echo [")
	case 3:
		return calls("a big {}", "b big {}")
	case 4:
		return calls("a cut {}", "b echo {}")
	case 5:
		return calls("a reset {}")
	case 6:
		return calls("a reset {}", "b fail {}")
	case 7:
		return calls("a stop {}", "b echo {}")
	case 8, 9:
		return func(ctx context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
			if whim == 8 && !yield(llm.Chunk{Kind: llm.BlockText, Delta: "Well, "}, nil) {
				return
			}
			p.cancel(context.Canceled)
			yield(llm.Chunk{}, &llm.Error{Code: llm.CodeAborted, Message: "cancelled", Err: context.Canceled})
		}
	case 10:
		return fails(&llm.Error{Code: llm.CodeOverflow, Message: "too long"})
	case 11, 12:
		return fails(transport)
	case 13:
		return fails(&llm.Error{Code: llm.CodeInvalidRequest, Message: "no"})
	case 14:
		return func(_ context.Context, _ llm.Request, yield func(llm.Chunk, error) bool) {
			yield(llm.Chunk{Answer: &llm.Answer{Message: llm.Text(llm.RoleAssistant, "so much"), Stop: llm.StopMaxTokens}}, nil)
		}
	case 15, 16: // somebody speaks meanwhile
		return func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
			p.speak(whim - 15)
			p.speak(whim - 13)
			calls("a echo {}")(ctx, r, yield)
		}
	}
	return says("done")
}

// speak queues a text in one of the ways that there are.
func (p *play) speak(way int) {
	p.rt.Helper()
	text := p.text()
	switch way {
	case 0:
		p.must(p.agent.Prompt(p.ctx, text))
	case 1:
		p.must(p.agent.Steer(p.ctx, text))
	case 2:
		p.must(p.agent.Access("p").Steer(p.ctx, text, "", false))
	default:
		p.must(p.agent.Access("p").FollowUp(p.ctx, text, ""))
	}
}

// whimsical proposes by whim.
type whimsical struct {
	booted
	p *play
}

func (w *whimsical) Propose(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
	var all []session.Node
	for n := range in.Outline {
		all = append(all, n)
	}
	p := compaction.Proposal{Revision: in.Revision}
	whim := next(&w.p.turns, 0)
	switch whim {
	case 1:
		return p, errPlugin
	case 2:
		return compaction.Proposal{}, nil
	case 3:
		p.Kind = compaction.KindTrim
		for _, n := range all {
			if n.Role == llm.RoleTool && n.Chars > 400 {
				p.Edits = append(p.Edits, compaction.Edit{Trim: &compaction.Trim{Node: n.Seq, Head: 50, Tail: 50}})
			}
		}
	case 4, 5: // up to anywhere, so that the host refuses some
		p.Kind = compaction.KindSummary
		if len(all) < 4 {
			return p, nil
		}
		span := compaction.Span{From: all[1].Seq, To: all[1+len(all)/2].Seq}
		e := compaction.Edit{Drop: &span}
		if whim == 5 {
			e = compaction.Edit{Replace: &compaction.Replace{Span: span, Messages: []*llm.Message{llm.Text(llm.RoleUser, "a summary"), llm.Text(llm.RoleUser, "of two")}}}
		}
		p.Edits = []compaction.Edit{e}
	default:
		p, err := w.booted.Propose(ctx, in)
		if whim == 6 && len(p.Edits) > 0 {
			p.Steer = []string{"mind the reset"} // an undo takes it back
		}
		return p, err
	}
	return p, nil
}

// step does one thing from outside.
func (p *play) step(what int) {
	p.rt.Helper()
	p.ctx, p.cancel = context.WithCancelCause(p.t.Context())
	defer p.cancel(nil)
	switch {
	case what < 4:
		p.speak(what)
	case what < 8:
		if _, _, err := p.agent.Run(p.ctx); err != nil {
			p.rt.Fatalf("the run broke: %v", err)
		}
	case what == 8:
		before := p.seen()
		p.agent = nil
		p.open()
		if after := p.seen(); after != before {
			p.rt.Fatalf("another process sees\n%s\nnot\n%s", after, before)
		}
	case what == 9:
		before, count := p.seen(), p.state().Compaction.Count
		p.compact()
		if p.state().Compaction.Count == count {
			return
		}
		_, err := p.agent.Undo(p.ctx, "")
		p.must(err)
		if after := p.seen(); after != before {
			p.rt.Fatalf("after compaction and undo\n%s\nbefore\n%s", after, before)
		}
	case what == 10:
		p.compact()
	case what == 11:
		var no *fold.NoUndo
		if _, err := p.agent.Undo(p.ctx, ""); !errors.As(err, &no) {
			p.must(err)
		}
	case what == 12:
		log := p.kinds()
		_, err := p.agent.Preview(p.ctx, "")
		if !errors.Is(err, errPlugin) {
			p.must(err)
		}
		if p.kinds() != log {
			p.rt.Fatal("a preview was written")
		}
	case what == 13:
		_, err := p.agent.Archive(p.ctx, session.Archived{Archived: !p.state().Archived})
		p.must(err)
	case what == 14:
		p.post(session.CommandUndo, "")
	case what == 15:
		p.post(session.CommandCompact, "")
	}
}

// seen is all that the next request and the strategy depend on.
func (p *play) seen() string {
	s := p.state()
	var texts []string
	for key, seq := range s.Records {
		texts = append(texts, key+"="+string(p.events()[seq-1].Data))
	}
	slices.Sort(texts)
	shown, err := json.Marshal(s.Surface.Messages(0))
	p.must(err)
	measured, source := s.Measure()
	return fmt.Sprintf("%s\nwindow %d marks %q context %q inbox %d measured %d %s records %q", shown, s.Compaction.Window, s.Compaction.Marks, s.Context, len(s.Inbox), measured, source, texts)
}

// holds is what is true after each step.
func (p *play) holds() {
	p.rt.Helper()
	if p.broken != nil {
		p.rt.Fatalf("a request no model takes: %v", p.broken)
	}
	violations, err := fold.Check(p.t.Context(), p.log)
	p.must(err)
	if len(violations) > 0 {
		p.rt.Fatalf("%+v", violations)
	}
	var queued [2][]string // texts by queue, in order
	items := map[int64]int{}
	for _, e := range p.events() {
		switch e.Kind {
		case session.KindInboxQueued:
			it, _ := session.Decode[session.InboxItem](e)
			if strings.HasPrefix(it.Text, "<text ") {
				q := map[session.Queue]int{session.NextTurn: 0, session.NextStep: 1}[it.Queue]
				queued[q] = append(queued[q], it.Text)
			}
		case session.KindMessageUser:
			if m, _ := session.Decode[session.Message](e); m.Item > 0 {
				items[m.Item]++
			}
		}
	}
	for item, n := range items {
		if n != 1 {
			p.rt.Fatalf("item %d was shown %d times", item, n)
		}
	}
	for _, list := range queued {
		got := slices.DeleteFunc(slices.Clone(p.reached), func(text string) bool { return !slices.Contains(list, text) })
		if len(got) > len(list) || !slices.Equal(got, list[:len(got)]) {
			p.rt.Fatalf("said in the order %q, the model heard %q", list, got)
		}
	}
}

// compact asks for a compaction, which an archived session refuses.
func (p *play) compact() {
	var refused *agent.ArchivedError
	_, err := p.agent.Compact(p.ctx, "")
	if archived := p.state().Archived; archived != errors.As(err, &refused) {
		p.rt.Fatalf("archived %v, yet: %v", archived, err)
	} else if !archived {
		p.must(err)
	}
}

// Whatever happens in whatever order: the log keeps its rules, each request is valid,
// each text reaches the model once and in its turn, another process sees the same,
// and an undo right after a compaction gives back exactly what was.
func TestC1_L4_M8_R1_AnyOrderOfEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPlay(t, rt)
		for _, what := range rapid.SliceOfN(rapid.IntRange(0, 15), 10, 40).Draw(rt, "steps") {
			p.step(what)
			p.holds()
		}
		p.whims, p.turns = nil, nil
		if p.state().Archived {
			p.step(13)
		}
		for range 100 { // each run that ends early takes one whim away
			if !p.agent.Owed() {
				break
			}
			p.step(4)
		}
		p.holds()
		for _, it := range p.state().Inbox {
			if it.Queue == session.NextTurn || it.Wake {
				rt.Fatalf("%q never reached the model", it.Text)
			}
		}
	})
}
