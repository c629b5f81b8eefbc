package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// later puts the compaction off where the host takes that, and wipes otherwise.
type later struct {
	asked []compaction.Input
	// stubborn puts off whatever the host says.
	stubborn bool
}

func (l *later) strategy() *strategy {
	return &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		l.asked = append(l.asked, in)
		if in.MayPostpone || l.stubborn {
			return compaction.Proposal{Revision: in.Revision, Kind: compaction.KindReset, Postpone: true, Steer: []string{"save now"}}, nil
		}
		return wipe("go on")(ctx, in)
	}}
}

// tallied answers with calls, and says how much the endpoint counted.
func tallied(input int, list ...string) answerFunc {
	return func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		calls(list...)(ctx, r, func(c llm.Chunk, err error) bool {
			if c.Answer != nil {
				c.Answer.Usage = llm.Usage{Input: input, Output: 10}
			}
			return yield(c, err)
		})
	}
}

func late(t *testing.T, l *later, answers ...answerFunc) *setup {
	t.Helper()
	s := newSetup(t, answers...)
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200)).add(tool.Spec{Name: "save"}, echo)}
	withStrategy(s, l.strategy())
	return s
}

func (s *setup) totals() fold.Totals {
	s.t.Helper()
	state, err := fold.Full(s.t.Context(), s.log)
	if err != nil {
		s.t.Fatal(err)
	}
	return state.Totals
}

func TestN15_ACompactionIsPutOffByOneStep(t *testing.T) {
	t.Parallel()
	l := &later{}
	// the endpoint counts so little for the step that the line is not crossed any more
	s := late(t, l, calls(`a big {}`), tallied(750, `b save {}`), says("done"))
	s.completed("task")
	if last := s.last(1); last != "user: save now" {
		t.Errorf("the step shows %q", last)
	}
	if shown := s.shown(2); !strings.HasPrefix(shown[1], "user: go on") || slices.Contains(shown, "user: save now") {
		t.Errorf("after the step: %q", shown)
	}
	for n, want := range []llm.Purpose{llm.PurposeMain, llm.PurposeNotes, llm.PurposeMain} {
		if got := s.model.requests[n].Purpose; got != want {
			t.Errorf("request %d is made for %s, want %s", n, got, want)
		}
	}
	p := one[session.CompactionPostponed](s, session.KindCompactionPostponed)
	ended := one[session.CompactionEnded](s, session.KindCompactionEnded)
	if p.Strategy != "st" || p.Trigger != session.TriggerPressure || p.Tokens < 1000 || ended.Trigger != session.TriggerPressure || ended.ModelCalls != 0 || s.count(session.KindCompactionFailed) != 0 {
		t.Errorf("%+v, %+v", p, ended)
	}
	if calls := s.totals().ModelCalls; calls[llm.PurposeNotes] != 1 || calls[llm.PurposeMain] != 2 || calls[llm.PurposeCompaction] != 0 {
		t.Errorf("model calls: %v", calls)
	}
	if got := l.asked; len(got) != 2 || !got[0].MayPostpone || got[1].MayPostpone || got[1].Attempt != 1 {
		t.Errorf("asked %+v", got)
	}
	if a, b := s.model.requests[0], s.model.requests[1]; len(a.Tools) != len(b.Tools) || llm.EstimateTools(a.Tools) != llm.EstimateTools(b.Tools) {
		t.Error("the tools changed for the step")
	}
}

func TestN15_AfterAGoodEndItIsPutOffToo(t *testing.T) {
	t.Parallel()
	l := &later{}
	s := late(t, l, says(strings.Repeat("abc", 1200)), says("saved"), says("done"))
	s.completed("task")
	if last := s.last(1); last != "user: save now" {
		t.Errorf("the step shows %q", last)
	}
	if shown := s.shown(2); !strings.HasPrefix(shown[1], "user: go on") {
		t.Errorf("after the step: %q", shown)
	}
	if p := one[session.CompactionPostponed](s, session.KindCompactionPostponed); p.Trigger != session.TriggerStopping {
		t.Errorf("%+v", p)
	}
	if ended := one[session.CompactionEnded](s, session.KindCompactionEnded); ended.Trigger != session.TriggerStopping || s.totals().ModelCalls[llm.PurposeNotes] != 1 {
		t.Errorf("%+v", ended)
	}
}

