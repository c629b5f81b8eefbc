package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/host/agent"
	"github.com/tureen-host/tureen/host/command"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/prompt"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/host/tool"
)

// person answers questions by function.
type person func(ctx context.Context, q session.Question) session.Answer

func (p person) Ask(ctx context.Context, q session.Question) session.Answer { return p(ctx, q) }

// approving asks about every call, and denies unless "yes" was chosen.
func approving() *hooks {
	return &hooks{points: []hook.Point{hook.BeforeTool}, tool: func(c hook.ToolCall) (hook.ToolDecision, error) {
		bound := session.Confinement{Files: session.FilesReadOnly}
		switch {
		case c.Answer == nil:
			return hook.ToolDecision{Ask: &session.Question{Text: "may " + c.Name + " run?", Options: []session.Option{{Label: "yes"}, {Label: "no"}}}}, nil
		case c.Answer.Chose("yes"):
			return hook.ToolDecision{Confinement: bound}, nil
		}
		return hook.ToolDecision{Deny: "not approved (" + string(c.Answer.Outcome) + ")"}, nil
	}}
}

func TestT16_T17_AnApprovalIsAskedLoggedAndBindsTheCall(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {}`), calls(`b echo {}`), says("done"))
	var bound []session.Confinement
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, func(_ context.Context, c tool.Call) (tool.Result, error) {
		bound = append(bound, c.Confinement)
		return tool.Result{Text: "ran"}, nil
	})}
	s.hooks = []hook.Hooks{approving()}
	answers := []string{"yes", "no"}
	s.options.Asker = person(func(_ context.Context, q session.Question) session.Answer {
		if q.Kind != session.QuestionApproval || q.Plugin != "hooks" || q.ID == "" || q.CallID == "" {
			t.Errorf("asked %+v", q)
		}
		choice := answers[0]
		answers = answers[1:]
		return session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{choice}}
	})
	s.completed("go")
	if s.last(1) != "tool: ran" || s.last(2) != "tool: Error: not approved (answered)" {
		t.Errorf("the model saw %q, then %q", s.last(1), s.last(2))
	}
	if len(bound) != 1 || bound[0].Files != session.FilesReadOnly {
		t.Errorf("calls were bound by %+v", bound)
	}
	if s.count(session.KindQuestionAsked) != 2 || s.count(session.KindQuestionAnswered) != 2 {
		t.Errorf("log: %s", s.kinds())
	}
	for _, e := range s.events() {
		if e.Kind == session.KindToolStarted && !strings.Contains(string(e.Data), `"read-only"`) {
			t.Errorf("the log does not say how the call was bound: %s", e.Data)
		}
	}
}

func TestT16_WithoutAPersonAnApprovalFailsClosed(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {}`), says("done"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.hooks = []hook.Hooks{approving()}
	s.completed("go")
	if s.last(1) != "tool: Error: not approved (unavailable)" || s.count(session.KindToolStarted) != 0 {
		t.Errorf("the model saw %q; log: %s", s.last(1), s.kinds())
	}
}

// A cancel ends a wait for the person; nothing runs, and the question is closed.
func TestL7_T16_CancelWhileThePersonIsAsked(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newSetup(t, calls(`a echo {}`))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	s.hooks = []hook.Hooks{approving()}
	s.options.Asker = person(func(ctx context.Context, _ session.Question) session.Answer {
		cancel()
		<-ctx.Done()
		return session.Answer{Outcome: session.OutcomeAnswered, Choices: []string{"yes"}}
	})
	if err := s.open().Prompt(ctx, "go"); err != nil {
		t.Fatal(err)
	}
	if reason, _, err := s.agent.Run(ctx); reason != session.ReasonCancelled || err != nil {
		t.Errorf("the run ended %s, %v", reason, err)
	}
	s.check()
	if s.count(session.KindToolStarted) != 0 || len(s.agent.Questions()) != 0 {
		t.Errorf("log: %s; open: %v", s.kinds(), s.agent.Questions())
	}
}

