package pluginhost_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tureen-host/tureen/compaction"
	"github.com/tureen-host/tureen/host/hook"
	"github.com/tureen-host/tureen/host/pluginhost"
	"github.com/tureen-host/tureen/host/session"
	"github.com/tureen-host/tureen/plugins/sdk"
)

func TestT2_ACrashIsAnErrorAndTheNextGenerationWorks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	i := h.one(spec("none"))
	_, err := call(t.Context(), i, "exit", "")
	var gone *sdk.ExitedError
	if !errors.As(err, &gone) || !errors.Is(err, sdk.ErrExited) || errors.Is(err, sdk.ErrDisabled) {
		t.Fatalf("a call whose process exits: %v", err)
	}
	if gone.Plugin != "fault" || gone.Generation != 1 || !strings.Contains(gone.Detail, "exit status 9") || !strings.Contains(gone.Detail, "cannot go on") {
		t.Errorf("it says %+v", gone)
	}
	if got := must(t, i, "echo", "again"); got != "again" {
		t.Errorf("after the crash: %q", got)
	}
	if _, err := call(t.Context(), i, "crash", ""); !errors.Is(err, sdk.ErrExited) {
		t.Errorf("a panic outside of the call: %v", err)
	}
	must(t, i, "echo", "")
	if got := h.seen(); got != "started 1, crashed 1, started 2, crashed 2, started 3" {
		t.Errorf("states: %s", got)
	}
}

func TestT2_APanicInACallIsAnErrorAndNoCrash(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	i := h.one(spec("none"))
	var own *sdk.Error
	if _, err := call(t.Context(), i, "panic", ""); !errors.As(err, &own) || own.Code != sdk.CodePanic {
		t.Errorf("a panic: %v", err)
	}
	must(t, i, "echo", "")
	if h.seen() != "started 1" {
		t.Errorf("states: %s", h.seen())
	}
}