func TestN15_WhereItDoesNotFitTheCompactionComesAtOnce(t *testing.T) {
	t.Parallel()
	l := &later{}
	s := late(t, l, calls(`a big {}`), says("done"))
	s.options.Budget.Window, s.options.Budget.Reserve = 1250, 250
	s.completed("task")
	if len(l.asked) != 1 || l.asked[0].MayPostpone || s.count(session.KindCompactionEnded) != 1 || s.count(session.KindCompactionPostponed) != 0 {
		t.Errorf("asked %+v: %s", l.asked, s.kinds())
	}
}

func TestN15_OnceBetweenTwoCompactionsWhateverAStrategySays(t *testing.T) {
	t.Parallel()
	l := &later{stubborn: true}
	s := late(t, l, calls(`a big {}`), calls(`b save {}`), calls(`c save {}`), says("done"))
	s.completed("task")
	if s.count(session.KindCompactionPostponed) != 1 || s.count(session.KindCompactionEnded) != 0 {
		t.Fatalf("%s", s.kinds())
	}
	failed := 0
	for _, e := range s.events() {
		if f, _ := session.Decode[session.CompactionFailed](e); e.Kind == session.KindCompactionFailed {
			if failed++; !strings.Contains(f.Error, "nothing to compact") {
				t.Errorf("%+v", f)
			}
		}
	}
	if failed == 0 {
		t.Error("nothing failed")
	}
	for i, in := range l.asked[1:] {
		if in.MayPostpone {
			t.Errorf("question %d offers it again", i+2)
		}
	}
	if s.model.requests[2].Purpose != llm.PurposeMain || s.totals().ModelCalls[llm.PurposeNotes] != 1 {
		t.Error("the step behind is one of last words too")
	}
}

func TestN15_AProposalThatPostponesHasNoEdits(t *testing.T) {
	t.Parallel()
	s := late(t, &later{}, calls(`a big {}`), says("done"))
	withStrategy(s, &strategy{propose: func(ctx context.Context, in compaction.Input) (compaction.Proposal, error) {
		p, err := wipe("go on")(ctx, in)
		p.Postpone = true
		return p, err
	}})
	s.completed("task")
	if s.count(session.KindCompactionPostponed) != 0 || s.count(session.KindCompactionEnded) != 0 || s.count(session.KindCompactionFailed) == 0 {
		t.Errorf("%s", s.kinds())
	}
}

// A turn that breaks off in the step has had it: the next one begins with the compaction.
func TestN15_AResumeDoesNotGrantItAgain(t *testing.T) {
	t.Parallel()
	l := &later{}
	s := late(t, l, calls(`a big {}`), fails(&llm.Error{Code: llm.CodeInvalidRequest, Message: "no"}))
	if reason, _ := s.run("task"); reason != session.ReasonError || s.count(session.KindCompactionPostponed) != 1 {
		t.Fatalf("%s: %s", reason, s.kinds())
	}
	s.model.answers = []answerFunc{says("done")}
	s.agent = nil
	s.completed("carry on")
	if s.count(session.KindCompactionPostponed) != 1 || s.count(session.KindCompactionEnded) != 1 {
		t.Errorf("%s", s.kinds())
	}
	if last := s.last(2); last != "user: carry on" {
		t.Errorf("after the resume: %q", s.shown(2))
	}
}

// A step that was granted and not begun is begun by the next turn, once.
func TestN15_AGrantOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	l := &later{}
	s := late(t, l, says(strings.Repeat("abc", 1200)), says("saved"), says("done"))
	steps := 0
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.BeforeStep}, onFailure: "end_turn", before: func([]hook.Pending) (hook.StepDecision, error) {
		if steps++; steps == 2 { // between the grant and its step
			return hook.StepDecision{}, errPlugin
		}
		return hook.StepDecision{}, nil
	}}}
	if reason, _ := s.run("task"); reason != session.ReasonError || s.count(session.KindCompactionPostponed) != 1 || len(s.model.requests) != 1 {
		t.Fatalf("%s: %s", reason, s.kinds())
	}
	s.agent = nil
	s.completed("carry on")
	if shown := s.shown(1); shown[len(shown)-1] != "user: save now" || shown[len(shown)-2] != "user: carry on" {
		t.Errorf("the step shows %q", shown)
	}
	if s.count(session.KindCompactionPostponed) != 1 || s.count(session.KindCompactionEnded) != 1 || len(s.model.requests) != 3 {
		t.Errorf("%d requests: %s", len(s.model.requests), s.kinds())
	}
}