// A question that is not answered in time is pending; the late answer is a message
// that wakes the agent.
func TestT18_TimedQuestionIsPendingAndALateAnswerWakes(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a ask {}`), says("going on"), says("thank you"))
	var pending session.Answer
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "ask"}, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		var err error
		pending, err = s.agent.Access("p").Ask(ctx, session.Question{Text: "red or blue?", CallID: c.ID}, time.Millisecond)
		return tool.Result{Text: string(pending.Outcome)}, err
	})}
	s.options.Asker = person(func(ctx context.Context, _ session.Question) session.Answer { <-ctx.Done(); return session.Answer{} })
	s.completed("go")
	if s.last(1) != "tool: pending" || len(s.agent.Questions()) != 1 {
		t.Fatalf("the model saw %q; open: %v", s.last(1), s.agent.Questions())
	}
	if err := s.agent.Answer(t.Context(), session.Answer{ID: pending.ID, Outcome: session.OutcomeAnswered, Text: "blue"}); err != nil {
		t.Fatal(err)
	}
	s.completed("")
	if got := s.last(2); !strings.Contains(got, "red or blue?") || !strings.HasSuffix(got, "blue") || !strings.Contains(got, pending.ID) {
		t.Errorf("the late answer came as %q", got)
	}
	if err := s.agent.Answer(t.Context(), session.Answer{ID: pending.ID}); err == nil || len(s.agent.Questions()) != 0 {
		t.Errorf("a second answer: %v", err)
	}
}

// A run stays while a plugin says that something is going on, and opens the next
// turn with a plugin's follow-up only once nothing is (L16, P4).
func TestL16_P4_RunWaitsAndThenFollowsUp(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"), says("three"))
	asked := 0
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.Idle}, idle: func() (hook.IdleDecision, error) {
		switch asked++; asked {
		case 1, 2: // a job runs, and meanwhile its end is told
			if asked == 2 {
				go func() { _ = s.agent.Access("jobs").Steer(context.Background(), "the job ended", "job:1", true) }()
			}
			return hook.IdleDecision{Wait: "a job", FollowUp: "too early"}, nil
		case 3:
			return hook.IdleDecision{FollowUp: "next round"}, nil
		}
		return hook.IdleDecision{}, nil
	}}}
	s.completed("task")
	var got []string
	for i := range 3 {
		got = append(got, s.last(i))
	}
	if !slices.Equal(got, []string{"user: task", "user: the job ended", "user: next round"}) {
		t.Errorf("the turns were asked with %q", got)
	}
}

// A plugin that rests is asked again once its process is another one.
func TestL5_T2_ANewProcessOfAPluginIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"), says("three"))
	asked := 0
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.BeforeStep}, before: func([]hook.Pending) (hook.StepDecision, error) {
		asked++
		return hook.StepDecision{Rest: true}, nil
	}}}
	s.completed("first")
	s.completed("second")
	if asked != 1 {
		t.Errorf("asked %d times before the restart", asked)
	}
	s.agent.PluginState(session.PluginState{Plugin: "hooks", Generation: 2, State: "ready"})
	if s.completed("third"); asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

// What a plugin says was not reached is told once, and with the run's end (P5).
func TestP5_ARunSaysWhatItDidNotReach(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"), says("three"))
	left := "goal g1 is blocked"
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.Idle}, idle: func() (hook.IdleDecision, error) {
		return hook.IdleDecision{Unfinished: left}, nil
	}}}
	for _, prompt := range []string{"first", "second"} {
		if reason, f := s.run(prompt); reason != session.ReasonCompleted || f == nil || f.Code != "UNFINISHED" || f.Message != left {
			t.Errorf("the run ended %s, %+v", reason, f)
		}
	}
	left = ""
	if _, f := s.run("third"); f != nil || s.count(session.KindWarning) != 1 {
		t.Errorf("reached after all: %+v; log: %s", f, s.kinds())
	}
}

// The time limit ends a wait as well.
func TestL3_L16_TheTimeLimitEndsAWait(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"))
	s.options.Limits.Timeout = 700 * time.Millisecond
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.Idle}, idle: func() (hook.IdleDecision, error) {
		return hook.IdleDecision{Wait: "for ever"}, nil
	}}}
	if reason, f := s.run("task"); reason != session.ReasonLimit || f == nil || f.Code != "LIMIT_TIME" || !strings.Contains(f.Message, "for ever") {
		t.Errorf("the run ended %s, %+v", reason, f)
	}
}

func TestL6_L16_ServeWaitsForInputAndGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newSetup(t, says("one"))
	var ended []session.Reason
	s.open()
	_ = s.agent.Prompt(ctx, "first")
	err := s.agent.Serve(ctx, func(r session.Reason, _ *session.Failure) {
		switch ended = append(ended, r); len(ended) {
		case 1:
			go func() { _ = s.agent.Prompt(ctx, "fails: the script is at its end") }()
		case 2:
			cancel()
		}
	})
	if err != nil || !slices.Equal(ended, []session.Reason{session.ReasonCompleted, session.ReasonError}) {
		t.Errorf("turns ended %v, error %v", ended, err)
	}
}

// Input that fails before it is claimed must not be tried over and over (L15).
func TestL15_ServeDoesNotRetryAFailedTurnByItself(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newSetup(t, says("one"))
	asked := 0
	s.hooks = []hook.Hooks{&hooks{points: []hook.Point{hook.BeforeStep}, before: func([]hook.Pending) (hook.StepDecision, error) {
		if asked++; asked == 1 {
			return hook.StepDecision{}, errors.New("the calendar cannot be read")
		}
		return hook.StepDecision{}, nil
	}}}
	s.open()
	_ = s.agent.Prompt(ctx, "first")
	idle := 0
	err := s.agent.Serve(ctx, func(r session.Reason, _ *session.Failure) {
		switch idle++; idle {
		case 1:
			if r != session.ReasonError {
				t.Errorf("the first turn ended %s", r)
			}
			time.AfterFunc(500*time.Millisecond, func() { _ = s.agent.Steer(ctx, "and now?") })
		case 2:
			cancel()
		}
	})
	if err != nil || asked != 2 || s.last(0) != "user: and now?" {
		t.Errorf("the hook was asked %d times, error %v, request %q", asked, err, s.shown(0))
	}
}

// A hook may end the turn, with a code of its own: after a batch, or when the turn
// was about to close.
func TestL5_G1_AHookStopsTheTurn(t *testing.T) {
	t.Parallel()
	stop := &hook.Stop{Code: "LOOP", Message: "the same call again"}
	for name, h := range map[string]*hooks{
		"after a tool": {points: []hook.Point{hook.AfterTool}, after: func(o hook.ToolOutcome) (hook.OutcomeDecision, error) {
			if o.Arguments != `{"n":1}` {
				t.Errorf("the hook saw the arguments %q", o.Arguments)
			}
			return hook.OutcomeDecision{Stop: stop}, nil
		}},
		"at the end": {points: []hook.Point{hook.TurnStopping}, stopping: func() (hook.StopDecision, error) { return hook.StopDecision{Stop: stop}, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetup(t, calls(`a echo {"n":1}`), says("done"))
			s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
			s.hooks = []hook.Hooks{h}
			if reason, f := s.run("go"); reason != session.ReasonBlocked || f == nil || f.Code != "LOOP" {
				t.Errorf("the turn ended %s, %+v", reason, f)
			}
			if s.count(session.KindToolResult) != 1 {
				t.Errorf("log: %s", s.kinds())
			}
		})
	}
}

// standing is a provider of one message of its own.
type standing struct{ text string }

func (p *standing) Name() string                                               { return "rules" }
func (p *standing) Sections(context.Context, string) ([]prompt.Section, error) { return nil, nil }
func (p *standing) Contexts(context.Context, string) ([]prompt.Context, error) {
	return []prompt.Context{{ID: "house", Text: p.text, Own: true}}, nil
}

// A context of its own is sent once, again when it changes, and again after a
// compaction took it (L13, K4).
func TestL13_K4_AStandingMessageSurvivesACompaction(t *testing.T) {
	t.Parallel()
	s := newSetup(t, calls(`a echo {}`), says("one"), says("two"), says("three"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "echo"}, echo)}
	p := &standing{"never push"}
	s.options.Prompts = []prompt.Provider{p}
	s.options.Strategy = agent.Strategy{Strategy: &strategy{propose: wipe("checkpoint")}, Name: "wipe", Plugin: "wipe"}
	count := func(n int, text string) (times int) {
		for _, m := range s.shown(n) {
			if m == "user: "+text {
				times++
			}
		}
		return times
	}
	s.completed("first")
	if count(0, "never push") != 1 || count(1, "never push") != 1 {
		t.Errorf("before the compaction: %q", s.shown(1))
	}
	if _, err := s.agent.Compact(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	s.completed("second")
	if count(2, "never push") != 1 || count(2, "checkpoint") != 1 {
		t.Errorf("after the compaction: %q", s.shown(2))
	}
	p.text = "never push, never rebase"
	s.completed("third")
	if count(3, "never push, never rebase") != 1 {
		t.Errorf("after the change: %q", s.shown(3))
	}
}

// The directory that tools start from changes with a result, is told to plugins and
// model, and falls back to the workspace when it is gone on resume.
func TestT22_SP4_TheWorkingDirectoryMoves(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	sub := filepath.Join(root, "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSetup(t, calls(`a cd {"to":"`+sub+`"}`), calls(`b cd {"to":"/not/there"}`), says("done"), says("back"))
	s.tools = []tool.Provider{newToolbox("p").add(tool.Spec{Name: "cd"}, func(_ context.Context, c tool.Call) (tool.Result, error) {
		var args struct{ To string }
		err := json.Unmarshal(c.Arguments, &args)
		return tool.Result{Text: "moved", Effects: []tool.Effect{tool.EffectChangeDirectory}, Note: args.To}, err
	})}
	var moved []string
	s.options.Moved = func(_ context.Context, dir string) error { moved = append(moved, dir); return nil }
	s.completed("go")
	if !slices.Equal(moved, []string{sub}) || s.agent.Directory() != sub {
		t.Errorf("plugins heard of %q, the directory is %q", moved, s.agent.Directory())
	}
	if !slices.ContainsFunc(s.shown(1), func(m string) bool { return strings.Contains(m, `Working directory: "`+sub+`"`) }) {
		t.Errorf("the model was not told: %q", s.shown(1))
	}
	if err := os.Remove(sub); err != nil {
		t.Fatal(err)
	}
	s.open()
	s.completed("again")
	if s.agent.Directory() != "/w" || s.count(session.KindDirectoryChanged) != 2 {
		t.Errorf("after the directory went the agent is in %q", s.agent.Directory())
	}
}

// goals is a provider of one command.
type goals struct{}

func (goals) Name() string { return "goals" }
func (goals) Commands(context.Context, string) ([]command.Command, error) {
	return []command.Command{{Name: "goal"}}, nil
}
func (goals) Run(_ context.Context, _, _, arguments string) (string, error) {
	if arguments == "" {
		return "", errors.New("say what is wanted")
	}
	return "set: " + arguments, nil
}

func TestP6_ASlashCommandIsRunAndNeverShownToTheModel(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"))
	var err error
	if s.options.Commands, err = command.NewRegistry(t.Context(), "s1", []command.Provider{goals{}}); err != nil {
		t.Fatal(err)
	}
	s.open()
	if reply, err := s.agent.Say(t.Context(), "/goal ship it"); err != nil || reply != "set: ship it" {
		t.Errorf("the command answered %q, %v", reply, err)
	}
	if _, err := s.agent.Say(t.Context(), "/goal"); err == nil || err.Error() != "say what is wanted" {
		t.Errorf("a bad command: %v", err)
	}
	if _, err := s.agent.Command(t.Context(), "gaol", ""); !errors.Is(err, agent.ErrNoCommand) {
		t.Errorf("an unknown command: %v", err)
	}
	if _, err := s.agent.Say(t.Context(), "/etc/hosts says what?"); err != nil {
		t.Fatal(err)
	}
	s.completed("")
	if s.last(0) != "user: /etc/hosts says what?" || s.count(session.KindCommandRun) != 2 {
		t.Errorf("the model saw %q; log: %s", s.shown(0), s.kinds())
	}
}

func TestL14_AModelIsToldThatAnotherWroteTheAnswersAbove(t *testing.T) {
	t.Parallel()
	s := newSetup(t, says("one"), says("two"))
	s.completed("first")
	s.options.Info.Name = "m2"
	s.open()
	s.completed("second")
	told := slices.ContainsFunc(s.shown(1), func(m string) bool { return strings.Contains(m, `"m"`) && strings.Contains(m, `"m2"`) })
	if !told || slices.ContainsFunc(s.shown(0), func(m string) bool { return strings.Contains(m, "model was changed") }) {
		t.Errorf("the second model saw %q", s.shown(1))
	}
}
