package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// applied is what became of one question to the strategy.
type applied struct {
	applied   bool
	postponed bool // by one step
	goOn      bool // the strategy wants the turn to go on
	kind      compaction.Kind
	gain      int // tokens
}

// compact asks the strategy and applies what it proposes, in one append. A
// failure leaves the old surface and is not an error; an error means that the
// log cannot be written, or that ctx ended.
func (a *Agent) compact(ctx context.Context, q ask) (applied, error) {
	if err := a.rec.flush(ctx); err != nil {
		return applied{}, err
	}
	q.began, q.bills, q.tokens = a.Now(), a.bills(), max(a.measured()+q.pending, q.counted)
	if err := a.reopen(ctx); err != nil {
		return applied{}, a.fail(ctx, q, err)
	}
	p, in, generation, err := a.propose(ctx, q)
	if ctx.Err() != nil {
		return applied{}, context.Cause(ctx)
	}
	if err == nil && q.agree != nil && (p.Postpone || !p.IsZero()) {
		if agreed, err := q.agree(); err != nil || !agreed {
			return applied{}, err
		}
	}
	switch {
	case err != nil:
		return applied{}, a.fail(ctx, q, err)
	case p.Postpone && p.IsZero():
		return applied{postponed: true, goOn: true}, a.postpone(q, p)
	case p.Postpone:
		return applied{}, a.fail(ctx, q, &refusedError{errors.New("it puts the compaction off and has edits all the same")})
	case p.IsZero() && q.trigger == session.TriggerManual:
		return applied{}, a.dropAsked(ctx, "there is nothing to compact")
	case p.IsZero() && (q.more || q.trigger == session.TriggerStopping): // the next step asks again where it must be
		return applied{}, nil
	case p.IsZero():
		return applied{}, a.fail(ctx, q, errors.New("the strategy found nothing to compact"))
	}
	ended := session.CompactionEnded{Strategy: a.Strategy.Name, Kind: string(p.Kind), Trigger: q.trigger, Boot: p.Boot}
	spent := a.bills().sub(q.bills)
	ended.ModelCalls, ended.CostUSD = spent.calls, a.price(spent)
	if err := a.apply(ctx, q, in, generation, p, &ended, func() int64 { return a.Now().Sub(q.began).Milliseconds() }); err != nil {
		var refused *refusedError
		if errors.As(err, &refused) {
			return applied{}, a.fail(ctx, q, refused)
		}
		return applied{}, err
	}
	a.learnCallIDs()
	a.askAgain, a.pressed = 0, in.Measured
	return applied{applied: true, goOn: p.Continue, kind: p.Kind, gain: ended.TokensBefore - ended.TokensAfter}, nil
}

// input describes the surface as it stands, and its generation.
func (a *Agent) input(q ask) (compaction.Input, int) {
	in := compaction.Input{Session: a.rec.log.ID(), Trigger: q.trigger, Attempt: q.attempt, Budget: a.budget(), Instructions: q.instructions,
		Note: q.note, Seed: a.Seed(), Time: a.Now(), Access: a.Access(a.Strategy.Plugin), Progress: func(text string) {
			if a.Observer != nil {
				a.Observer.Progress(a.Strategy.Name, a.rec.secrets.text(tool.Clean(text)))
			}
		}}
	var outline []session.Node
	generation := 0
	a.rec.view(func(s *fold.State) {
		in.Revision, in.TurnOpen = s.Head, s.Turn.Open
		in.Measured, in.Source = s.Measure()
		if in.Measured += q.pending; q.counted > in.Measured {
			in.Measured, in.Source = q.counted, fold.SourceUsage
		}
		outline, generation = s.Surface.Outline(), s.Surface.Generation
	})
	in.Outline = nodes(outline)
	return in, generation
}

func nodes(outline []session.Node) iter.Seq2[session.Node, error] {
	return func(yield func(session.Node, error) bool) {
		for _, n := range outline {
			if !yield(n, nil) {
				return
			}
		}
	}
}

// refusedError is a proposal that the host does not apply.
type refusedError struct{ why error }

func (e *refusedError) Error() string { return "the proposal was refused: " + e.why.Error() }
func (e *refusedError) Unwrap() error { return e.why }

