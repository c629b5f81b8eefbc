package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/llm"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/session/fold"
	"github.com/tureen-host/tureen/host/tool"
)

// resting is a session whose newest compaction was undone and that is past the line:
// 1,000 tokens of 2,000.
func resting(t *testing.T, more ...answerFunc) *setup {
	t.Helper()
	s := newSetup(t, append([]answerFunc{calls(`a big {}`), says("done")}, more...)...)
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200)).add(tool.Spec{Name: "echo"}, echo),
		newToolbox("st").add(tool.Spec{Name: "reset"}, func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Text: "armed", Effects: []tool.Effect{tool.EffectRequestCompaction}}, nil
		})}
	withStrategy(s, &strategy{propose: wipe("short"), opening: compaction.Opening{Marks: []compaction.Mark{{ID: "mark", Remaining: 1900, Text: "mark"}}}})
	s.options.Strategy.Auto = false
	s.completed("task")
	s.compacted()
	s.undone()
	s.options.Strategy.Auto, s.agent = true, nil
	s.open()
	if state := s.state(); !state.Compaction.Rest || s.agent.Meter().Measured < tight.ResetAt {
		t.Fatalf("%+v of %d tokens", state.Compaction, s.agent.Meter().Measured)
	}
	return s
}

// triggers lists why compactions happened.
func (s *setup) triggers() (list []session.Trigger) {
	for _, e := range s.events() {
		if p, err := session.Decode[session.CompactionEnded](e); err == nil && e.Kind == session.KindCompactionEnded {
			list = append(list, p.Trigger)
		}
	}
	return list[1:] // the first is the one that was undone
}

func TestC4_AfterAnUndoNothingCompactsByItselfAndEachTurnSaysSo(t *testing.T) {
	t.Parallel()
	s := resting(t, calls(`b echo {}`), says("more"), says("end"))
	s.completed("go on")
	s.completed("and on")
	if got := s.triggers(); len(got) > 0 || s.count(session.KindMarkShown) > 0 {
		t.Errorf("compacted by %v; the log is %s", got, s.kinds())
	}
	if n := s.count(session.KindWarning); n != 2 {
		t.Errorf("%d warnings in two turns", n)
	}
	for _, e := range s.events() {
		if w, err := session.Decode[session.Warning](e); e.Kind == session.KindWarning && (err != nil || w.Code != "COMPACTION_RESTS" || !strings.Contains(w.Message, "of 2000 tokens are in use and the line is at 1000")) {
			t.Errorf("%+v, %v", w, err)
		}
	}
}

func TestC4_T18_ThePersonMayEndTheRest(t *testing.T) {
	t.Parallel()
	s := resting(t, calls(`b echo {}`), says("more"))
	asked := 0
	s.options.Asker = person(func(_ context.Context, q session.Question) session.Answer {
		if asked++; len(q.Options) != 2 || !strings.Contains(q.Detail, "the line is at 1000") {
			t.Errorf("asked %+v", q)
		}
		return session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{q.Options[0].Label}}
	})
	s.agent = nil
	s.completed("go on")
	if rest := one[session.CompactionRest](s, session.KindCompactionRest); asked != 1 || rest.Rest || !slices.Equal(s.triggers(), []session.Trigger{session.TriggerPressure}) {
		t.Errorf("asked %d times, %+v, compacted by %v", asked, rest, s.triggers())
	}
	if got := s.shown(2); got[1] != "user: short" || s.state().Compaction.Rest || s.count(session.KindWarning) > 0 {
		t.Errorf("the agent was asked with %q", got)
	}
}

// After a no the person is left in peace until half of the room that was left is used.
func TestC4_T18_ANoIsRememberedForAWhile(t *testing.T) {
	t.Parallel()
	s := resting(t, says("one"), says("two"), says("three"))
	asked := 0
	s.options.Asker = person(func(_ context.Context, q session.Question) session.Answer {
		asked++
		return session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{q.Options[1].Label}}
	})
	s.agent = nil
	for _, prompt := range []string{"one", "two", strings.Repeat("abc", 450)} {
		s.completed(prompt)
	}
	if len(s.triggers()) > 0 || asked != 2 || s.count(session.KindWarning) > 0 || !s.state().Compaction.Rest {
		t.Errorf("asked %d times, compacted by %v", asked, s.triggers())
	}
}

func TestC4_OnlyPersonsWordsAreAskedAbout(t *testing.T) {
	t.Parallel()
	s := resting(t, says("more"))
	s.options.Asker = person(func(context.Context, session.Question) session.Answer {
		t.Error("a plugin's words were asked about")
		return session.Answer{}
	})
	s.agent = nil
	s.open()
	if err := s.agent.Access("p").FollowUp(t.Context(), "next round", ""); err != nil {
		t.Fatal(err)
	}
	s.completed("")
}

func TestC4_WhatActsWhileCompactionRests(t *testing.T) {
	t.Parallel()
	overflow := fails(&llm.Error{Code: llm.CodeOverflow, Message: "too long"})
	for trigger, answers := range map[session.Trigger][]answerFunc{
		session.TriggerRequested: {calls(`b reset {}`), says("more")},
		session.TriggerOverflow:  {overflow, says("more")},
		session.TriggerManual:    {says("more")},
	} {
		s := resting(t, answers...)
		if trigger == session.TriggerManual {
			s.compacted()
		}
		s.completed("go on")
		if got := s.triggers(); !slices.Equal(got, []session.Trigger{trigger}) || s.state().Compaction.Rest != (trigger != session.TriggerManual) {
			t.Errorf("%s: compacted by %v; %+v", trigger, got, s.state().Compaction)
		}
	}
}

