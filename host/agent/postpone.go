package agent

import (
	"context"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// propose asks the strategy. A strategy that puts the compaction off though the host
// does not take that is asked again at once, and told so.
func (a *Agent) propose(ctx context.Context, q ask) (compaction.Proposal, compaction.Input, int, error) {
	in, generation := a.input(q)
	in.MayPostpone = a.mayPostpone(in)
	p, err := a.Strategy.Propose(ctx, in)
	if err == nil && p.Postpone && p.IsZero() && !a.takes(in, p) {
		in, generation = a.input(q)
		p, err = a.Strategy.Propose(ctx, in)
		p.Postpone = false
	}
	return p, in, generation, err
}

// mayPostpone tells whether the compaction may be put off by one step: there was none
// of these since the newest compaction, and the longest answer fits the window as well.
func (a *Agent) mayPostpone(in compaction.Input) bool {
	if in.Trigger != session.TriggerPressure && in.Trigger != session.TriggerStopping {
		return false
	}
	granted := false
	a.rec.view(func(s *fold.State) { granted = s.Compaction.Postponed != nil })
	return !granted && a.roomFor(in.Measured)
}

// takes tells whether the host puts the compaction off as a proposal says.
func (a *Agent) takes(in compaction.Input, p compaction.Proposal) bool {
	if !in.MayPostpone || p.Revision != in.Revision {
		return false
	}
	words := 0
	for _, text := range p.Steer {
		words += llm.Estimate(llm.Text(llm.RoleUser, text))
	}
	a.rec.view(func(s *fold.State) { words = s.Scale(words) })
	return a.roomFor(in.Measured + words)
}

// roomFor tells whether a request of that many tokens leaves the window room for the
// longest answer.
func (a *Agent) roomFor(tokens int) bool {
	b := a.budget()
	return b.Window > 0 && tokens+b.MaxOutputTokens <= b.Window
}

// postpone puts a compaction off by one step. The event becomes durable with that
// step's beginning, or with what comes before it.
func (a *Agent) postpone(q ask, p compaction.Proposal) error {
	at := a.where()
	e := session.CompactionPostponed{Strategy: a.Strategy.Name, Trigger: q.trigger, Tokens: q.tokens, Plugin: a.Strategy.Plugin}
	for _, text := range p.Steer {
		e.Text = append(e.Text, tool.Clean(text))
	}
	a.Hooks.Rouse(a.Strategy.Plugin)
	return a.rec.stage(session.New(session.KindCompactionPostponed, e).At(at.Turn, at.Step))
}

// lastWords are the messages of the step that a compaction was put off by.
func lastWords(s *fold.State) []session.Event {
	p := s.Compaction.Postponed
	if !p.Waits() {
		return nil
	}
	var events []session.Event
	for _, text := range p.Text {
		events = append(events, userMessage(text, session.SourceHost, p.Plugin, 0))
	}
	return events
}

// postponed tells what is owed of a compaction that was put off: its step, which still
// fits, or, by its trigger, the compaction itself, wherever the line is. Both are none
// where automatic compaction may not act, or another strategy acts.
func (a *Agent) postponed(pending int) (step bool, owed session.Trigger) {
	if !a.Strategy.Auto || a.budget().ResetAt <= 0 {
		return false, ""
	}
	measured := 0
	a.rec.view(func(s *fold.State) {
		p := s.Compaction.Postponed
		if p == nil || p.Over || p.Strategy != a.Strategy.Name || s.Compaction.Rest || s.Compaction.Breaker {
			return
		}
		step, owed = p.Waits(), p.Trigger
		measured, _ = s.Measure()
	})
	if step = step && a.roomFor(measured+pending); step {
		owed = ""
	}
	return step, owed
}

// purpose is why the open step's request is made: "" for the work.
func (a *Agent) purpose() (purpose llm.Purpose) {
	a.rec.view(func(s *fold.State) {
		if s.LastWords() {
			purpose = llm.PurposeNotes
		}
	})
	return purpose
}