// apply checks the proposal and commits the whole compaction in one append:
// started, records, edits, the newly rendered node 0, ended.
func (a *Agent) apply(ctx context.Context, q ask, in compaction.Input, generation int, p compaction.Proposal, ended *session.CompactionEnded, millis func() int64) error {
	next, err := a.promptAfter(ctx, p)
	if err != nil {
		return err
	}
	a.rec.snapshot()
	err = a.rec.build(func(s *fold.State) ([]session.Event, error) {
		return a.trial(s, q, in, generation, p, next.system, ended, millis)
	})
	if err != nil {
		return err
	}
	a.mu.Lock()
	if p.Refresh {
		a.sections, a.marks = p.Sections, p.Marks
	}
	a.before, a.shared = a.shared, next.shared
	a.mu.Unlock()
	return a.rec.flush(ctx)
}

// trial lists the events that a proposal comes to, or says why it is refused. It
// changes nothing.
func (a *Agent) trial(s *fold.State, q ask, in compaction.Input, generation int, p compaction.Proposal, system string, ended *session.CompactionEnded, millis func() int64) ([]session.Event, error) {
	nodes := s.Surface.Nodes
	if s.Surface.Generation != generation || len(nodes) > 0 && nodes[len(nodes)-1].Seq > in.Revision {
		return nil, &refusedError{errors.New("the surface moved meanwhile")}
	}
	if err := compaction.Check(s.Surface.Outline(), p, in.Revision, nil); err != nil {
		return nil, &refusedError{err}
	}
	return a.compactionEvents(s, q, in, p, system, ended, millis)
}

// nextPrompt is node 0 as it will be, and the sections of host and plugins in it.
type nextPrompt struct {
	system string
	shared []prompt.Section
}