func TestC4_AnotherModelWindowOrProfileEndsRestAndBreaker(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*setup){
		"model":    func(s *setup) { s.options.Info.Name = "m2" },
		"window":   func(s *setup) { s.options.Info.ContextWindow = 2001 },
		"profile":  func(s *setup) { s.options.Opened.Profile = "other" },
		"strategy": func(s *setup) { s.options.Opened.Strategy = "other" },
		"":         func(*setup) {},
	} {
		s := newSetup(t, calls(`a big {}`), says("done"), says("more"))
		s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "big"}, big(1200))}
		withStrategy(s, &strategy{propose: wipe("short")})
		s.options.Info.ContextWindow = 2000
		s.options.Opened.Profile, s.options.Opened.Strategy = "one", "st"
		s.options.Strategy.Auto = false
		s.completed("task")
		s.compacted()
		s.undone()
		s.beside([]session.Event{session.New(session.KindBreaker, session.Breaker{Open: true, Why: "test"})})
		s.options.Strategy.Auto, s.agent = true, nil
		change(s)
		s.open()
		if state := s.state(); state.Compaction.Rest != (name == "") || state.Compaction.Breaker != (name == "") {
			t.Errorf("%q: %+v", name, state.Compaction)
		}
		s.completed("go on")
		if acted := len(s.triggers()) == 1; acted != (name != "") {
			t.Errorf("%q: compacted by %v", name, s.triggers())
		}
	}
}

// beside appends events beside the agent, which is opened anew behind it.
func (s *setup) beside(events []session.Event) {
	s.t.Helper()
	head, err := s.log.Head(s.t.Context())
	if err == nil {
		_, err = s.log.Append(s.t.Context(), session.Batch{Head: head, Events: events})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func TestC4_AnotherProcessUndoesOnceNothingRuns(t *testing.T) {
	t.Parallel()
	s, _ := worked(t, says("more"))
	s.compacted()
	s.post(session.CommandUndo, "")
	if reason, _ := s.run(""); reason != "" {
		t.Errorf("a turn was taken, ended %s", reason)
	}
	p := one[session.CompactionUndone](s, session.KindCompactionUndone)
	if p.From != "pid 7 on elsewhere" || s.count(session.KindUndoRefused) > 0 || s.waitingMail() != 0 {
		t.Errorf("%+v; the log is %s", p, s.kinds())
	}
	s.agent = nil
	s.completed("go on")
	if n := s.count(session.KindCompactionUndone); n != 1 {
		t.Errorf("undone %d times", n)
	}
}

// During a turn it waits, and what the model has answered by then refuses it.
func TestC4_AnUndoThatComesTooLateIsRefusedWithTheWayOut(t *testing.T) {
	t.Parallel()
	var s *setup
	s, _ = worked(t, func(ctx context.Context, r llm.Request, yield func(llm.Chunk, error) bool) {
		s.post(session.CommandUndo, "")
		s.await(session.KindUndoAsked, 1)
		says("more")(ctx, r, yield)
	})
	s.compacted()
	s.completed("go on")
	refused := one[session.UndoRefused](s, session.KindUndoRefused)
	if !strings.Contains(refused.Hint, "tureen session fork s1 --at ") || refused.Why == "" || s.count(session.KindCompactionUndone) > 0 || s.state().Compaction.UndoAsked != nil {
		t.Errorf("%+v; the log is %s", refused, s.kinds())
	}
}

// Wherever the process ends, the wish is fulfilled exactly once.
func TestC4_R1_AnUndoThatWasAskedForHappensOnceAcrossACrash(t *testing.T) {
	t.Parallel()
	s, _ := worked(t)
	s.compacted()
	s.post(session.CommandUndo, "")
	s.run("")
	for _, last := range []session.Kind{session.KindUndoAsked, session.KindRecord} {
		n := map[session.Kind]int{session.KindUndoAsked: 1, session.KindRecord: 3}[last] // the first window's, the second's, and the one put back
		c := s.cut(last, n, says("more"))
		c.options.Strategy.Strategy = &booted{}
		if reason, _ := c.run(""); reason != "" || c.count(session.KindCompactionUndone) != 1 || c.state().Compaction.UndoAsked != nil {
			t.Errorf("cut at %s: ended %q; the log is %s", last, reason, c.kinds())
		}
		loaded, err := fold.Load(t.Context(), c.log)
		if err != nil || loaded.Surface.Nodes[0].Seq != s.state().Surface.Nodes[0].Seq {
			t.Errorf("cut at %s: %v", last, err)
		}
	}
}

// A wish that waits does not make a served session that cannot go on turn for ever.
func TestL3_C11_AWishIsFulfilledWhereALimitForbidsSteps(t *testing.T) {
	t.Parallel()
	s, _ := worked(t)
	s.options.Limits.Steps, s.agent = 1, nil
	s.model.answers = []answerFunc{calls(`b echo {}`)}
	s.open()
	for _, text := range []string{"one", "two"} {
		if err := s.agent.Prompt(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	stop, ended := s.serve()
	ended()
	s.post(session.CommandCompact, "")
	s.await(session.KindCompactionEnded, 1)
	ended()
	stop()
	if n := s.count(session.KindTurnStarted); n > 4 {
		t.Errorf("%d turns", n)
	}
	s.check()
}
