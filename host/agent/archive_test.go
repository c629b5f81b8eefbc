package agent_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// archive puts the session away, or takes it out again.
func (s *setup) archive(away bool) bool {
	s.t.Helper()
	changed, err := s.agent.Archive(s.t.Context(), session.Archived{Archived: away})
	if err != nil {
		s.t.Fatal(err)
	}
	return changed
}

// blocked runs and holds the end against what an archived session says.
func (s *setup) blocked(prompt, id string) {
	s.t.Helper()
	asked := len(s.model.requests)
	reason, failure := s.run(prompt)
	if reason != session.ReasonBlocked || failure == nil || failure.Code != "ARCHIVED" || !strings.Contains(failure.Hint, "tureen session archive --undo "+id) {
		s.t.Fatalf("an archived session's turn ended %s %+v", reason, failure)
	}
	if len(s.model.requests) != asked {
		s.t.Error("the model was asked")
	}
}

func TestL18_AnArchivedSessionTakesNoStepAndKeepsItsInput(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"))
	var asked []hook.Point
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.BeforeStep, hook.TurnEnded, hook.Idle},
		before: func([]hook.Pending) (hook.StepDecision, error) {
			asked = append(asked, hook.BeforeStep)
			return hook.StepDecision{}, nil
		},
		ended: func(session.TurnEnded) error { asked = append(asked, hook.TurnEnded); return nil },
		idle: func() (hook.IdleDecision, error) {
			asked = append(asked, hook.Idle)
			return hook.IdleDecision{}, nil
		}}}
	s.completed("first")
	if !s.archive(true) || s.archive(true) || s.count(session.KindSessionArchived) != 1 {
		t.Errorf("the log is %s", s.kinds())
	}
	asked = nil
	s.blocked("second", "s1")
	s.agent = nil // and in another process
	s.blocked("", "s1")
	if len(asked) > 0 || s.count(session.KindStepStarted) != 1 || s.count(session.KindTurnEnded) != 3 {
		t.Errorf("plugins were asked at %v; the log is %s", asked, s.kinds())
	}
	if !s.archive(false) || s.archive(false) {
		t.Error("it is archived still")
	}
	s.completed("")
	if got := s.last(1); got != "user: second" || len(asked) != 3 {
		t.Errorf("taken out again, the agent was asked with %q, plugins at %v", got, asked)
	}
}

func TestL18_ArchivedDuringATurnTheStepEndsAndNoOtherBegins(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a put {}`, `b echo {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo).add(tool.Spec{Name: "put"}, func(context.Context, tool.Call) (tool.Result, error) {
		s.post(session.CommandArchive, `{"archived":true}`)
		s.await(session.KindSessionArchived, 1)
		return tool.Result{Text: "put away"}, nil
	})}
	var ended []session.Reason
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.TurnEnded}, ended: func(e session.TurnEnded) error { ended = append(ended, e.Reason); return nil }}}
	reason, failure := s.run("go")
	if reason != session.ReasonBlocked || failure == nil || failure.Code != "ARCHIVED" || len(s.model.requests) != 1 {
		t.Fatalf("ended %s %+v after %d requests", reason, failure, len(s.model.requests))
	}
	if p := one[session.Archived](s, session.KindSessionArchived); !p.Archived || p.From != "pid 7 on elsewhere" {
		t.Errorf("%+v", p)
	}
	if s.count(session.KindToolResult) != 2 || s.count(session.KindStepEnded) != 1 || !slices.Equal(ended, []session.Reason{session.ReasonBlocked}) {
		t.Errorf("hooks heard of %v; the log is %s", ended, s.kinds())
	}
	s.archive(false)
	if went, err := s.agent.Continue(t.Context()); err != nil || !went {
		t.Fatalf("%v, %v", went, err)
	}
	s.completed("")
	if got := s.shown(1); !slices.Contains(got, "tool: put away") || !slices.Contains(got, "tool: echo{}") {
		t.Errorf("the agent goes on with %q", got)
	}
}

func TestL18_ASubagentRestsWithTheSessionAboveIt(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"))
	above := "s0"
	s.options.Frozen = func() string { return above }
	s.blocked("go", "s0")
	above = ""
	s.completed("")
}

func TestL18_MailThatIsNoWishToArchiveChangesNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "yes", "{}", `{"archived":"true"}`, `{"archived":null}`, `[true]`, `{"archived":true,"session":"s2"}`, "{\"archived\":\xff}"} {
		s := newSetup(t, says("done"))
		s.open()
		s.post(session.CommandArchive, text)
		s.completed("go")
		if w := one[session.Warning](s, session.KindWarning); w.Code != "ARCHIVE_IGNORED" || s.count(session.KindSessionArchived) != 0 || s.waitingMail() != 0 {
			t.Errorf("%q: %+v, %d mails wait", text, w, s.waitingMail())
		}
	}
}

// A session that is served says once that it is archived, waits, and goes on by
// itself when another process takes it out again.
func TestL18_AServedSessionWaitsUntilItIsTakenOut(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("done"))
	s.open()
	s.archive(true)
	if err := s.agent.Prompt(t.Context(), "go"); err != nil {
		t.Fatal(err)
	}
	stop, ended := s.serve()
	if r := ended(); r != session.ReasonBlocked {
		t.Errorf("ended %s", r)
	}
	s.post(session.CommandArchive, `{"archived":false}`)
	if r := ended(); r != session.ReasonCompleted || s.count(session.KindTurnStarted) != 2 {
		t.Errorf("taken out it ended %s; the log is %s", r, s.kinds())
	}
	stop()
	s.check()
}

// serve serves the session; ended waits for the next time that there is nothing to do
// and tells how it came to that, stop ends it.
func (s *setup) serve() (stop func(), ended func() session.Reason) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	idle, served := make(chan session.Reason, 1), make(chan error, 1)
	go func() {
		served <- s.agent.Serve(ctx, func(r session.Reason, _ *session.Failure) {
			select {
			case idle <- r:
			default:
			}
		})
	}()
	stop = func() {
		s.t.Helper()
		cancel()
		if err := <-served; err != nil {
			s.t.Error(err)
		}
	}
	return stop, func() session.Reason {
		s.t.Helper()
		select {
		case r := <-idle:
			return r
		case <-time.After(time.Minute):
			s.t.Error("the session is still at work, or waits")
			return ""
		}
	}
}