// promptAfter renders node 0 as a proposal would have it. A new window asks the
// plugins for their sections again. The agent's own stay what they were.
func (a *Agent) promptAfter(ctx context.Context, p compaction.Proposal) (nextPrompt, error) {
	a.mu.Lock()
	sections, shared := a.sections, a.shared
	if p.Kind == compaction.KindReset {
		a.shared = nil
	}
	if p.Refresh {
		a.sections = p.Sections
	}
	a.mu.Unlock()
	assembled, err := a.assemble(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	next := nextPrompt{assembled.system, a.shared}
	a.sections, a.shared = sections, shared
	return next, err
}

// compactionEvents lists the events of the compaction. They are tried on a copy
// of the surface first, so that the figures in them are true.
func (a *Agent) compactionEvents(s *fold.State, q ask, in compaction.Input, p compaction.Proposal, system string, ended *session.CompactionEnded, millis func() int64) ([]session.Event, error) {
	ended.Ordinal, ended.TokensBefore = s.Compaction.Count+1, in.Measured
	b := &builder{surface: s.Surface.Clone(), head: s.Head}
	b.add(session.New(session.KindCompactionStarted, session.CompactionStarted{Ordinal: ended.Ordinal, Strategy: a.Strategy.Name,
		Kind: string(p.Kind), Trigger: q.trigger, Attempt: q.attempt, TokensBefore: in.Measured, Revision: in.Revision}))
	for _, r := range a.records(p.Records) {
		b.add(r)
	}
	for _, e := range p.Edits {
		b.edit(e)
	}
	if node := b.surface.Nodes[0]; node.Message.Text() != system {
		message := session.Message{Message: llm.Text(llm.RoleSystem, system)}
		b.add(session.New(session.KindMessageSystem, message).On(session.Op{Kind: session.OpReplace, From: node.Seq, To: node.Seq}))
	}
	if b.err == nil {
		b.err = sendable(b.surface)
	}
	if b.err != nil {
		return nil, &refusedError{b.err}
	}
	if err := a.outgrown(s, b.surface, p.Kind); err != nil {
		return nil, &refusedError{err}
	}
	count(ended, &s.Surface, b.surface, p.Edits)
	ended.TokensAfter = s.Scale(b.surface.Tokens+s.ToolTokens()) + q.pending
	ended.Relieved = a.below(ended.TokensAfter)
	ended.Millis = millis()
	b.add(session.New(session.KindCompactionEnded, ended))
	if q.trigger == session.TriggerManual && s.Compaction.Rest {
		b.add(session.New(session.KindCompactionRest, session.CompactionRest{Why: whyByPerson}))
	}
	if !ended.Relieved && s.Compaction.Failures+1 >= maxFailures && !s.Compaction.Breaker {
		for _, e := range a.breaker(s, inARow) {
			b.add(e)
		}
	}
	for _, text := range p.Steer {
		b.add(session.New(session.KindInboxQueued, session.InboxItem{Queue: session.NextStep, Source: session.SourceHost, From: a.Strategy.Plugin, Text: tool.Clean(text)}))
	}
	for i := range b.events {
		b.events[i] = b.events[i].At(s.Turn.Ordinal, s.Turn.Step)
	}
	return b.events, b.err
}

// outgrown says why a new surface is too large, new sections of the strategy included.
// Only a reset may be larger than what it replaces, and nothing may outgrow the window.
func (a *Agent) outgrown(s *fold.State, after *fold.Surface, kind compaction.Kind) error {
	was, will, window := s.Estimate(), s.Scale(after.Tokens+s.ToolTokens()), a.budget().Window
	if will <= was || kind == compaction.KindReset && (window <= 0 || will < window) {
		return nil
	}
	text := fmt.Sprintf("%d tokens would become %d with what it puts into the system prompt", was, will)
	if window > 0 && will >= window {
		text += fmt.Sprintf(", and the window holds %d", window)
	}
	return errors.New(text)
}

// count says what became of the messages behind node 0.
func count(ended *session.CompactionEnded, before, after *fold.Surface, edits []compaction.Edit) {
	stood := make(map[int64]bool, len(before.Nodes))
	for _, n := range before.Nodes[1:] {
		stood[n.Seq] = true
	}
	ended.Kept, ended.Trimmed = 0, 0
	for _, n := range after.Nodes[1:] {
		if stood[n.Seq] {
			ended.Kept++
		}
	}
	for _, e := range edits {
		if e.Trim != nil {
			ended.Trimmed++
		}
	}
	ended.Dropped = len(stood) - ended.Kept - ended.Trimmed
}

// sendable tells whether a surface may be sent once the next input stands
// behind it.
func sendable(s *fold.Surface) error {
	messages := s.Messages(0)
	if last := messages[len(messages)-1].Role; last != llm.RoleUser && last != llm.RoleTool {
		messages = append(messages, llm.Text(llm.RoleUser, "."))
	}
	return llm.Validate(messages)
}

// builder collects events and keeps a trial surface in step with them.
type builder struct {
	events  []session.Event
	surface *fold.Surface
	head    int64
	err     error
}

func (b *builder) add(e session.Event) int64 {
	b.head++
	b.events = append(b.events, e)
	e.Seq = b.head
	if err := b.surface.Apply(e); err != nil && b.err == nil {
		b.err = err
	}
	return b.head
}

func (b *builder) edit(e compaction.Edit) {
	switch {
	case e.Trim != nil:
		b.trim(*e.Trim)
	case e.Drop != nil:
		b.add(session.New(session.KindNodesDropped, struct{}{}).On(session.Op{Kind: session.OpDrop, From: e.Drop.From, To: e.Drop.To}))
	case e.Replace != nil:
		op := session.Op{Kind: session.OpReplace, From: e.Replace.Span.From, To: e.Replace.Span.To}
		for _, m := range e.Replace.Messages {
			message := session.Message{Message: m, Source: session.SourceCheckpoint}
			op = session.Op{Kind: session.OpInsert, After: b.add(session.New(session.KindMessageUser, message).On(op))}
		}
	}
}

// trim cuts the middle out of a tool result.
func (b *builder) trim(t compaction.Trim) {
	i := b.surface.Index(t.Node)
	if i < 0 {
		b.err = fmt.Errorf("node %d is not on the surface", t.Node)
		return
	}
	m := b.surface.Nodes[i].Message
	cut := llm.ToolResult(m.CallID, compaction.TrimText(m.Text(), t.Head, t.Tail), m.IsError)
	b.add(session.New(session.KindToolResult, session.ToolResult{Message: cut, Code: "TRIMMED"}).
		On(session.Op{Kind: session.OpReplace, From: t.Node, To: t.Node}))
}

func estimate(m session.Message) int { return llm.Estimate(m.Message) }