func TestSessionsAreOpenInTheNextGeneration(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	i := h.one(spec("none"))
	for _, id := range []string{"s", "closed"} {
		if err := i.OpenSession(t.Context(), compaction.Session{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := i.Strategy().Open(t.Context(), compaction.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	i.CloseSession(t.Context(), "closed")
	if got := must(t, i, "heard", ""); got != "open s, open closed, strategy s, close closed" {
		t.Errorf("the first generation heard: %s", got)
	}
	_, _ = call(t.Context(), i, "exit", "")
	if got := must(t, i, "heard", ""); got != "open s, strategy s" {
		t.Errorf("the second generation heard: %s", got)
	}
}

func TestL15_AHookIsAskedOnceMoreAfterACrash(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	i := h.one(spec("hookexit"))
	if got := i.Hooks().OnFailure(); got != "end_turn" {
		t.Errorf("on failure: %q", got)
	}
	d, err := i.Hooks().BeforeStep(t.Context(), hook.Where{Session: "s"}, nil)
	if err != nil || len(d.Inject) != 1 || d.Inject[0] != "generation 2" {
		t.Errorf("before step: %+v, %v", d, err)
	}
	if err := i.Hooks().TurnEnded(t.Context(), hook.Where{Session: "s"}, session.TurnEnded{Reason: session.ReasonCompleted}); !errors.Is(err, sdk.ErrExited) {
		t.Errorf("turn ended acts, so it is not repeated: %v", err)
	}
}

func TestAProposalIsNotRepeatedAfterACrash(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	i := h.one(spec("exitpropose"))
	if _, err := i.Strategy().Propose(t.Context(), compaction.Input{Session: "s"}); !errors.Is(err, sdk.ErrExited) {
		t.Errorf("propose: %v", err)
	}
	must(t, i, "echo", "")
	if got := h.seen(); got != "started 1, crashed 1, started 2" {
		t.Errorf("states: %s", got)
	}
}

func TestAPluginThatEndsTooOftenIsDisabled(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{Deadlines: pluginhost.Deadlines{MaxCrashes: 3}})
	i := h.one(spec("none"))
	for range 3 {
		if _, err := call(t.Context(), i, "exit", ""); !errors.Is(err, sdk.ErrExited) {
			t.Fatal(err)
		}
	}
	until(t, "disabled", func() bool { return strings.HasSuffix(h.seen(), "crashed 3, disabled 3") })
	_, err := call(t.Context(), i, "echo", "")
	if !errors.Is(err, sdk.ErrDisabled) || !errors.Is(err, sdk.ErrExited) {
		t.Errorf("a call into a disabled plugin: %v", err)
	}
}

func TestDeadlinesEndCallsAndNotProcesses(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	i := h.one(spec("none"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := call(ctx, i, "hang", ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a call that hangs: %v", err)
	}
	must(t, i, "echo", "")
	if h.seen() != "started 1" {
		t.Errorf("states: %s", h.seen())
	}
}

func TestASilentProposalIsCutButOneThatWaitsForTheModelIsNot(t *testing.T) {
	t.Parallel()
	const silence = 300 * time.Millisecond
	h := newHouse(t, pluginhost.Options{Deadlines: pluginhost.Deadlines{Silence: silence}})
	h.lent["s"] = &lentSession{generate: func(context.Context) (session.Generated, error) {
		time.Sleep(3 * silence)
		return answer("thought"), nil
	}}
	dumb := h.one(spec("dumb"))
	if _, err := dumb.Strategy().Propose(t.Context(), compaction.Input{Session: "s"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a silent proposal: %v", err)
	}
	thinking := h.one(spec("thinking"))
	if err := thinking.OpenSession(t.Context(), compaction.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	if p, err := thinking.Strategy().Propose(t.Context(), compaction.Input{Session: "s"}); err != nil || p.Boot != "thought" {
		t.Errorf("a proposal that waits for the model: %+v, %v", p, err)
	}
}

func TestACancelReachesTheModelCallOfAPlugin(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	inside, ended := make(chan struct{}), make(chan struct{})
	h.lent["s"] = &lentSession{generate: func(ctx context.Context) (session.Generated, error) {
		close(inside)
		<-ctx.Done()
		close(ended)
		return session.Generated{}, ctx.Err()
	}}
	i := h.one(spec("none"))
	if err := i.OpenSession(t.Context(), compaction.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-inside; cancel() }()
	if _, err := call(ctx, i, "generate", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("the call: %v", err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the model call goes on")
	}
}

func TestAPluginReachesNoSessionThatIsNotOpenInIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	h.lent["s"] = &lentSession{generate: func(context.Context) (session.Generated, error) { return answer("x"), nil }}
	i := h.one(spec("none"))
	if _, err := call(t.Context(), i, "generate", ""); err == nil || !strings.Contains(err.Error(), "not open in this plugin") {
		t.Errorf("before OpenSession: %v", err)
	}
	if err := i.OpenSession(t.Context(), compaction.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	if got := must(t, i, "generate", ""); got != "x" {
		t.Errorf("after OpenSession: %q", got)
	}
}

func TestADeniedCapabilityIsNotGranted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{NotesHome: "/notes"})
	h.lent["s"] = &lentSession{}
	s := spec("none")
	s.Deny, s.Secrets = []sdk.Capability{sdk.CapModelGenerate}, map[string]string{"A": "b"}
	i := h.one(s)
	if got := must(t, i, "granted", ""); got != "[session.read] 1 1/notes" {
		t.Errorf("granted: %s", got)
	}
	if err := i.OpenSession(t.Context(), compaction.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	if _, err := call(t.Context(), i, "generate", ""); err == nil || !strings.Contains(err.Error(), "model.generate") {
		t.Errorf("a denied call: %v", err)
	}
}

func TestAHugeReplyIsRefusedAndTheProcessLives(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{Deadlines: quick})
	i := h.one(spec("huge"))
	var own *sdk.Error
	if _, err := call(t.Context(), i, "huge", ""); !errors.As(err, &own) || own.Code != sdk.CodeTooBig {
		t.Errorf("5 MiB: %v", err)
	}
	if _, err := call(t.Context(), i, "echo", strings.Repeat("x", 4<<20)); !errors.As(err, &own) || own.Code != sdk.CodeTooBig {
		t.Errorf("a request over the limit: %v", err)
	}
	must(t, i, "echo", "")
}

func TestOutputNeverBlocksAPluginAndIsMasked(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	s := spec("flood")
	s.Secrets = map[string]string{"PASS": "hunter22"}
	i := h.one(s)
	for range 3 {
		if got := must(t, i, "print", ""); got != "printed" {
			t.Fatal(got)
		}
	}
	until(t, "the plugin's log lines", func() bool {
		log := h.log.String()
		return strings.Contains(log, "level=WARN msg=started") && strings.Contains(log, "eee") && strings.Contains(log, "fff") && strings.Contains(log, "ppp")
	})
	if log := h.log.String(); strings.Contains(log, "hunter22") || !strings.Contains(log, "[secret]") {
		t.Error("a secret stands in the log")
	}
}

func TestAStoppedProcessIsFoundAndReplaced(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{Deadlines: pluginhost.Deadlines{HealthEvery: 50 * time.Millisecond, Health: time.Second}})
	i := h.one(spec("none"))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, _ = call(ctx, i, "stop", "")
	until(t, "a second generation", func() bool { return h.seen() == "started 1, crashed 1, started 2" })
	must(t, i, "echo", "")
}

func TestPluginsOfOneNameAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	other := spec("none")
	other.Origin = "profile.toml:30"
	_, err := h.Start(t.Context(), spec("none"), other)
	if err == nil || !strings.Contains(err.Error(), "profile.toml:12") || !strings.Contains(err.Error(), "profile.toml:30") {
		t.Errorf("two of one name: %v", err)
	}
}

func TestInspectStartsAsksAndStops(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	s := spec("none")
	s.Secrets = map[string]string{"PASS": "hunter22"}
	info, err := h.Inspect(t.Context(), s)
	if err != nil || info.Name != "fault" || len(info.Tools) != 1 || info.Tools[0].Name != "do" || len(info.ConfigSchema) == 0 {
		t.Errorf("info %+v, error %v", info, err)
	}
	s.Config = []byte(`{"limit":0}`)
	info, err = h.Inspect(t.Context(), s)
	if err == nil || info.Name != "fault" {
		t.Errorf("with a bad config: info %+v, error %v", info, err)
	}
}

func TestStartStopsAllWhereOneFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t, pluginhost.Options{})
	bad := spec("exit")
	bad.Name = "bad"
	worse := spec("banner")
	worse.Name = "worse"
	_, err := h.Start(t.Context(), spec("none"), bad, worse)
	if err == nil || !strings.Contains(err.Error(), `"bad"`) || !strings.Contains(err.Error(), `"worse"`) {
		t.Errorf("start: %v", err)
	}
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := h.Start(t.Context(), spec("none")); err == nil {
		t.Error("a closed supervisor starts plugins")
	}
}
